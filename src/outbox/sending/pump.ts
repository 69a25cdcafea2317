import { backoffMs, type Time } from "../../model/time.ts";
import type { WhatsAppConnection } from "../../whatsapp/port.ts";
import { tryOnce, type AttemptDeps, type NextStep } from "./attempt.ts";
import type { Chat, QueuedMessage, WaitingChats } from "./chats.ts";
import type { MediaWaits } from "./holdups/media-waits.ts";
import type { InFlightSlots } from "./in-flight.ts";
import type { PumpTimers } from "./pump-timers.ts";

/** The number's pause after WhatsApp's 429; afterwards one message goes first. */
export interface Backoff {
  waitMs(): number;
  isProbing(): boolean;
}

interface PumpDeps extends AttemptDeps {
  connection: () => WhatsAppConnection | null;
  chats: Pick<WaitingChats, "makeReady" | "leave" | "drop">;
  slots: InFlightSlots;
  mediaWaits: Pick<MediaWaits, "tried">;
  timers: PumpTimers;
  backoff: Backoff;
  time: Pick<Time, "after">;
  /** Whose message leaves next. */
  next(): Chat | null;
  /** Hears what the connection has to tell of what was sent before. */
  listenTo(connection: WhatsAppConnection): void;
}

/** Starts attempts while there is something to send and room for it. */
export interface Pump {
  /** Starts what may start now. */
  pump(): void;
  /** Who stored something in one commit hears of it in any order: all of it comes in before the first leaves. */
  pumpSoon(): void;
  /** What comes now would leave at once. */
  isFree(): boolean;
  /** Starts nothing more; resolves when what is under way has its outcome. */
  stop(): Promise<void>;
}

/** One number's. Each outcome starts the next attempt. */
export function createPump(deps: PumpDeps): Pump {
  const { slots, backoff, timers } = deps;
  let pumpsSoon = false;
  let stopped = false;
  let onIdle: (() => void) | null = null;

  function mayStart(): boolean {
    const wait = backoff.waitMs();
    if (wait > 0) timers.pumpIn("backoff", wait);
    if (wait > 0 || (backoff.isProbing() && slots.inFlight > 0)) return false;
    return slots.hasRoom();
  }

  function pump(): void {
    const connection = stopped ? null : deps.connection();
    if (connection === null) return;
    deps.listenTo(connection);
    while (mayStart()) {
      const chat = deps.next();
      if (chat === null) return;
      void attempt(chat, connection);
    }
  }

  async function attempt(chat: Chat, connection: WhatsAppConnection): Promise<void> {
    const message = chat.messages[0]!;
    deps.chats.leave(chat, "sending");
    const giveBack = slots.take(chat.replies === 0, pump);
    message.uncertain = true;
    const step = await tryOnce(deps, message, connection);
    deps.mediaWaits.tried(chat, message);
    giveBack();
    // A connection that was opened while the old one's outcome was still out has already woken everybody.
    const current = deps.connection();
    const isReplaced = current !== null && current !== connection;
    settle(deps.chats, { chat, message, step, isReplaced }, () => {
      if (!stopped) pauseChat(deps, chat, pump);
    });
    if (slots.inFlight === 0) onIdle?.();
    pump();
  }

  return {
    pump,
    pumpSoon() {
      if (pumpsSoon) return;
      pumpsSoon = true;
      setImmediate(() => {
        pumpsSoon = false;
        pump();
      });
    },
    isFree: () => !stopped && slots.hasRoom() && backoff.waitMs() === 0 && !backoff.isProbing(),
    async stop() {
      stopped = true;
      timers.stop();
      if (slots.inFlight > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
}

/** What an attempt came to. */
interface Tried {
  chat: Chat;
  message: QueuedMessage;
  step: NextStep;
  /** By another connection. */
  isReplaced: boolean;
}

/** @param pause makes the chat wait before it is tried again */
function settle(
  chats: PumpDeps["chats"],
  { chat, message, step, isReplaced }: Tried,
  pause: () => void,
): void {
  if (step === "done") {
    chat.failures = 0;
    chat.state = "idle";
    chats.drop(chat, message);
  } else if (step === "again") {
    message.uncertain = false;
    chats.makeReady(chat);
  } else if (isReplaced) chats.makeReady(chat);
  else pause();
}

/** The longer, the more often it has failed. */
function pauseChat({ chats, time }: Pick<PumpDeps, "chats" | "time">, chat: Chat, pump: () => void): void {
  chat.failures++;
  chat.state = "idle";
  chat.cancelPause = time.after(backoffMs(chat.failures), () => {
    chats.makeReady(chat);
    pump();
  });
}
