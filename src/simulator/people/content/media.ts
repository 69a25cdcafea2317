import type { proto } from "@whiskeysockets/baileys";
import type { FileContent, MediaBody, MessageBody } from "../../surface/content.ts";
import { type FileClaims, type FileKind, encryptFile, sha256 } from "../messages/media-file.ts";
import { contextOf, readContext } from "./context.ts";
import type { Desk, Extras } from "./context.ts";
import type { ContentKind } from "./kind.ts";

/** A message's file in any of the shapes that have one. */
type FileMessage = FileClaims & {
  url?: string | null;
  directPath?: string | null;
  mimetype?: string | null;
  caption?: string | null;
  fileName?: string | null;
  seconds?: number | null;
  ptt?: boolean | null;
  waveform?: Uint8Array | null;
  width?: number | null;
  height?: number | null;
  jpegThumbnail?: Uint8Array | null;
  pngThumbnail?: Uint8Array | null;
  gifPlayback?: boolean | null;
  isAnimated?: boolean | null;
  contextInfo?: proto.IContextInfo | null;
};

/** The protobuf fields that hold a file, and how its key is derived. */
const FIELDS = [
  ["imageMessage", "image"],
  ["videoMessage", "video"],
  ["ptvMessage", "video"],
  ["audioMessage", "audio"],
  ["documentMessage", "document"],
  ["stickerMessage", "sticker"],
] as const satisfies [keyof proto.IMessage, FileKind][];

const USUAL_TYPES: Record<FileContent["kind"], string> = {
  image: "image/jpeg",
  video: "video/mp4",
  audio: "audio/mpeg",
  voice: "audio/ogg; codecs=opus",
  document: "application/octet-stream",
  sticker: "image/webp",
};

/** How a file's key is derived, and under which path it is stored. */
const keyKind = (kind: FileContent["kind"]): FileKind => (kind === "voice" ? "audio" : kind);
const pathOf = (kind: FileContent["kind"]): string => (kind === "sticker" ? "image" : keyKind(kind));

/** The file in a message; undefined when there is none. */
export function fileOf(
  message: proto.IMessage,
): { field: (typeof FIELDS)[number][0]; kind: FileKind; file: FileMessage } | undefined {
  for (const [field, kind] of FIELDS) {
    const file = message[field];
    if (file) return { field, kind, file };
  }
  return undefined;
}

/** A file as a phone sends it: encrypted with its own key, uploaded and described. In channels it is not encrypted. */
export function composeFile(
  content: FileContent,
  desk: Desk,
  extras: Extras,
  where: { inChannel: boolean },
): proto.IMessage {
  const message = describeFile(content, desk, extras, where);
  if (!content.viewOnce) return message;
  const { imageMessage, videoMessage, audioMessage } = message;
  const file = imageMessage ?? videoMessage ?? audioMessage;
  if (!file) throw new Error(`nobody sends a ${content.kind} for one look`);
  file.viewOnce = true;
  return audioMessage ? { viewOnceMessageV2Extension: { message } } : { viewOnceMessageV2: { message } };
}

function describeFile(
  content: FileContent,
  desk: Desk,
  extras: Extras,
  { inChannel }: { inChannel: boolean },
): proto.IMessage {
  const facts = inChannel ? storePlain(content, desk) : storeEncrypted(content, desk);
  const { thumbnail: jpegThumbnail, width, height, mimetype = USUAL_TYPES[content.kind] } = content;
  const base = { ...facts, mimetype, contextInfo: contextOf(extras) };
  const look = { width, height, jpegThumbnail };
  switch (content.kind) {
    case "image":
      return { imageMessage: { ...base, ...look, caption: content.caption } };
    case "video": {
      const { caption, seconds, gif: gifPlayback } = content;
      const video = { ...base, ...look, caption, seconds, gifPlayback };
      return content.note ? { ptvMessage: video } : { videoMessage: video };
    }
    case "audio":
      return { audioMessage: { ...base, seconds: content.seconds, ptt: false } };
    case "voice":
      return {
        audioMessage: { ...base, seconds: content.seconds, waveform: content.waveform, ptt: true },
      };
    case "document":
      return composeDocument(content, { ...base, jpegThumbnail });
    case "sticker":
      return { stickerMessage: { ...base, width, height, isAnimated: content.animated } };
  }
}

/** A document with a caption gets another wrapper. */
function composeDocument(
  { fileName, caption, pages: pageCount }: Extract<FileContent, { kind: "document" }>,
  base: proto.Message.IDocumentMessage,
): proto.IMessage {
  const documentMessage = { ...base, fileName, title: fileName, pageCount, caption };
  if (caption === undefined) return { documentMessage };
  return { documentWithCaptionMessage: { message: { documentMessage } } };
}

function storeEncrypted(content: FileContent, desk: Desk) {
  const mediaKey = desk.random.bytes(32);
  const { bytes, ...facts } = encryptFile(bytesOf(content), mediaKey, keyKind(content.kind));
  const mediaKeyTimestamp = content.madeAt ?? Math.floor(desk.now() / 1000);
  return { ...facts, mediaKey, mediaKeyTimestamp, ...desk.store(pathOf(content.kind), bytes) };
}

function storePlain(content: FileContent, desk: Desk) {
  const file = bytesOf(content);
  const { directPath } = desk.store(`newsletter-${pathOf(content.kind)}`, file);
  return { directPath, fileSha256: sha256(file), fileLength: file.length };
}

function bytesOf({ kind, bytes }: FileContent): Uint8Array {
  if (!bytes) throw new Error(`a message of kind ${kind} needs the bytes of its file`);
  return bytes;
}

/** Every message with a file. */
export const media: ContentKind = {
  stanzaType: "media",
  read(message) {
    const found = fileOf(message);
    if (!found) return undefined;
    const { file, kind } = found;
    const body: MessageBody = {
      kind: kind === "audio" && file.ptt ? "voice" : kind,
      media: describe(file),
      ...readContext(file.contextInfo),
    };
    return file.caption ? { ...body, text: file.caption } : body;
  },
  envelope(message) {
    const { kind, file } = fileOf(message)!;
    if (kind === "audio") return { mediaType: file.ptt ? "ptt" : "audio" };
    return { mediaType: kind === "video" && file.gifPlayback ? "gif" : kind };
  },
};

function describe(file: FileMessage): MediaBody {
  const body: MediaBody = {
    mimetype: file.mimetype ?? "",
    size: Number(file.fileLength ?? 0),
    sha256: Buffer.from(file.fileSha256 ?? []).toString("hex"),
    thumbnailBytes: (file.jpegThumbnail ?? file.pngThumbnail)?.length ?? 0,
    directPath: file.directPath ?? "",
    encrypted: Boolean(file.mediaKey?.length),
  };
  const { fileName, seconds, width, height, waveform } = file;
  if (fileName) body.fileName = fileName;
  if (seconds) body.seconds = seconds;
  if (width) body.width = width;
  if (height) body.height = height;
  if (file.ptt != null) body.ptt = file.ptt;
  if (waveform?.length) body.waveform = [...waveform];
  if (file.gifPlayback) body.gif = true;
  if (file.isAnimated) body.animated = true;
  return body;
}
