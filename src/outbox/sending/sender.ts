import type { Time } from "../../model/time.ts";
import type { WhatsAppConnection } from "../../whatsapp/port.ts";
import type { AttemptDeps } from "./attempt.ts";
import { createWaitingChats, type QueuedMessage } from "./chats.ts";
import { createChoice } from "./choice.ts";
import { createEachChat } from "./each-chat.ts";
import { createColdChats } from "./holdups/cold-chats.ts";
import { createInFlightSlots } from "./in-flight.ts";
import { createMediaWaits, type MediaWaits } from "./holdups/media-waits.ts";
import type { Pace } from "./holdups/pace.ts";
import { createListening } from "./listening.ts";
import { createPump, type Backoff } from "./pump.ts";
import { createPumpTimers } from "./pump-timers.ts";
import type { WarmUp } from "./holdups/warm-up.ts";

interface SenderDeps extends AttemptDeps {
  connection: () => WhatsAppConnection | null;
  pace: Pace;
  backoff: Backoff;
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

/**
 * In one chat the next message leaves when the outcome of the one before is known; chats do not wait for each other;
 * chats with replies come before the others, and only the others are paced.
 */
export function createSender(deps: SenderDeps): Sender {
  const chats = createWaitingChats();
  const slots = createInFlightSlots(deps.time);
  const mediaWaits = createMediaWaits();
  // The parts call each other in a circle, and the pump is the last that is made.
  const pump = (): void => pumping.pump();
  const pumpSoon = (): void => pumping.pumpSoon();
  const eachChat = createEachChat(chats, pump);
  const release = (): void => void eachChat((chat) => chat.state === "held" && chats.makeReady(chat));
  const cold = createColdChats({ ...deps, chats, pump, release });
  const timers = createPumpTimers(deps.time, pump);
  const listening = createListening(chats, eachChat);
  const next = createChoice({ ...deps, chats, slots, cold, timers, hasHeard: listening.hasHeard, pumpSoon });
  const pumping = createPump({
    ...deps,
    chats,
    slots,
    mediaWaits,
    timers,
    next,
    listenTo: listening.listenTo,
  });

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
    isFree: (chat) => chats.isEmpty(chat) && pumping.isFree(),
    async stop() {
      const idle = pumping.stop();
      cold.stop();
      for (const chat of chats.all()) chat.cancelPause?.();
      await idle;
    },
  };
}
