import { MEDIA_TYPES, type MediaRequest } from "../../model/media/media.ts";
import { isFlag, isObject, textOf } from "../fields.ts";
import { asNumberedText } from "./numbered-text.ts";

/** A file that the answer names. */
export interface MediaReply {
  kind: "media";
  mediaType: MediaRequest["mediaType"];
  /** http or https. */
  url: string;
  /** Text under the file; null when there is none. Only an image, a video and a document show it. */
  caption: string | null;
  /** Documents only; null: the link's own. */
  fileName: string | null;
  /** To be sent as a voice note. */
  voice: boolean;
  quoted: boolean;
  /** Where it stands in the answer, for what is recorded of it. */
  name: string;
}

const LONGEST_NAME = 100;

/** Fields that hold `{url}`, in the order in which they are looked at. */
const FILE_FIELDS = ["image", "video", "audio", "document", "sticker"] as const;
/** What `type` and `media_type` may be. */
const TYPES = [...MEDIA_TYPES, "sticker"] as const;

/**
 * Reads the three shapes of a file: `{type, url, caption, filename}`, `{media_type, url, caption, ptt}` and
 * `{image | video | audio | document | sticker: {url}, caption, fileName, ptt}`.
 *
 * @param name of this reply, for what is recorded
 * @returns null when `value` is none of them; `problem` when it is one and cannot be sent
 */
export function asMedia(
  value: Record<string, unknown>,
  name: string,
): { media: MediaReply; ignored: string[] } | { problem: string } | null {
  const file = fileOf(value);
  if (file === null) return null;
  const url = file.url.trim();
  if (!isWebAddress(url)) return { problem: `${name}: the link to the file is neither http nor https` };
  const { mediaType } = file;
  const { caption, fileName, lost } = wordsOf(value, mediaType);
  const voice = (mediaType === "audio" || mediaType === "mp3") && (value.ptt === "vn" || isFlag(value.ptt));
  const quoted = isFlag(value.quoted);
  return {
    media: { kind: "media", mediaType, url, caption, fileName, voice, quoted, name },
    ignored: lost === null ? [] : [`${name}: ${lost}`],
  };
}

function fileOf(
  value: Record<string, unknown>,
): { mediaType: MediaRequest["mediaType"]; url: string } | null {
  const named = mediaTypeOf(value.media_type) ?? mediaTypeOf(value.type);
  if (named !== null && isText(value.url)) return { mediaType: named, url: value.url };
  for (const field of FILE_FIELDS) {
    const file = value[field];
    if (isObject(file) && isText(file.url)) return { mediaType: field, url: file.url };
  }
  return null;
}

function mediaTypeOf(value: unknown): MediaRequest["mediaType"] | null {
  if (typeof value !== "string") return null;
  const wanted = value.trim().toLowerCase();
  return TYPES.find((known) => known === wanted) ?? null;
}

/**
 * A text field is the caption when there is none. The caption of a document is its file name, as in `/send-media`; when
 * a file name is given too, or the caption can be none, it stands under the document. WhatsApp shows nothing under audio
 * and stickers: that is recorded.
 */
function wordsOf(
  value: Record<string, unknown>,
  mediaType: MediaRequest["mediaType"],
): { caption: string | null; fileName: string | null; lost: string | null } {
  const written = shown(value.caption) ?? shown(textOf(value));
  const choices = asNumberedText(value);
  if (mediaType === "image" || mediaType === "video")
    return { caption: choices ?? written, fileName: null, lost: null };
  if (mediaType === "audio" || mediaType === "sticker") {
    const what = mediaType === "audio" ? "audio" : "a sticker";
    const lost = (choices ?? written) === null ? null : `WhatsApp shows no text with ${what}`;
    return { caption: null, fileName: null, lost };
  }
  const fileName = shown(value.filename) ?? shown(value.fileName);
  if (fileName !== null || choices !== null || (written !== null && !isName(written, value)))
    return { caption: choices ?? written, fileName, lost: null };
  return { caption: null, fileName: written, lost: null };
}

/** Scripts that know no `media_type` write texts of several lines under documents. */
function isName(caption: string, value: Record<string, unknown>): boolean {
  const text = caption.trim();
  return value.media_type !== undefined || (!text.includes("\n") && text.length <= LONGEST_NAME);
}

function shown(value: unknown): string | null {
  const text = typeof value === "number" ? String(value) : value;
  return isText(text) ? text : null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}
