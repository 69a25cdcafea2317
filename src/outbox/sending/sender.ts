import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "../../log.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { backoffMs, type Cancel, type Time } from "../../model/time.ts";
import type { OutgoingMessage, SendOutcome, WhatsAppConnection } from "../../whatsapp/port.ts";
import { createWaitingChats, type Chat, type QueuedMessage } from "./chats.ts";
import { createColdChats } from "./cold-chats.ts";
import { createInFlightSlots } from "./in-flight.ts";
import type { Pace } from "./pace.ts";
import type { WarmUp } from "./warm-up.ts";

/** What a finished attempt means for the message. */
export type NextStep = "done" | "again" | "later";

interface SenderDeps {
  connection: () => WhatsAppConnection | null;
  pace: Pace;
  /** The number's pause after WhatsApp's 429; afterwards one message goes first. */
  backoff: { waitMs(): number; isProbing(): boolean };
  warmUp: Pick<WarmUp, "asks" | "waitMs">;
  time: Pick<Time, "now" | "after">;
  log: Logger;
  /** The message as it goes over the wire; null when there is nothing to send any more. */
  compose: (message: QueuedMessage) => Promise<OutgoingMessage | null>;
  /** Writes down what came of an attempt. Never throws. */
  handleOutcome: (message: QueuedMessage, outcome: SendOutcome) => Promise<NextStep>;
}

/** Sends what one number has to send. */
export interface Sender {
  add(messages: QueuedMessage[]): void;
  /** Takes it out; false when it is being sent right now, or is not here. */
  take(message: QueuedMessage): boolean;
  /** Takes out all that is not being sent right now. */
  clear(): QueuedMessage[];
  find(waId: string): QueuedMessage | undefined;
  /** @param id of the message's row */
  has(id: number): boolean;
  messages(): QueuedMessage[];
  /** What chats wait for whose next message WhatsApp's media service has not taken; the others are not looked at. */
  mediaWaits(): NonNullable<QueuedMessage["waitsForMedia"]>[];
  /** The connection is open (again): whatever waited for it goes on. */
  wake(): void;
  readonly size: number;
  /** What is added to this chat now leaves at once. */
  isFree(chat: string): boolean;
  /** Starts nothing more; resolves when what is under way has its outcome. */
  stop(): Promise<void>;
}

/** Chats that are looked at in one turn of the event loop. */
const CHATS_AT_ONCE = 500;

/**
 * In one chat the next message leaves when the outcome of the one before is known; chats do not wait for each other;
 * chats with replies come before the others, and only the others are paced.
 */
