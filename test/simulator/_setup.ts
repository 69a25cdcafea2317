import { randomBytes } from "node:crypto";
import { DisconnectReason, makeWASocket, proto, WA_CERT_DETAILS } from "@whiskeysockets/baileys";
import type {
  BaileysEventMap,
  BinaryNode,
  UserFacingSocketConfig,
  WAMessage,
  WASocket,
} from "@whiskeysockets/baileys";
import { pino } from "pino";
import { expect, onTestFinished } from "vitest";
import { startSimulator } from "../../src/simulator/index.ts";
import type { Simulator, SimulatorOptions } from "../../src/simulator/index.ts";

import { MemoryAuth } from "./_memory-auth.ts";
import { until } from "./_until.ts";

export { DisconnectReason, MemoryAuth, proto, until };

// libsignal prints whole sessions, private keys included, past every logger.
for (const method of ["info", "warn", "error"] as const) {
  const original = console[method];
  console[method] = (...args: unknown[]) => {
    const text = String(args[0]);
    const isLibsignal = /session|decrypt|Bad MAC|WARNING: Expected pubkey/i.test(text);
    if (!isLibsignal) original(...args);
  };
}

const running: Simulator[] = [];
const clients: { end(): Promise<void> }[] = [];

/** Has a client of any kind end with the test, after it has confirmed what came. */
export function endsWithTest<C extends { end(): Promise<void> }>(client: C): C {
  clients.push(client);
  return client;
}

/** Starts a simulator that ends with the test; a violation that the test did not expect fails it. */
export async function simulate(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ controlPort: false, ...options });
  if (running.length === 0) onTestFinished(endTest);
  running.push(simulator);
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(simulator.noiseRoot, "hex");
  return simulator;
}

// Not a hook of this module, which is loaded once for all files of a worker.
async function endTest(): Promise<void> {
  const simulators = running.splice(0);
  for (const simulator of simulators) await simulator.settle();
  for (const client of clients.splice(0)) await client.end();
  const violations = (await Promise.all(simulators.map((simulator) => simulator.violations()))).flat();
  for (const simulator of simulators) await simulator.stop();
  // oxlint-disable-next-line vitest/no-standalone-expect -- this is the promise of every test here
  expect(violations).toEqual([]);
}

export interface Received {
  message: WAMessage;
  type: "notify" | "append";
  text: string | undefined;
}

/** A bare Baileys client: connects, remembers what it was told, and follows the restart after pairing. */
export class Client {
  readonly auth: MemoryAuth;
  socket: WASocket;
  readonly received: Received[] = [];
  readonly updates: BaileysEventMap["messages.update"] = [];
  readonly receipts: BaileysEventMap["message-receipt.update"] = [];
  readonly qrs: string[] = [];
  readonly closeCodes: (number | undefined)[] = [];
  isOpen = false;
  /** All offline messages have been announced as done. */
  isCaughtUp = false;
  readonly sent = new Map<string, proto.IMessage>();
  readonly #url: string;
  readonly #config: Partial<UserFacingSocketConfig>;
  #ended = false;

  constructor(simulator: Simulator, config: Partial<UserFacingSocketConfig> = {}, auth = new MemoryAuth()) {
    this.#url = simulator.wsUrl;
    this.#config = config;
    this.auth = auth;
    endsWithTest(this);
    this.socket = this.connect();
  }

  connect(): WASocket {
    this.isOpen = false;
    this.isCaughtUp = false;
    const socket = makeWASocket({
      auth: this.auth.state,
      waWebSocketUrl: this.#url,
      logger: pino({ level: "silent" }),
      retryRequestDelayMs: 0,
      getMessage: async ({ id }) => this.sent.get(id ?? ""),
      ...this.#config,
    });
    this.socket = socket;
    socket.ev.on("connection.update", (update) => {
      if (update.qr) this.qrs.push(update.qr);
      if (update.connection === "open") this.isOpen = true;
      if (update.receivedPendingNotifications) this.isCaughtUp = true;
      if (update.connection === "close") this.#closed(update.lastDisconnect?.error as never);
    });
    socket.ev.on("messages.upsert", ({ messages, type }) => {
      for (const message of messages) this.received.push({ message, type, text: textOf(message.message) });
    });
    socket.ev.on("messages.update", (updates) => this.updates.push(...updates));
    socket.ev.on("message-receipt.update", (receipts) => this.receipts.push(...receipts));
    return socket;
  }

