import type { Time } from "../../model/time.ts";
import { SECOND_MS } from "../../model/time.ts";
import type { OutgoingMessage, WhatsAppConnection } from "../../whatsapp/port.ts";
import type { QueuedMessage } from "./chats.ts";

interface TypingDeps {
  /** Null unless the number is online. */
  connection: () => Pick<WhatsAppConnection, "showState"> | null;
  time: Pick<Time, "pause">;
}

/** Shows in a chat that a message is being written, before it leaves. */
export interface Typing {
  /**
   * For as long as the message asks for; once, however often it is tried.
   *
   * @returns false when the gateway stops meanwhile: the message stays where it is
   */
  before(message: QueuedMessage, outgoing: OutgoingMessage): Promise<boolean>;
  /** Nobody is waited for any more. */
  stop(): void;
}

/** Typing of one number. */
export function createTyping({ connection, time }: TypingDeps): Typing {
  const stopping = new AbortController();
  const shown = new WeakSet<QueuedMessage>();
  return {
    async before(message, { jid, draft: { kind, typingSeconds = 0 } }) {
      if (typingSeconds === 0 || shown.has(message)) return true;
      shown.add(message);
      // Nobody misses a message because of it.
      await connection()
        ?.showState(jid, kind === "voice" ? "recording" : "typing")
        .catch(() => undefined);
      await time.pause(typingSeconds * SECOND_MS, stopping.signal);
      return !stopping.signal.aborted;
    },
    stop: () => stopping.abort(),
  };
}
