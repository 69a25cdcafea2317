import { fileTypeFromBuffer } from "file-type";
import { looksLikeText, rootOfMarkup } from "./text.ts";

/** What a file's own bytes say it is. */
export interface Found {
  mimetype: string;
  /** Usual extension without the dot; "" when unknown. */
  extension: string;
  /** For people: `an HTML page`, `a PNG file (image/png)`. */
  label: string;
}

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

/**
 * What a file's own bytes say it is.
 *
 * @param head the first bytes, 64 KiB or a little more
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
