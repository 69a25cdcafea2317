/** Options of every reply. */
export interface ReplyOptions {
  /** Quotes the message that is answered. Default false. */
  quote?: boolean;
}

/** Options of a text reply. */
export interface TextOptions extends ReplyOptions {
  /** People that the text mentions as `@digits`. Each entry is digits or `…@lid`. */
  mentions?: readonly string[];
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
