import type { StoredMessage } from "../../model/answerer.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";

/** Shows in a chat that the number is writing, or not any more. Never throws. */
export type ShowTyping = (deviceId: number, chat: string, on: boolean) => void;

/** Whoever answers sooner needs no sign. */
const MOMENT_MS = SECOND_MS;
/** Phones forget after 25 seconds who is writing. */
const AGAIN_MS = 10 * SECOND_MS;

/**
 * Shows "typing" for as long as a handler works on a person's message, when that is longer than a moment. A handler has its time,
 * and so has the sign.
 *
 * @returns called when the handler has begun; what it gives is called when it has ended
 */
export function typingFor(
  time: Pick<Time, "after" | "every">,
  show: ShowTyping,
  { deviceId, message }: StoredMessage,
): () => () => void {
  return () => {
    if (message.timer || message.fromMe || message.chatKind === "channel") return () => undefined;
    let again: (() => void) | null = null;
    const first = time.after(MOMENT_MS, () => {
      show(deviceId, message.chat, true);
      again = time.every(AGAIN_MS, () => show(deviceId, message.chat, true));
    });
    return () => {
      first();
      if (again === null) return;
      again();
      show(deviceId, message.chat, false);
    };
  };
}
