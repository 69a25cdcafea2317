import { setImmediate as turn } from "node:timers/promises";
import { backoffMs, type Time } from "../../model/time.ts";
import type { WhatsAppConnection } from "../../whatsapp/port.ts";
import { tryOnce, type AttemptDeps, type NextStep } from "./attempt.ts";
import { createWaitingChats, type Chat, type QueuedMessage } from "./chats.ts";
import { createColdChats } from "./holdups/cold-chats.ts";
import { createInFlightSlots } from "./in-flight.ts";
import { createMediaWaits, type MediaWaits } from "./holdups/media-waits.ts";
import type { Pace } from "./holdups/pace.ts";
import { createPumpTimers } from "./pump-timers.ts";
import type { WarmUp } from "./holdups/warm-up.ts";

interface SenderDeps extends AttemptDeps {
  connection: () => WhatsAppConnection | null;
  pace: Pace;
  /** The number's pause after WhatsApp's 429; afterwards one message goes first. */
  backoff: { waitMs(): number; isProbing(): boolean };
  warmUp: Pick<WarmUp, "asks" | "waitMs">;
  time: Pick<Time, "now" | "after">;
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
  mediaWaits: MediaWaits["all"];
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
  const mediaWaits = createMediaWaits();
  const cold = createColdChats({
    ...deps,
    chats,
    pump,
    release: () => void eachChat((chat) => chat.state === "held" && chats.makeReady(chat)),
  });
  const timers = createPumpTimers(deps.time, pump);
  /** The connection that is listened to, and whether it has told what waited for the number. */
  let listened: { connection: WhatsAppConnection; heard: boolean } | null = null;
  let pumpsSoon = false;
  let stopped = false;
  let onIdle: (() => void) | null = null;

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
    timers.pumpIn("pace", deps.pace.waitMs(deps.time.now()));
    return false;
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
    if (wait > 0) timers.pumpIn("backoff", wait);
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
    const next = await tryOnce(deps, message, connection);
    mediaWaits.tried(chat, message);
    giveBack();
    settle(chat, message, next, connection);
    if (slots.inFlight === 0) onIdle?.();
    pump();
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
    mediaWaits: mediaWaits.all,
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
      timers.stop();
      cold.stop();
      for (const chat of chats.all()) chat.cancelPause?.();
      if (slots.inFlight > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}
