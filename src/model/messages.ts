/**
 * What Parley says of one message, in and out. Plain JSON, so that it can be sealed into a row and read back by a later
 * version: fields are added, never renamed.
 *
 * Addresses are WhatsApp ids: `<digits>@s.whatsapp.net`, `<digits>@lid`, `<id>@g.us`, `<id>@newsletter`, always without a
 * device part. `chatKey` and `sender` are canonical: the phone number's form when the pair is known, else the LID's.
 */

/** What a chat is. */
export type ChatKind = "dm" | "group" | "channel" | "status";

/** The `type` of the webhook event. The `kind` of `GET /messages/{id}` uses the same words. */
export type MessageType =
  | "text"
  | "image"
  | "video"
  | "audio"
  | "voice"
  | "document"
  | "sticker"
  | "location"
  | "contact"
  | "poll"
  | "poll_vote"
  | "reaction"
  | "edit"
  | "revoke"
  | "channel"
  | "call"
  | "unknown";

// By name, so that a type that is added must be here.
const ALL_TYPES: Record<MessageType, true> = {
  text: true,
  image: true,
  video: true,
  audio: true,
  voice: true,
  document: true,
  sticker: true,
  location: true,
  contact: true,
  poll: true,
  poll_vote: true,
  reaction: true,
  edit: true,
  revoke: true,
  channel: true,
  call: true,
  unknown: true,
};
/** All of them. */
export const MESSAGE_TYPES = Object.keys(ALL_TYPES) as [MessageType, ...MessageType[]];

/** The message that another message quotes. */
export interface Quoted {
  id: string;
  /** Canonical id of the quoted writer. */
  from: string;
  text: string;
}

/** One message that arrived, or that the owner wrote on the phone (`fromMe`). */
export interface Incoming {
  /** WhatsApp's message id. */
  id: string;
  /** Where an answer goes: the chat's id exactly as it arrived. */
  chat: string;
  /** The canonical key of the chat: one key per chat, see above. Lanes, order, sessions and mutes use it. */
  chatKey: string;
  chatKind: ChatKind;
  /** Canonical id of the writer. */
  sender: string;
  /** The writer's digits, or null while only the LID is known. */
  number: string | null;
  /** The writer's `…@lid`, or null. */
  lid: string | null;
  /** The writer's full id as the group message carried it, else null. */
  participant: string | null;
  fromMe: boolean;
  /** "" when unknown. */
  pushName: string;
  /** Of a business that wrote, as WhatsApp has verified it. Missing: the writer is none, or the message was stored by version 0.1. */
  verifiedName?: string;
  /** Unix seconds, by WhatsApp's clock. */
  timestamp: number;
  /** Seconds that WhatsApp's clock was ahead of the host's when the message arrived. Missing: less than a minute. */
  clockAhead?: number;
  /** WhatsApp kept the message while the number was offline. */
  waited?: true;
  /** Unix seconds at which the message disappears from phones. Missing: never. */
  expiresAt?: number;
  type: MessageType;
  /** What a person would read; "" when there is nothing to read. */
  text: string;
  quoted: Quoted | null;
  /** Digits, or `…@lid`. */
  mentions: string[];
  /** Name and address are null when the message has none. */
  location: { latitude: number; longitude: number; name: string | null; address: string | null } | null;
  contacts: { name: string; numbers: string[] }[] | null;
  reaction: { id: string; emoji: string } | null;
  /** Id of the message that an edit, a revoke or a vote refers to. */
  targetId: string | null;
  /** Null for messages without a file, and for messages stored before version 0.2. */
  media?: IncomingMedia | null;
  /** Its file may be opened once. */
  viewOnce?: true;
  poll?: IncomingPoll | null;
  /** Set for calls. Missing: not a call, or a call stored by version 0.1. */
  call?: IncomingCall;
  /** The message's protobuf as base64. Quoting and media need it later. */
  raw: string;
  /** Set for a bot's timer that is due: it is handled like a message. Its `type` is `unknown`. */
  timer?: BotTimer;
  /** The owner handed the chat back to the bots with this message. It is a sign to Parley, and a message to nobody. */
  handsBack?: true;
}

