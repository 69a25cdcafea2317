import type { PasskeyRequest } from "../../model/passkey.ts";
import type { ChatChange } from "./chats.ts";
import type { GroupHappening, MovedPerson, Presence } from "./happenings.ts";
import type { BookEntry } from "./contacts.ts";
import type { ChannelChange, GroupChange } from "./groups.ts";
import type { Closed, MessageReceipt, NewChats, OwnReading, ReachoutLock } from "./told.ts";

/** What the number's owner is called at WhatsApp, known from linking on. */
export interface LinkedIdentity {
  /** Digits. */
  number: string;
  /** `<digits>@lid`, or null for accounts without one. */
  lid: string | null;
  name: string | null;
  /** `android`, `iphone`, `smba`, … as WhatsApp says. */
  platform: string | null;
}

/** What a connection tells. */
export type ConnectionEvent =
  /** A QR text to show. Secret: whoever scans it owns the link. */
  | { type: "qr"; text: string; expiresInMs: number }
  /**
   * WhatsApp wants an assertion of the owner's passkey before it links, within so many milliseconds; until then no QR is
   * shown. Null: it has one, or does not wait any more.
   */
  | { type: "passkey"; request: PasskeyRequest | null; withinMs: number }
  /** The QR or code was used; credentials are stored. A restart of the connection (515) follows. */
  | { type: "linked"; identity: LinkedIdentity }
  /** Logged in, ready to send, and everything that WhatsApp had kept has come. */
  | { type: "open"; identity: LinkedIdentity }
  | { type: "closed"; closed: Closed }
  /** How many stanzas WhatsApp still has for this number; null: none, or nothing is known of it any more. */
  | { type: "waiting"; count: number | null }
  /** How many chats may be begun. */
  | { type: "newChats"; quota: NewChats }
  | ChatEvent;

/** What a connection tells of the number's chats. The life of the number does not ask what it is. */
export type ChatEvent =
  /** WhatsApp has a lock on first contacts, or has ended one (null). */
  | { type: "lock"; lock: ReachoutLock | null }
  /** What WhatsApp tells of groups, in its order. Empty: all of them changed somehow. */
  | { type: "groups"; changes: GroupChange[] }
  /** The same of channels. */
  | { type: "channels"; changes: ChannelChange[] }
  /** Whom the number's phone knows, some or all of them. */
  | { type: "book"; entries: BookEntry[] }
  /** The phone, or another companion, shows chats in another way. */
  | { type: "chatSettings"; changes: ChatChange[] }
  /** What was done to groups, in its order, for people to read. */
  | { type: "groupHappenings"; happenings: GroupHappening[] }
  /** How somebody is, whether anybody asked or not. */
  | { type: "seen"; presence: Presence }
  | { type: "moved"; moved: MovedPerson };

/** What WhatsApp tells until it is stored here. */
export type AcknowledgedEvent =
  | { type: "receipts"; receipts: MessageReceipt[] }
  /** The owner has read messages on another device of the number. */
  | { type: "read"; reading: OwnReading };

/** What is counted of what passes the wire. */
export type WireEvent =
  /** A message that arrived could not be decrypted. */
  | { type: "undecryptable"; reason: string }
  /** A message or a receipt took the everyday way (null), or Baileys' for a reason. */
  | { type: "way"; direction: string; reason: string | null };
