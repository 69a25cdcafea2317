import type { Duration } from "../duration.ts";

/** Options of every message. */
export interface SendOptions {
  /** People that the text or caption mentions as `@digits`. Each entry is digits or `…@lid`. */
  mentions?: readonly string[];
  /** In a group: mentions all members, without changing the text. Default false. */
  mentionAll?: boolean;
  /** Can be opened once: for images, videos and voice notes. Default false. */
  viewOnce?: boolean;
  /** The chat shows typing for so long before the message leaves, at most 10 s. Default: not at all. */
  typing?: Duration;
  /** When it is sent, up to 365 days ahead: a date, or how long from now. Default: at once. */
  sendAt?: Date | Duration;
  /** A message that has not left by then is never sent: a date, or how long from `sendAt`, else from now. Default: it waits. */
  expires?: Date | Duration;
}

/** Options of every reply. */
export interface ReplyOptions extends SendOptions {
  /** Quotes the message that is answered, or a message of this chat by its id; an unknown id quotes nothing. Default false. */
  quote?: boolean | string;
}

/** A file: its URL, or its bytes. */
export type FileSource = string | { url: string } | { bytes: Uint8Array; fileName?: string };

/** Options of a file reply. */
export interface FileOptions extends ReplyOptions {
  /** Text below an image, a video or a document. */
  caption?: string;
  /** For documents only. Default: the last part of the URL. */
  fileName?: string;
}

/** Options of a poll. */
export interface PollOptions extends ReplyOptions {
  /** Allows several answers instead of one. Default false. */
  multiple?: boolean;
}

/** A place on the map. */
export interface Place {
  /** Degrees from -90 to 90; north is positive. */
  latitude: number;
  /** Degrees from -180 to 180; east is positive. */
  longitude: number;
  name?: string;
  address?: string;
}

/** A person whose card is sent. */
export interface Contact {
  name: string;
  /** 1 to 10 phone numbers with the country code. */
  numbers: readonly string[];
  organization?: string;
  email?: string;
}

/** A message as data, for `ctx.reply` and `ctx.sendTo`. */
export type Content =
  | string
  | { text: string; mentions?: readonly string[] }
  | { image: FileSource; caption?: string }
  | { video: FileSource; caption?: string }
  | { audio: FileSource }
  | { voice: FileSource }
  | { document: FileSource; fileName?: string; caption?: string }
  | { sticker: FileSource }
  | { poll: string; options: readonly string[]; multiple?: boolean }
  | { location: Place }
  | { contacts: readonly Contact[] };

/** A file that came with the message. */
export interface ReceivedFile {
  bytes: Buffer;
  mimetype: string;
  /** "" when the message has none. */
  fileName: string;
}
