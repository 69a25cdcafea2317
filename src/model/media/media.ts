import type { ForwardDraft } from "../content/drafts.ts";
import type { MediaKind } from "../messages.ts";

/** Files on their way out: what `/send-media` takes, and what the parts of Parley say to each other of such a file. */

export const MEDIA_TYPES = [
  "image",
  "video",
  "audio",
  "pdf",
  "xls",
  "xlsx",
  "doc",
  "docx",
  "zip",
  "mp3",
  "xml",
  "document",
] as const;
/** One of the words that `media_type` of `/send-media` may be. `document`: a file of any kind, as what it is. */
export type MediaType = (typeof MEDIA_TYPES)[number];
/** What a file may be sent as; stickers have an endpoint of their own. */
export type SentAs = MediaType | "sticker";

/** A file that somebody wants to have sent, still at its own address. */
export interface MediaRequest {
  /** Number that sends it. */
  deviceId: number;
  mediaType: SentAs;
  /** http or https; "" when the file itself is given. */
  url: string;
  /** The file itself, instead of its address. */
  bytes?: Uint8Array;
  /** The same, where it is too large for the memory. */
  given?: GivenFile;
  /** Text under an image or video, name of a document. */
  caption?: string;
  /** Text under a document. */
  text?: string;
  /** `vn` makes a voice note of audio; anything else means nothing. */
  ptt?: string;
  /** Ends the download, which then throws its reason. Whoever gives one ends it with the gateway. */
  signal?: AbortSignal;
}

/** A file that came with a request. It lies encrypted on this disk, under a key that nobody else knows, until it is let go. */
export interface GivenFile {
  /** "" when nobody says. */
  fileName: string;
  /** Base64. */
  sha256: string;
  open(): AsyncIterable<Buffer>;
  dispose(): Promise<void>;
}

/** What is known of a file once it lies encrypted on the disk. Byte strings are base64. Stored sealed. */
export interface FileFacts {
  kind: MediaKind;
  mimetype: string;
  /** Bytes before encryption. */
  size: number;
  mediaKey: string;
  /** Of the file as it came, and of what is stored: ciphertext and MAC. */
  sha256: string;
  encSha256: string;
  /** Unix seconds at which the key was made. */
  keyTimestamp: number;
  /** JPEG. */
  thumbnail?: string;
  width?: number;
  height?: number;
  /** Of audio and video. */
  seconds?: number;
  /** Of stickers that move. */
  animated?: true;
  /** Of voice notes: 64 bytes from 0 to 100. */
  waveform?: string;
}

/** Chats get files encrypted; channels get them as they are, and keep them elsewhere. */
export type UploadTarget = "chats" | "channel";

/** Where WhatsApp keeps a file. */
export interface Upload {
  url: string;
  directPath: string;
  /** Of channels: what the post has to name. */
  handle?: string;
  /** Of images in channels: the small picture that WhatsApp has made itself; the hash is base64. */
  thumbnailPath?: string;
  thumbnailSha256?: string;
  /** Unix milliseconds. */
  at: number;
}

/** One stored file, ready to be uploaded and sent. */
export interface OutgoingFile {
  id: string;
  facts: FileFacts;
  /** Null until it was uploaded there. */
  uploaded(target: UploadTarget): Upload | null;
  /**
   * Makes sure that its bytes are at hand: they may lie elsewhere.
   *
   * @returns false when they are not kept any more
   * @throws {GatewayError} UNAVAILABLE: they cannot be had now
   */
  ready(): Promise<boolean>;
  /** To be called once it is `ready`. What is uploaded: ciphertext for chats, the file itself for channels. Read from the disk as it is asked for. */
  content(target: UploadTarget): { bytes: AsyncIterable<Buffer>; length: number; sha256: string };
}

/** What a connection asks for when it sends a file. */
export interface OutgoingFiles {
  /** Null when nothing is known of the file any more. */
  load(id: string): Promise<OutgoingFile | null>;
  /** Resolves when it is stored that the file was uploaded. */
  remember(id: string, target: UploadTarget, upload: Upload): Promise<void>;
}

/** Own files, with keys of their own, made of files that came. */
export interface OwnFiles {
  /** Id that the own file of a message has, once there is one. A message has one, however often it is handed on. */
  idOf(deviceId: number, draft: Pick<ForwardDraft, "raw">): string;
  /**
   * The own file of a message: the one that there is, or else one that is made now of what was kept of it, of what WhatsApp
   * has, or of what the phone stores there again.
   *
   * @returns its id
   * @throws {GatewayError} FILE_UNREACHABLE, FILE_TOO_LARGE, FILE_NOT_USABLE: it cannot be had; UNAVAILABLE: it cannot be had now
   */
  make(deviceId: number, draft: ForwardDraft): Promise<string>;
}
