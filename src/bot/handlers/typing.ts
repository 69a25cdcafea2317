import type { StoredMessage } from "../../model/answerer.ts";
import type { Incoming } from "../../model/messages.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";

/** Shows in a chat that the number is writing, or not any more. Never throws. */
export type ShowTyping = (deviceId: number, chat: string, on: boolean) => void;

/** Tells the writer of a message that it was read. Never throws. */
export type MarkRead = (deviceId: number, message: Incoming) => void;

/** Whoever answers sooner needs no sign. */
const MOMENT_MS = SECOND_MS;
/** Phones forget after 25 seconds who is writing. */
const AGAIN_MS = 10 * SECOND_MS;

/** "Typing" in one chat, for as long as one handler works. */
export interface TypingSign {
  /** The handler works: the sign is shown when that takes longer than a moment. */
  begins(): void;
  /** Shows it at once. */
  now(): void;
  /** The handler has ended. Idempotent. */
  ends(): void;
}

/** A sign for one handler and a person's message. A handler has its time, and so has the sign. */
export function typingFor(
  time: Pick<Time, "after" | "every">,
  show: ShowTyping,
  { deviceId, message }: StoredMessage,
): TypingSign {
  const isNobody = message.timer !== undefined || message.fromMe || message.chatKind === "channel";
  let first: (() => void) | null = null;
  let again: (() => void) | null = null;
  let hasEnded = isNobody;
  function now(): void {
    first?.();
    if (hasEnded || again !== null) return;
    show(deviceId, message.chat, true);
    again = time.every(AGAIN_MS, () => show(deviceId, message.chat, true));
  }
  return {
    now,
    begins() {
      if (!hasEnded && again === null) first = time.after(MOMENT_MS, now);
    },
    ends() {
      hasEnded = true;
      first?.();
      if (again === null) return;
      again();
      again = null;
      show(deviceId, message.chat, false);
    },
  };
}