  /** Messages of others, decrypted. */
  get texts(): string[] {
    return this.received.filter(({ message }) => !message.key.fromMe).flatMap(({ text }) => text ?? []);
  }

  /** The newest status of an own message: 2 at the server, 3 delivered, 4 read. Early updates are merged into the message. */
  statusOf(id: string): number | undefined {
    const update = this.updates.findLast(({ key, update }) => key.id === id && update.status);
    return (
      update?.update.status ??
      this.received.find(({ message }) => message.key.id === id)?.message.status ??
      undefined
    );
  }

  async untilOpen(): Promise<this> {
    await until("open", () => this.isOpen && this.isCaughtUp);
    return this;
  }

  async untilText(text: string): Promise<Received> {
    return await until(`text "${text}"`, () => this.received.find((entry) => entry.text === text));
  }

  async untilClosed(count = 1): Promise<number | undefined> {
    await until("close", () => this.closeCodes.length >= count);
    return this.closeCodes[count - 1];
  }

  /** Sends a text and gives the server's ack for it. */
  async say(to: string, text: string, id = `3EB0${randomBytes(9).toString("hex").toUpperCase()}`) {
    const ack = this.#ackFor(id);
    const sent = await this.socket.sendMessage(to, { text }, { messageId: id });
    this.sent.set(id, sent!.message!);
    return { id, ack: await ack };
  }

  /** Closes without logging out. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.socket.end(undefined);
  }

  /** `waitForMessage` would take the first stanza with this id, a receipt for example. Undefined when none came in time. */
  async #ackFor(id: string): Promise<BinaryNode | undefined> {
    const { ws } = this.socket;
    return await new Promise((resolve) => {
      const finish = (ack?: BinaryNode): void => {
        clearTimeout(timer);
        ws.off("CB:ack,class:message", take);
        resolve(ack);
      };
      const take = (node: BinaryNode): void => {
        if (node.attrs.id === id) finish(node);
      };
      const timer = setTimeout(finish, 30_000);
      ws.on("CB:ack,class:message", take);
    });
  }

  #closed(error: { output?: { statusCode?: number } } | undefined): void {
    this.isOpen = false;
    const code = error?.output?.statusCode;
    this.closeCodes.push(code);
    const isPaired = this.auth.creds.account && this.closeCodes.length === 1;
    if (!this.#ended && code === DisconnectReason.restartRequired && isPaired) this.connect();
  }
}

/** The text of a message, in any of the shapes that a text has. */
export function textOf(message: proto.IMessage | null | undefined): string | undefined {
  return message?.conversation ?? message?.extendedTextMessage?.text ?? undefined;
}

/** Links a new client to a number by QR and waits until it is online and has taken the first history sync. */
export async function link(
  simulator: Simulator,
  number: string,
  config: Partial<UserFacingSocketConfig> = {},
): Promise<Client> {
  const client = new Client(simulator, config);
  const qr = await until("QR", () => client.qrs.at(-1));
  await simulator.scan(number, qr);
  await client.untilOpen();
  // Before this, Baileys buffers events, and after a reconnect it would wait 20 seconds for history again.
  await until("first sync", () => (client.auth.creds.accountSyncCounter ?? 0) > 0);
  return client;
}

/** Reconnects a client with the credentials it has. */
export function again(
  simulator: Simulator,
  client: Client,
  config: Partial<UserFacingSocketConfig> = {},
): Client {
  return new Client(simulator, config, client.auth);
}