export function createSender(deps: SenderDeps): Sender {
  const chats = createWaitingChats();
  const slots = createInFlightSlots(deps.time);
  const cold = createColdChats({
    ...deps,
    chats,
    pump,
    release: () => void eachChat((chat) => chat.state === "held" && chats.makeReady(chat)),
  });
  const timers = new Map<"pace" | "backoff", Cancel>();
  /** The connection that is listened to, and whether it has told what waited for the number. */
  let listened: { connection: WhatsAppConnection; heard: boolean } | null = null;
  /** Chats whose next message the media service has not taken; who was taken out meanwhile is seen when it is asked for. */
  const withoutMedia = new Set<Chat>();
  let pumpsSoon = false;
  let stopped = false;
  let whenQuiet: (() => void) | null = null;

  /** Replies first, but they leave a slot to what is proactive. */
  function nextChat(): Chat | null {
    const reply = firstTriable(chats.withReplies);
    const proactive = nextProactive();
    if (reply !== null && slots.mayReply(proactive !== null)) return reply;
    if (proactive !== null && slots.mayGoProactive() && hasToken()) return proactive;
    return reply;
  }

  function nextProactive(): Chat | null {
    while (!cold.isBusy()) {
      const chat = firstTriable(chats.proactive);
      if (chat === null || !cold.hold(chat)) return chat;
    }
    return null;
  }

  function firstTriable(ready: ReadonlySet<Chat>): Chat | null {
    let passed = 0;
    for (const chat of ready) {
      if (listened?.heard || !chat.messages[0]!.uncertain) return chat;
      chats.leave(chat, "idle");
      if (++passed < CHATS_AT_ONCE) continue;
      pumpSoon();
      return null;
    }
    return null;
  }

  /** A number may have a message for each of thousands of chats: everybody else goes on in between. */
  async function eachChat(work: (chat: Chat) => unknown): Promise<void> {
    let done = 0;
    for (const chat of chats.all()) {
      work(chat);
      if (++done % CHATS_AT_ONCE > 0) continue;
      pump();
      await turn();
    }
    pump();
  }

  function hasToken(): boolean {
    if (deps.pace.take(deps.time.now())) return true;
    pumpIn("pace", deps.pace.waitMs(deps.time.now()));
    return false;
  }

  function pumpIn(why: "pace" | "backoff", ms: number): void {
    if (timers.has(why)) return;
    const cancel = deps.time.after(ms, () => {
      timers.delete(why);
      pump();
    });
    timers.set(why, cancel);
  }

  function listenTo(connection: WhatsAppConnection): void {
    if (listened?.connection === connection) return;
    const current = { connection, heard: false };
    listened = current;
    void connection.caughtUp().then(() => {
      current.heard = true;
      if (listened !== current) return;
      void eachChat((chat) => {
        if (chat.state === "idle" && chat.cancelPause === null) chats.makeReady(chat);
      });
    });
  }

  function mayStart(): boolean {
    const wait = deps.backoff.waitMs();
    if (wait > 0) pumpIn("backoff", wait);
    if (wait > 0 || (deps.backoff.isProbing() && slots.inFlight > 0)) return false;
    return slots.hasRoom();
  }

  /** Who stored something in one commit hears of it in any order: all of it comes in before the first leaves. */
  function pumpSoon(): void {
    if (pumpsSoon) return;
    pumpsSoon = true;
    setImmediate(() => {
      pumpsSoon = false;
      pump();
    });
  }

  function pump(): void {
    const connection = stopped ? null : deps.connection();
    if (connection === null) return;
    listenTo(connection);
    while (mayStart()) {
      const chat = nextChat();
      if (chat === null) return;
      void attempt(chat, connection);
    }
  }

  async function attempt(chat: Chat, connection: WhatsAppConnection): Promise<void> {
    const message = chat.messages[0]!;
    chats.leave(chat, "sending");
    const giveBack = slots.take(chat.replies === 0, pump);
    message.uncertain = true;
    const next = await tryOnce(message, connection);
    if (message.waitsForMedia === null) withoutMedia.delete(chat);
    else withoutMedia.add(chat);
    giveBack();
    settle(chat, message, next, connection);
    if (slots.inFlight === 0) whenQuiet?.();
    pump();
  }

  async function tryOnce(message: QueuedMessage, connection: WhatsAppConnection): Promise<NextStep> {
    try {
      const outgoing = await deps.compose(message);
      if (outgoing === null) return "done";
      return await deps.handleOutcome(message, await connection.send(outgoing));
    } catch (err) {
      // The database could not be read, or a connection broke its word. The message stays; so does its id.
      const { deviceId: device, waId } = message;
      deps.log.error({ err, device, message: waId }, "an attempt to send failed with an error");
      const reason = err instanceof Error ? err.name : "unknown";
      const blame = err instanceof StorageUnavailable ? ("line" as const) : ("gateway" as const);
      return deps.handleOutcome(message, { kind: "unknown", reason, blame });
    }
  }

  function settle(chat: Chat, message: QueuedMessage, next: NextStep, connection: WhatsAppConnection): void {
    if (next === "done") {
      chat.failures = 0;
      chat.state = "idle";
      chats.drop(chat, message);
    } else if (next === "again") {
      message.uncertain = false;
      chats.makeReady(chat);
    } else if (isReplaced(connection)) {
      chats.makeReady(chat);
    } else if (!stopped) {
      chat.failures++;
      chat.state = "idle";
      chat.cancelPause = deps.time.after(backoffMs(chat.failures), () => {
        chats.makeReady(chat);
        pump();
      });
    }
  }

  /** A connection that was opened while the old one's outcome was still out has already called `wake`. */
  function isReplaced(old: WhatsAppConnection): boolean {
    const current = deps.connection();
    return current !== null && current !== old;
  }

  return {
    add(messages) {
      for (const message of messages) chats.add(message);
      pumpSoon();
    },
    take(message) {
      const chat = chats.of(message);
      if (chat === undefined || chats.find(message.waId) !== message) return false;
      if (chat.state === "sending" && chat.messages[0] === message) return false;
      chats.drop(chat, message);
      pumpSoon();
      return true;
    },
    clear: chats.clear,
    find: chats.find,
    has: chats.has,
    messages: chats.messages,
    mediaWaits() {
      const waits = [];
      for (const chat of withoutMedia) {
        const wait = chat.messages[0]?.waitsForMedia ?? null;
        if (wait === null) withoutMedia.delete(chat);
        else waits.push(wait);
      }
      return waits;
    },
    wake() {
      void eachChat((chat) => {
        chat.failures = 0;
        if (chat.state !== "sending" && chat.state !== "held") chats.makeReady(chat);
      });
    },
    get size() {
      return chats.size;
    },
    isFree: (chat) =>
      !stopped &&
      chats.isEmpty(chat) &&
      slots.hasRoom() &&
      deps.backoff.waitMs() === 0 &&
      !deps.backoff.isProbing(),
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      cold.stop();
      for (const chat of chats.all()) chat.cancelPause?.();
      if (slots.inFlight > 0) await new Promise<void>((resolve) => (whenQuiet = resolve));
    },
  };
}
