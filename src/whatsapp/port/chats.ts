/** How the number's phone shows a chat; what is left out stays, or is not told. */
export interface ChatSettings {
  archived?: boolean;
  pinned?: boolean;
  /** Unix milliseconds, {@link FOR_EVER}, or null: it makes a sound. */
  mutedUntil?: number | null;
  /** Marked as unread by hand; false: it was read. */
  unread?: boolean;
}

/** Until somebody ends it, as WhatsApp writes it. */
export const FOR_EVER = -1;

/** The newest message of a chat: what is said of the chat counts up to it. */
export interface LastMessage {
  id: string;
  fromMe: boolean;
  /** Address on the wire of who wrote it in a group; null for the number's own, and elsewhere. */
  participant: string | null;
  /** Unix seconds. */
  timestamp: number;
}

/** What the phone, or another companion, has changed of a chat. */
export interface ChatChange extends ChatSettings {
  /** As the phone names it, without a device. */
  jid: string;
}