/** A bot's timer that is due. */
export interface BotTimer {
  botId: string;
  key: string;
  /** Missing: the timer was set without an id. */
  id?: string;
  data: unknown;
  /** Unix milliseconds after which the timer no longer runs. Missing: it runs however late. */
  expiresAt?: number;
}

/** The half of a message that says what is in it, with nothing in it: whoever makes one names only what it has. */
export const nothingSaid = (): Pick<
  Incoming,
  "type" | "text" | "quoted" | "mentions" | "location" | "contacts" | "reaction" | "targetId" | "raw"
> => ({
  type: "unknown",
  text: "",
  quoted: null,
  mentions: [],
  location: null,
  contacts: null,
  reaction: null,
  targetId: null,
  raw: "",
});

/** When a message was written, by the host's clock: Unix milliseconds. What has an age limit is measured by it. */
export const sentAt = ({ timestamp, clockAhead = 0 }: Pick<Incoming, "timestamp" | "clockAhead">): number =>
  (timestamp - clockAhead) * 1000;

/** The kind of a file. `voice` is a voice note, `audio` any other sound. */
export type MediaKind = "image" | "video" | "audio" | "voice" | "document" | "sticker";

/** The file of an incoming message, as far as the message describes it. Its keys are in `raw`. */
export interface IncomingMedia {
  /** The kind of the file. For a post in a channel, `type` does not tell. */
  kind: MediaKind;
  mimetype: string;
  /** "" when the message has none. */
  fileName: string;
  /** Bytes. */
  size: number;
  /** Length in seconds, for audio and video. */
  seconds?: number;
}

/** A call that has begun. */
export interface IncomingCall {
  /** A video call. */
  video: boolean;
  /** Parley has rejected the call: nobody can take it. */
  rejected: boolean;
}

/** A poll that arrived, or the poll that a vote belongs to. */
export interface IncomingPoll {
  /** Message id of the poll. */
  id: string;
  /** Null when Parley does not know the poll. */
  name: string | null;
  options: string[];
  /** For a vote. Null when it could not be read. */
  vote?: PollVote | null;
  /** All known votes, including those of other people. Looked up when the message is handled, never stored with it. */
  tally?: PollTally;
}

/** One vote in a poll. It replaces the voter's earlier vote. */
export interface PollVote {
  /** Names of the chosen options, in the poll's order. Empty when the vote was withdrawn. */
  selected: string[];
  /** Time of the vote in Unix milliseconds, by WhatsApp's clock. */
  at: number;
}

/** The votes in a poll so far. */
export interface PollTally {
  /** In the poll's order. `voters` are digits, or `…@lid`. */
  options: { name: string; voters: string[] }[];
  /** Number of people who have voted for an option. */
  total: number;
}

/** States of a sent message, in the only order in which they may follow each other; {@link ENDED_STATES} end it. */
export const SENT_STATES = ["queued", "sent", "delivered", "read", "played"] as const;
/** States in which a message never leaves. */
export const ENDED_STATES = ["failed", "expired", "cancelled"] as const;
/** All of them; a message that is to be sent later begins as `scheduled`. */
export const MESSAGE_STATES = ["scheduled", ...SENT_STATES, ...ENDED_STATES] as const;
/** Where a sent message stands. */
export type SentState = (typeof MESSAGE_STATES)[number];

// Messages of the time before a number was linked lie among those that it received, under ids below zero. An id says when its
// message was written, so that ids rise with time whenever a row was stored: retention and the audit read by them.

/** Each second has as many ids. */
export const IMPORTED_IN_A_SECOND = 1_000_000;

/** Whether the row of a message says that it was imported. @param inboxId of the inbox */
export const isImported = (inboxId: number): boolean => inboxId < 0;

/** The first id of a second. @param timestamp Unix seconds, from 1970 to 2255 */
export const firstImportedId = (timestamp: number): number =>
  timestamp * IMPORTED_IN_A_SECOND - Number.MAX_SAFE_INTEGER;
