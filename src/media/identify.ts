import { fileTypeFromBuffer } from "file-type";
import type { MediaRequest } from "../model/media.ts";
import { looksLikeText, rootOfMarkup } from "./text.ts";

/** What a file's own bytes say it is. */
export interface Found {
  mimetype: string;
  /** Usual extension without the dot; "" when unknown. */
  extension: string;
  /** For people: `an HTML page`, `a PNG file (image/png)`. */
  label: string;
}

/** How many bytes of a file's beginning, and of its end, are looked at. */
export const LOOKED_AT_BYTES = 64 * 1024;

const OFFICE = "application/vnd.openxmlformats-officedocument";
const WORD_X: Found = found(`${OFFICE}.wordprocessingml.document`, "docx");
const EXCEL_X: Found = found(`${OFFICE}.spreadsheetml.sheet`, "xlsx");
const ZIP: Found = found("application/zip", "zip");
const WORD: Found = { mimetype: "application/msword", extension: "doc", label: "an old Word document" };
const EXCEL: Found = {
  mimetype: "application/vnd.ms-excel",
  extension: "xls",
  label: "an old Excel workbook",
};
const OLD_OFFICE: Found = { mimetype: "application/x-cfb", extension: "cfb", label: "an old Office file" };

/** Types whose bytes must be looked at from both ends: what a zip or an old Office file is stands anywhere in it. */
export const KNOWN_AT_THE_END: ReadonlySet<MediaRequest["mediaType"]> = new Set([
  "xls",
  "xlsx",
  "doc",
  "docx",
  "zip",
  "document",
]);

/**
 * @param head the first bytes, at most {@link LOOKED_AT_BYTES}
 * @param tail the last ones; may overlap
 */
export async function identify(head: Buffer, tail: Buffer): Promise<Found> {
  const markup = rootOfMarkup(head);
  if (markup === "html") return { mimetype: "text/html", extension: "html", label: "an HTML page" };
  const byMagic = await fileTypeFromBuffer(head).catch(() => undefined);
  if (byMagic?.ext === "cfb") return oldOffice(head, tail);
  if (byMagic?.ext === "zip") return zipped(head, tail);
  if (byMagic !== undefined && byMagic.ext !== "xml") return found(byMagic.mime, byMagic.ext);
  // Scanners and mail programs write lines of their own before the document.
  if (head.subarray(0, 1024).includes("%PDF-")) return found("application/pdf", "pdf");
  if (markup !== null) return { mimetype: "application/xml", extension: "xml", label: "an XML document" };
  if (looksLikeText(head)) return { mimetype: "text/plain", extension: "txt", label: "a plain text" };
  return { mimetype: "application/octet-stream", extension: "", label: "bytes of no known type" };
}

/** Names of zip entries stand before each entry and again at the end of the archive. */
function zipped(head: Buffer, tail: Buffer): Found {
  const holds = (name: string): boolean => head.includes(name) || tail.includes(name);
  if (holds("word/document.xml")) return WORD_X;
  if (holds("xl/workbook.xml")) return EXCEL_X;
  return ZIP;
}

/** The names of an old Office file's streams, in UTF-16, tell what wrote it. */
function oldOffice(head: Buffer, tail: Buffer): Found {
  const holds = (name: string): boolean => {
    const bytes = Buffer.from(name, "utf16le");
    return head.includes(bytes) || tail.includes(bytes);
  };
  if (holds("WordDocument")) return WORD;
  return holds("Workbook") || holds("Book\0") ? EXCEL : OLD_OFFICE;
}

function found(mimetype: string, extension: string): Found {
  const name = extension.toUpperCase();
  const article = /^[AEFHILMNORSX]/.test(name) ? "an" : "a";
  return { mimetype, extension, label: `${article} ${name} file (${mimetype})` };
}

/** What phones show as an image. */
const IMAGES = new Set(["image/jpeg", "image/png", "image/apng", "image/webp", "image/gif"]);
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
      return extension === "doc" || extension === "cfb" ? WORD.mimetype : null;
    case "xls":
      return extension === "xls" || extension === "cfb" ? EXCEL.mimetype : null;
    case "zip": {
      // Archives without a type of their own here (epub, jar, odt) are zips; Word's and Excel's are not.
      const archive = head.subarray(0, 2).toString("latin1") === "PK";
      return archive && extension !== "docx" && extension !== "xlsx" ? ZIP.mimetype : null;
    }
    case "document":
      return extension === "html" ? null : shown;
    default:
      return extension === mediaType ? mimetype : null;
  }
}
