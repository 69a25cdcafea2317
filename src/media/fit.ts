import type { MediaRequest } from "../model/media/media.ts";
import type { Found } from "./decoder/identify.ts";

/** How many bytes of a file's beginning, and of its end, are looked at. */
export const LOOKED_AT_BYTES = 64 * 1024;

/** Types whose bytes must be looked at from both ends: what a zip or an old Office file is stands anywhere in it. */
export const KNOWN_AT_THE_END: ReadonlySet<MediaRequest["mediaType"]> = new Set([
  "xls",
  "xlsx",
  "doc",
  "docx",
  "zip",
  "document",
]);

/** What phones show as an image. */
const IMAGES = new Set(["image/jpeg", "image/png", "image/apng", "image/webp", "image/gif"]);
/** Whatever it was before. */
const STICKER_MIMETYPE = "image/webp";
/** Names that differ from those that WhatsApp uses. */
const ALIASES: Record<string, string> = {
  "image/apng": "image/png",
  "audio/x-m4a": "audio/mp4",
  "video/x-m4v": "video/mp4",
};
/** Containers that often hold sound alone; whether this one does is seen when it is read. */
const MAYBE_SOUND = new Set(["video/mp4", "video/webm", "video/matroska", "video/3gpp", "video/ogg"]);

/**
 * Whether a file is what its sender calls it.
 *
 * @returns the mimetype for the message, or null when the bytes contradict `mediaType`
 */
export function mimetypeFor(
  mediaType: MediaRequest["mediaType"],
  { mimetype, extension }: Found,
  head: Buffer,
): string | null {
  const shown = ALIASES[mimetype] ?? mimetype;
  switch (mediaType) {
    case "sticker":
      return IMAGES.has(mimetype) ? STICKER_MIMETYPE : null;
    case "image":
      return IMAGES.has(mimetype) ? shown : null;
    case "video":
      return mimetype.startsWith("video/") ? shown : null;
    case "audio":
      if (MAYBE_SOUND.has(mimetype)) return mimetype.replace("video/", "audio/");
      return mimetype.startsWith("audio/") ? shown : null;
    case "mp3":
      return extension === "mp3" ? "audio/mpeg" : null;
    case "doc":
      return extension === "doc" || extension === "cfb" ? "application/msword" : null;
    case "xls":
      return extension === "xls" || extension === "cfb" ? "application/vnd.ms-excel" : null;
    case "zip": {
      // Archives without a type of their own here (epub, jar, odt) are zips; Word's and Excel's are not.
      const archive = head.subarray(0, 2).toString("latin1") === "PK";
      return archive && extension !== "docx" && extension !== "xlsx" ? "application/zip" : null;
    }
    case "document":
      return extension === "html" ? null : shown;
    default:
      return extension === mediaType ? mimetype : null;
  }
}
