import type { Chat, QueuedMessage } from "../chats.ts";

/** Chats whose next message WhatsApp's media service has not taken. */
export interface MediaWaits {
  /** An attempt for the chat's next message has ended. */
  tried(chat: Chat, message: QueuedMessage): void;
  /** What they wait for; the other chats are not looked at. */
  all(): NonNullable<QueuedMessage["waitsForMedia"]>[];
}

/** Nobody waits yet. Whose message was taken out meanwhile is seen when it is asked for. */
export function createMediaWaits(): MediaWaits {
  const waiting = new Set<Chat>();
  return {
    tried(chat, message) {
      if (message.waitsForMedia === null) waiting.delete(chat);
      else waiting.add(chat);
    },
    all() {
      const waits = [];
      for (const chat of waiting) {
        const wait = chat.messages[0]?.waitsForMedia ?? null;
        if (wait === null) waiting.delete(chat);
        else waits.push(wait);
      }
      return waits;
    },
  };
}
