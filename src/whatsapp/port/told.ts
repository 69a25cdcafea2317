import type { Incoming } from "../../model/messages.ts";

/** What a phone says of a message that this number sent. */
export interface MessageReceipt {
  waId: string;
  /** Chat as the receipt named it. */
  jid: string;
  state: "delivered" | "read" | "played";
  /** Milliseconds. */
  at: number;
}

/** What ended a connection, or kept it from coming about, when no code says it. */
export type Complaint =
  /** The number's proxy let nothing through. */
  | "proxy"
  /** It misses the acknowledgement of a stanza. */
  | "unacknowledged"
  /** It could not read what it was sent. */
  | "malformed";

/** Messages that the owner has read somewhere else: on the phone, or with another companion. */
export interface OwnReading {
  /** Chat as the receipt named it, without device. */
  jid: string;
  waIds: string[];
  /** Milliseconds. */
  at: number;
}

/** Why a connection ended; `code` as in Baileys' DisconnectReason and research on close codes (515, 401, 440, …). */
export interface Closed {
  code: number;
  reason: string;
  /** Absent: nothing of the kind. */
  complaint?: Complaint;
  /** How long WhatsApp lets nobody in, in milliseconds; absent when it does not say. */
  bannedForMs?: number;
  /** A write has shown that another process has the number. */
  taken?: true;
  /** The gateway has ended it for a fault of its own, which the next one may meet as well. */
  byUs?: true;
}

/** WhatsApp lets a number write to nobody for the first time: until when (Unix milliseconds), and its word for why, if it gave one. */
export interface ReachoutLock {
  until: number;
  reason: string | null;
}

/** How many chats a number may begin, as WhatsApp says. */
export interface NewChats {
  /** Null: no limit. */
  limit: number | null;
  used: number;
  /** When counting begins anew, Unix milliseconds; null when WhatsApp does not say. */
  resetsAt: number | null;
  isUsedUp: boolean;
}

/** A message that exists and is not here. Ids are canonical unless they say otherwise, see `model/messages.ts`. */
export interface MissingMessage {
  id: string;
  chat: string;
  sender: string;
  fromMe: boolean;
  /** Chat and writer as they stood on the wire; the writer in groups only. */
  jid: string;
  participant: string | null;
  /** WhatsApp's own timestamp, Unix seconds; 0 when it is not known. */
  timestamp: number;
  reason: MissingReason;
}

/** Reasons for which a message is not here. */
export const MISSING_REASONS = [
  /** It came, and could not be decrypted. Its sender is asked to send it again, and the owner's phone. */
  "undecryptable",
  /** It came without content: the owner's phone is asked for it. */
  "unavailable",
  /** It came without content, and WhatsApp gives it to phones alone (view once, answers of bots). */
  "phone_only",
  /** The phone's history names it. */
  "history",
  /** Contacts have it from this number, and the outbox does not know it. */
  "unknown_send",
] as const;
/** Why a message is not here. */
export type MissingReason = (typeof MISSING_REASONS)[number];

/** What is known of one open connection. Times are Unix milliseconds. */
export interface ConnectionFacts {
  openedAt: number;
  /** Null while it is open. */
  closedAt: number | null;
  code: number | null;
  /** Messages that WhatsApp said were waiting; null when it said nothing. */
  announced: number | null;
  /** Messages that then arrived marked as such, each counted once. */
  arrived: number;
}

/** Keeps account of what should have arrived. */
export interface Witness {
  /**
   * A message is missing; what the inbox has already is not. Resolves when that is stored: nothing may be acknowledged
   * before. Rejects when it could not be stored.
   */
  missing(deviceId: number, message: MissingMessage): Promise<void>;
  /** A message that was missing has been read; it holds nothing that the inbox would get. */
  read(deviceId: number, waId: string): void;
  /** Messages that are missing and that the owner's phone may still have, newest first; only what was noticed before a time. */
  askable(deviceId: number, noticedBefore: number): Promise<MissingMessage[]>;
  /** Of these messages, which the phone's history names, those that neither inbox nor outbox know. They are noted as missing. */
  unknownOf(deviceId: number, messages: Incoming[]): Promise<Incoming[]>;
  /** Called as often as something changes; `openedAt` tells connections of a number apart. */
  connection(deviceId: number, facts: ConnectionFacts): void;
  /** Somebody has a message of this id from this number, or asks for it. */
  sentElsewhere(deviceId: number, message: { waId: string; jid: string }): void;
}
