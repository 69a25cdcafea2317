/** What people write besides plain texts, and how a message that arrived is told. */
import type { Address, PhoneNumber } from "./addresses.ts";

/** A file's bytes, or a path that the simulator reads. */
export type FileSource = { bytes: Uint8Array; path?: undefined } | { path: string; bytes?: undefined };

/** What a phone says of a file beside its bytes. Nothing is looked up in the file: what is left out has the default. */
interface FileFacts {
  /** Default: the usual one of the kind. */
  mimetype?: string;
  /** JPEG shown before the file is loaded. Default: none. */
  thumbnail?: Uint8Array;
  /** Pixels. */
  width?: number;
  height?: number;
  /** When its key was made, Unix seconds: of what is handed on, when it was sent first. Default: now. */
  madeAt?: number;
  /** Stands in a view-once wrapper: images, videos, audio. Real phones give it to companions only now and then. */
  viewOnce?: true;
}

/** A message with a file, as a person sends it. */
export type FileContent = FileSource &
  FileFacts &
  (
    | { kind: "image"; caption?: string }
    | {
        kind: "video";
        caption?: string;
        seconds?: number;
        gif?: boolean;
        /** A round video note. */ note?: boolean;
      }
    | { kind: "audio"; seconds?: number }
    /** A recorded voice message (`ptt`); `waveform`: 64 values from 0 to 100. */
    | { kind: "voice"; seconds?: number; waveform?: Uint8Array }
    | { kind: "document"; fileName: string; caption?: string; pages?: number }
    | { kind: "sticker"; animated?: boolean }
  );

/** A place on the map; degrees. */
export type LocationContent = {
  kind: "location";
  latitude: number;
  longitude: number;
  name?: string;
  address?: string;
};

/** A poll. */
export type PollContent = {
  kind: "poll";
  name: string;
  options: string[];
  /** How many options one may choose; 0 (default): any number. */
  selectable?: number;
  /** Others may add options (`pollCreationMessageV6`). Default false. */
  mayAdd?: boolean;
};

/** Announces pictures and films that belong together: each follows as a message with `SendOptions.album`. */
export interface AlbumContent {
  kind: "album";
  images: number;
  videos: number;
}

/** Anything that a person can write as a message of its own. Reactions, edits, revokes and votes have their own methods. */
export type Content =
  | { kind: "text"; text: string }
  | FileContent
  | LocationContent
  | { kind: "contacts"; contacts: { name: string; vcard: string }[] }
  | PollContent
  | AlbumContent
  /** Any protobuf message, encoded: for shapes that have no kind here, such as the answer to a list or a button. */
  | { kind: "raw"; bytes: Uint8Array };

/** An advertisement that leads to a chat. */
export interface Advertisement {
  title: string;
  body?: string;
  sourceId: string;
  sourceUrl: string;
  /** The click's own id. */
  ctwaClid?: string;
}

/** Options of `send` and the like. */
export interface SendOptions {
  /** Fixed message id. Default: made from the seed. */
  id?: string;
  /** Which of the contact's devices writes. Default 0. */
  device?: number;
  /** Id of the message that has announced the album which this one belongs to. */
  album?: string;
  /** Numbers that the text or caption mentions. */
  mentions?: PhoneNumber[];
  quoted?: { id: string; participant?: Address; text?: string };
  /** Seconds after which the message disappears. Default: as the chat is set. */
  expiration?: number;
  /** The writer has come by an advertisement that leads to WhatsApp; its message says by which. */
  advertisement?: Advertisement;
  /** Seconds since 1970. Default: the simulator's clock. */
  timestamp?: number;
  pushName?: string;
}

/** The message's id; resolves once the service has the message. */
export type Sent = Promise<{ id: string }>;

/** What is shown of somebody who writes. */
export type TypingState = "composing" | "recording" | "paused";

/** Options of a status. */
export interface StatusOptions {
  id?: string;
  /** Who sees it. Default: every linked number. */
  audience?: PhoneNumber[];
}

/** Options of a vote. */
export interface VoteOptions {
  id?: string;
  /**
   * Under which address the creator and the voter go into the vote's key. Default: as the chat names people; the voter in
   * a direct chat by LID under the number, unless it is hidden.
   */
  creator?: "pn" | "lid";
  voter?: "pn" | "lid";
}

/** A message's file, as the message describes it. */
export interface MediaBody {
  mimetype: string;
  /** Bytes of the decrypted file, as the message claims. */
  size: number;
  /** SHA-256 of the decrypted file as the message claims, hexadecimal. `mediaOf` proves it. */
  sha256: string;
  fileName?: string;
  seconds?: number;
  ptt?: boolean;
  /** The 64 values of a voice message. */
  waveform?: number[];
  width?: number;
  height?: number;
  /** Bytes of the JPEG thumbnail inside the message; 0: none. */
  thumbnailBytes: number;
  /** Where the media host keeps the encrypted file. */
  directPath: string;
  /** The file is encrypted: the message holds a key. Files in channels are not. */
  encrypted: boolean;
  gif?: boolean;
  animated?: boolean;
}

/** A poll, as its message describes it. */
export interface PollBody {
  name: string;
  options: string[];
  selectable: number;
  /** The message carried the secret (32 bytes) without which no vote can be read. */
  hasSecret: boolean;
}

/** What a message says, whatever its protobuf shape. */
export interface MessageBody {
  /**
   * `text`, `image`, `video`, `audio`, `voice`, `document`, `sticker`, `location`, `contacts`, `poll`, `vote`,
   * `reaction`, `edit`, `revoke`, `poll_option`, `album`, `timer`, `sender_key`, `protocol`, or the protobuf field of another kind.
   */
  kind: string;
  /** The text, the caption, the question of a poll, the emoji of a reaction, the new text of an edit. */
  text?: string;
  media?: MediaBody;
  poll?: PollBody;
  /** The chosen options of a vote, decrypted by the receiving phone; empty: withdrawn. */
  choices?: string[];
  location?: { latitude: number; longitude: number; name?: string; address?: string };
  contacts?: { name: string; vcard: string }[];
  /** Id of the message that a reaction, edit, revoke or vote is about. */
  target?: string;
  mentions?: string[];
  quoted?: { id: string; participant?: string; text?: string };
  /** The phone shows that it was handed on: how often. */
  forwarded?: number;
  /** The phone shows its file once. */
  viewOnce?: true;
  /** Seconds after which the message disappears; of a `timer`, those that come after it. */
  expiration?: number;
  /** When that was set for the chat, Unix seconds, as the message says. */
  expirationSince?: number;
}
