import type { proto } from "@whiskeysockets/baileys";
import type { IncomingMedia, MediaKind } from "../../model/messages.ts";
import { plainName } from "../../model/media/file-name.ts";
import { plainMediaType } from "../../model/media/media-type.ts";
import { baileys } from "../baileys.ts";

/** The protobuf fields that hold a file, as far as they are alike. */
interface FileMessage {
  mimetype?: string | null;
  fileName?: string | null;
  title?: string | null;
  fileLength?: proto.Message.IImageMessage["fileLength"];
  mediaKeyTimestamp?: proto.Message.IImageMessage["mediaKeyTimestamp"];
  seconds?: number | null;
  ptt?: boolean | null;
  url?: string | null;
  directPath?: string | null;
  mediaKey?: Uint8Array | null;
  fileSha256?: Uint8Array | null;
}

const FILES: Record<string, { kind: MediaKind; mimetype: string }> = {
  imageMessage: { kind: "image", mimetype: "image/jpeg" },
  videoMessage: { kind: "video", mimetype: "video/mp4" },
  ptvMessage: { kind: "video", mimetype: "video/mp4" },
  audioMessage: { kind: "audio", mimetype: "audio/ogg; codecs=opus" },
  documentMessage: { kind: "document", mimetype: "application/octet-stream" },
  stickerMessage: { kind: "sticker", mimetype: "image/webp" },
};

/** A message's file, and what kind of file it is; null when it has none. */
export interface FoundFile {
  /** The protobuf field that it stands in. */
  field: string;
  kind: MediaKind;
  message: FileMessage;
  media: IncomingMedia;
}

/** @param content a message's own content, without what it was wrapped in */
export function findFile(content: proto.IMessage): FoundFile | null {
  const header = content.interactiveMessage?.header;
  const holder = (header ?? content) as Record<string, unknown>;
  for (const [field, { kind: usual, mimetype }] of Object.entries(FILES)) {
    const message = holder[field] as FileMessage | null | undefined;
    if (!message) continue;
    const kind = usual === "audio" && message.ptt ? "voice" : usual;
    const seconds = message.seconds ?? 0;
    const media: IncomingMedia = {
      kind,
      mimetype: plainMediaType(message.mimetype ?? "") ?? mimetype,
      fileName: kind === "document" ? plainName(message.fileName || message.title || "") : "",
      size: baileys.toNumber(message.fileLength ?? 0),
      ...(seconds > 0 && { seconds }),
    };
    return { field, kind, message, media };
  }
  return null;
}
