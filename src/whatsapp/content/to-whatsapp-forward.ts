import type { proto } from "@whiskeysockets/baileys";
import type { ForwardDraft } from "../../model/content/drafts.ts";
import { baileys } from "../baileys.ts";
import { fileIn } from "./content.ts";
import { placeOf, type StoredFile } from "./to-whatsapp-media.ts";

/** What belongs to a file under its old key, to its old place, or to the old chat: it does not fit a file that was stored again. */
const OF_THE_OLD_FILE = new Set([
  "contextInfo",
  "url",
  "directPath",
  "staticUrl",
  "mediaKey",
  "mediaKeyTimestamp",
  "mediaKeyDomain",
  "fileSha256",
  "fileLength",
  "fileEncSha256",
  "streamingSidecar",
  "firstFrameLength",
  "firstFrameSidecar",
  "scansSidecar",
  "scanLengths",
  "firstScanSidecar",
  "firstScanLength",
  "midQualityFileSha256",
  "midQualityFileEncSha256",
  "thumbnailDirectPath",
  "thumbnailSha256",
  "thumbnailEncSha256",
]);

/**
 * The file of a message that came, with nothing else of it: what it quoted, and whom it mentioned, was said elsewhere.
 *
 * @param stored where the file lies now, when it was stored again; absent: it lies where the message says
 */
export function forwardToWhatsApp(
  { raw, caption }: ForwardDraft,
  contextInfo: proto.IContextInfo | null,
  stored?: StoredFile,
): proto.IMessage {
  if (stored !== undefined) return storedAgain(raw, caption, contextInfo, stored);
  const message = baileys.normalizeMessageContent(baileys.proto.Message.decode(Buffer.from(raw, "base64")));
  const field = baileys.getContentType(message ?? undefined);
  if (!message || field === undefined) throw new TypeError("The message to hand on holds nothing.");
  const { contextInfo: _, ...content } = (message as Record<string, object>)[field] as {
    contextInfo?: unknown;
  };
  return { [field]: { ...content, ...(contextInfo !== null && { contextInfo }) } };
}

function storedAgain(
  raw: string,
  caption: string | undefined,
  contextInfo: proto.IContextInfo | null,
  stored: StoredFile,
): proto.IMessage {
  const file = fileIn(raw);
  if (file === null) throw new TypeError("The message to hand on has no file.");
  const stays = Object.entries(file.message).filter(([field]) => !OF_THE_OLD_FILE.has(field));
  return {
    [file.field]: {
      ...placeOf(stored),
      ...Object.fromEntries(stays),
      ...(caption !== undefined && { caption }),
      ...(contextInfo !== null && { contextInfo }),
    },
  };
}
