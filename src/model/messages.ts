/**
 * What Parley says of one message, in and out. Plain JSON, so that it can be sealed into a row and read back by a later
 * version: fields are added, never renamed.
 *
 * Addresses are WhatsApp ids: `<digits>@s.whatsapp.net`, `<digits>@lid`, `<id>@g.us`, `<id>@newsletter`, always without a
 * device part. `chatKey` and `sender` are canonical: the phone number's form when the pair is known, else the LID's.
 */

/** What a chat is. */
export type ChatKind = "dm" | "group" | "channel" | "status";

/** `type` of the webhook event; `kind` of `GET /messages/{id}` uses the same words. */
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

/** The message that another one answers. */
export interface Quoted {
  id: string;
  /** Canonical id of the quoted writer. */
  from: string;
  text: string;
}

/** One message that arrived, or that the owner typed on the phone (`fromMe`). */
export interface Incoming {
  /** WhatsApp's message id. */
  id: string;
  /** Where an answer goes: the chat's id exactly as the message arrived. */
  chat: string;
  /** One chat, one key: see above. Lanes, order, sessions and mutes hang on it. */
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
  /** Unix seconds, WhatsApp's clock. */
  timestamp: number;
  /** Seconds by which WhatsApp's clock was ahead of the host's when it came; absent: less than a minute. */
  clockAhead?: number;
  /** It waited at WhatsApp while the number was offline. */
  waited?: true;
  /** When it disappears from phones, Unix seconds; absent: never. */
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
  /** Message that an edit, a revoke or a poll's vote is about. */
  targetId: string | null;
  /** Null for messages without a file, and for those stored before 0.2. */
  media?: IncomingMedia | null;
  poll?: IncomingPoll | null;
  /** Of a call. Absent: no call, or one of version 0.1. */
  call?: IncomingCall;
  /** The message's protobuf, base64: what quoting and media need later. */
  raw: string;
  /** Of a bot's timer that is due, which takes the path of a message; its `type` is `unknown`. */
  timer?: BotTimer;
  /** The owner has given the chat back to the bots with it: it is a sign to Parley, and no message to anybody. */
  handsBack?: true;
}

/** A bot's timer whose time has come. */
export interface BotTimer {
  botId: string;
  key: string;
  /** Missing: it was set without one. */
  id?: string;
  data: unknown;
  /** Unix milliseconds after which it does not run any more; missing: it runs however late. */
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

/** What someone wants to have sent. */
export type Draft = (TextDraft | MediaDraft | PollDraft | ReactionDraft) & Perishable;

/** What may come too late. */
interface Perishable {
  /** Unix milliseconds after which it does not leave any more; missing: as long as messages wait. */
  notAfter?: number;
}

/** The message that a draft quotes: one that came in as it came, one that was sent from here as far as a quote shows it. */
export type DraftQuote = { id: string; sender: string; fromMe: boolean } & (
  | { raw: string }
  | { sent: QuotedDraft }
);

/** What a quote shows of a message that was sent. */
export interface QuotedDraft {
  kind: "text" | "poll" | MediaKind;
  /** Text, caption, or what a poll asks. */
  text: string;
  /** Of a poll. */
  options?: string[];
  /** Of a document. */
  fileName?: string;
}

/** A text to be sent. */
export interface TextDraft {
  kind: "text";
  text: string;
  /** WhatsApp ids of the people whom the text mentions as `@digits`. */
  mentions?: string[];
  quote?: DraftQuote;
}

/** What a file is. A `voice` is a voice note, an `audio` any other sound. */
export type MediaKind = "image" | "video" | "audio" | "voice" | "document" | "sticker";

/** A file that is already fetched, looked at, and encrypted on disk: a row of `media_files`. */
export interface MediaDraft {
  kind: MediaKind;
  /** Id in `media_files`. */
  file: string;
  /** Text under an image, a video or a document. */
  caption?: string;
  /** Documents only. */
  fileName?: string;
  quote?: DraftQuote;
}

/** A poll to be sent. */
export interface PollDraft {
  kind: "poll";
  name: string;
  options: string[];
  /** 1: one answer; 0: any number. */
  selectable: 0 | 1;
  quote?: DraftQuote;
}

/** An emoji on a message; "" takes it back. */
export interface ReactionDraft {
  kind: "reaction";
  emoji: string;
  target: { id: string; chat: string; fromMe: boolean; participant: string | null };
  /** Unix milliseconds: of two reactions to one message the later one counts. */
  at: number;
  /** Means nothing here. */
  quote?: DraftQuote;
}

/** What a draft says in words: its text, its caption, what it asks, its emoji. */
export function textOfDraft(draft: Draft): string {
  switch (draft.kind) {
    case "text":
      return draft.text;
    case "poll":
      return draft.name;
    case "reaction":
      return draft.emoji;
    default:
      return draft.caption ?? "";
  }
}

/** Whether it needs a file that lies at WhatsApp. */
export function hasFile(draft: Draft): draft is MediaDraft {
  return draft.kind !== "text" && draft.kind !== "poll" && draft.kind !== "reaction";
}

/** Media of an incoming message, as far as the message itself tells; its keys are in `raw`. */
export interface IncomingMedia {
  /** What the file is; the `type` of a channel's post does not tell. */
  kind: MediaKind;
  mimetype: string;
  /** "" when the message has none. */
  fileName: string;
  /** Bytes. */
  size: number;
  /** Seconds, for audio and video. */
  seconds?: number;
}

/** A call, when it begins. */
export interface IncomingCall {
  /** With a picture. */
  video: boolean;
  /** Parley has rejected it: nobody can take it. */
  rejected: boolean;
}

/** A poll that arrived, or the poll that a vote is about. */
export interface IncomingPoll {
  /** Message id of the poll. */
  id: string;
  /** Null when the poll is not known here. */
  name: string | null;
  options: string[];
  /** Of a vote; null when it could not be read. */
  vote?: PollVote | null;
  /** All votes that are known, of others too. Looked up when the message is handled, never stored with it. */
  tally?: PollTally;
}

/** One answer to a poll; it takes the place of the voter's earlier ones. */
export interface PollVote {
  /** Names of the chosen options, in the poll's order; empty when the vote was withdrawn. */
  selected: string[];
  /** WhatsApp's time of the vote, Unix milliseconds. */
  at: number;
}

/** How people have voted so far. */
export interface PollTally {
  /** In the poll's order; `voters` are digits, or `…@lid`. */
  options: { name: string; voters: string[] }[];
  /** Number of people who have chosen something. */
  total: number;
}

/** States of a sent message, in the only order in which they may follow each other; `failed` and `expired` end it. */
export const SENT_STATES = ["queued", "sent", "delivered", "read", "played"] as const;
/** Where a sent message stands; `failed` and `expired` are final. */
export type SentState = (typeof SENT_STATES)[number] | "failed" | "expired";
