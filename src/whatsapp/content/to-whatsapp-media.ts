import type { proto } from "@whiskeysockets/baileys";
import type { FileFacts, Upload, UploadTarget } from "../../model/media/media.ts";
import type { MediaDraft } from "../../model/content/drafts.ts";

/** A file as a message names it. */
export interface StoredFile {
  facts: FileFacts;
  upload: Upload;
  target: UploadTarget;
}

/** The protobuf of a draft with a file: all of it comes from what is stored. */
export function mediaToWhatsApp(
  { caption, fileName, ...draft }: MediaDraft,
  file: StoredFile,
  contextInfo: proto.IContextInfo | null,
): proto.IMessage {
  const { facts } = file;
  const common = { ...placeOf(file), ...(contextInfo ? { contextInfo } : {}) };
  const text = caption === undefined ? {} : { caption };
  const seconds = facts.seconds === undefined ? {} : { seconds: facts.seconds };
  switch (draft.kind) {
    case "image":
      return { imageMessage: { ...common, ...pictureOf(facts), ...text } };
    case "video":
      return { videoMessage: { ...common, ...pictureOf(facts), ...seconds, ...text } };
    case "audio":
      return { audioMessage: { ...common, ...seconds, ptt: false } };
    case "voice":
      return { audioMessage: { ...common, ...seconds, ptt: true, waveform: bytes(facts.waveform) } };
    case "sticker":
      return { stickerMessage: { ...common, ...stickerOf(facts) } };
    case "document":
      return { documentMessage: { ...common, fileName, title: fileName, ...text } };
  }
}

/** Where a file lies, and what opens it. Channels carry no keys: their files are not encrypted. */
export function placeOf({ facts, upload, target }: StoredFile) {
  const place = {
    url: upload.url,
    directPath: upload.directPath,
    mimetype: facts.mimetype,
    fileSha256: bytes(facts.sha256),
    fileLength: facts.size,
  };
  const { thumbnailPath, thumbnailSha256 } = upload;
  if (target === "channel")
    return thumbnailPath === undefined
      ? place
      : { ...place, thumbnailDirectPath: thumbnailPath, thumbnailSha256: bytes(thumbnailSha256) };
  return {
    ...place,
    mediaKey: bytes(facts.mediaKey),
    fileEncSha256: bytes(facts.encSha256),
    mediaKeyTimestamp: facts.keyTimestamp,
  };
}

const pictureOf = ({ width, height, thumbnail }: FileFacts) => ({
  ...(width === undefined ? {} : { width, height }),
  ...(thumbnail === undefined ? {} : { jpegThumbnail: bytes(thumbnail) }),
});

const stickerOf = ({ width, height, animated }: FileFacts) => ({
  width,
  height,
  ...(animated && { isAnimated: true }),
});

const bytes = (base64: string | undefined): Buffer | undefined =>
  base64 === undefined ? undefined : Buffer.from(base64, "base64");
