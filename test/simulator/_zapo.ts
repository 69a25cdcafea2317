import { Agent } from "node:https";
import { WebSocket } from "ws";
import { WaClient } from "zapo-js/client";
import type { WaClientEventMap } from "zapo-js/client";
import { createStore } from "zapo-js/store";
import type { WaAuthStore, WaStoreBackend } from "zapo-js/store";
import type { Simulator } from "../../src/simulator/index.ts";
import { until } from "./_until.ts";

const LATENCY_MS = 10;

/**
 * A connection that takes a moment, as every network does. zapo connects again a moment after pairing; when the 515 of a service in its
 * own process is faster than that, it takes it for the end of its credentials.
 */
class FarWebSocket extends WebSocket {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== "message" && event !== "close") return super.emit(event, ...args);
    setTimeout(() => super.emit(event, ...args), LATENCY_MS);
    return true;
  }
}

// zapo opens its connections with it.
globalThis.WebSocket = FarWebSocket as never;

type BinaryNode = Parameters<WaClient["sendNode"]>[0];
type WaAuthCredentials = Awaited<ReturnType<WaAuthStore["load"]>>;
type EventOf<K extends keyof WaClientEventMap> = Parameters<WaClientEventMap[K]>[0];

/** Credentials in memory, the one thing that zapo wants a store of the caller's for. */
function authInMemory(): WaStoreBackend {
  let kept: WaAuthCredentials = null;
  const auth: WaAuthStore = {
    load: async () => kept,
    save: async (credentials) => void (kept = credentials),
    clear: async () => void (kept = null),
  };
  return { stores: { auth: () => auth }, caches: {} } as unknown as WaStoreBackend;
}

/** A store that keeps everything in memory. */
const memory = () =>
  createStore({
    backends: { own: authInMemory() },
    providers: { auth: "own", messages: "memory" },
    cacheProviders: { participants: "memory", deviceList: "memory", messageSecret: "memory" },
  });

/** An ack with the attributes that there are. */
const ackWith = (attrs: Record<string, string | undefined>): BinaryNode => ({
  tag: "ack",
  attrs: Object.fromEntries(Object.entries(attrs).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >,
});

/** The text of a message that zapo has read. */
const textOf = ({ message }: EventOf<"message">): string | undefined =>
  message?.conversation ?? message?.extendedTextMessage?.text ?? undefined;

/** A whole client that shares no code with Baileys: zapo-js, with everything it keeps in memory. Remembers what it was told. */
export class Zapo {
  readonly store: ReturnType<typeof memory>;
  readonly client: WaClient;
  readonly received: EventOf<"message">[] = [];
  readonly addons: EventOf<"message_addon">[] = [];
  readonly receipts: EventOf<"message_receipt">[] = [];
  readonly groupEvents: EventOf<"group_event">[] = [];
  readonly resumed: EventOf<"offline_resume">[] = [];
  /** What it says of itself. */
  readonly log: string[] = [];
  qr: string | undefined;

  constructor(sim: Simulator, store = memory()) {
    const agent = new Agent({ ca: sim.ca });
    const say = (message: string): void => void this.log.push(message);
    const logger = { level: "info" as const, trace() {}, debug() {}, info: say, warn: say, error: say };
    this.store = store;
    this.client = new WaClient(
      {
        store,
        sessionId: "one",
        chatSocketUrls: [sim.wsUrl],
        proxy: { mediaUpload: agent, mediaDownload: agent },
        history: { enabled: true },
        addons: { autoDecrypt: true },
        testHooks: { noiseRootCa: { publicKey: Buffer.from(sim.noiseRoot, "hex"), serial: 0 } },
      },
      logger,
    );
    this.client.registerIncomingHandler({
      tag: "receipt",
      prepend: true,
      handler: (node) => this.#acknowledgeWhole(node),
    });
    this.client.on("stanza_unhandled", (event) => this.#acknowledgeUnread(event));
    this.client.on("auth_qr", ({ qr }) => (this.qr = qr));
    this.client.on("message", (event) => this.received.push(event));
    this.client.on("message_addon", (event) => this.addons.push(event));
    this.client.on("message_receipt", (event) => this.receipts.push(event));
    this.client.on("group_event", (event) => this.groupEvents.push(event));
    this.client.on("offline_resume", (event) => this.resumed.push(event));
  }

  get texts(): string[] {
    return this.received.flatMap((event) => textOf(event) ?? []);
  }

  /** Everything that this client keeps. */
  get kept() {
    return this.store.session("one");
  }

  async untilText(text: string): Promise<EventOf<"message">> {
    return await until(`text "${text}"`, () => this.received.find((event) => textOf(event) === text));
  }

  async untilMessage(id: string): Promise<EventOf<"message">> {
    return await until(`message ${id}`, () => this.received.find(({ stanzaId }) => stanzaId === id));
  }

  /**
   * Writes to a group. zapo 0.3.0 takes both addresses of a member that it is told of for two members, which is refused with
   * 421: it is made to ask who is in the group.
   */
  async say(group: string, content: Parameters<WaClient["sendMessage"]>[1]) {
    await this.kept.participants.deleteGroupParticipants(group);
    return await this.client.sendMessage(group, content);
  }

  /** Waits until a linked client is online and its keys are at the service. */
  async untilReady(sim: Simulator, number: string): Promise<this> {
    const isReady = async () =>
      (await sim.companions(number)).some(({ online, preKeys }) => online && preKeys > 100);
    await until("zapo online with keys", isReady);
    return this;
  }

  /** No version of zapo copies `recipient` to its acks, as both references do; its own ack follows and says nothing new. */
  async #acknowledgeWhole({ attrs: { id, from, recipient, type } }: BinaryNode): Promise<boolean> {
    if (recipient) await this.client.sendNode(ackWith({ class: "receipt", id, to: from, recipient, type }));
    return false;
  }

  /** A request to send again takes nothing off the queue; zapo leaves out the ack that goes with it. */
  #acknowledgeUnread({ reason, rawNode: { attrs } }: EventOf<"stanza_unhandled">): void {
    if (!reason.startsWith("message.decrypt_failed")) return;
    const { id, from, participant, recipient } = attrs;
    void this.client.sendNode(ackWith({ class: "message", id, to: from, participant, recipient }));
  }

  /** Closes without logging out. */
  async end(): Promise<void> {
    await this.client.disconnect();
  }
}
