import { percentDecoded } from "../model/percent.ts";
import { nameOfWords, plainName, withExtension } from "../model/media/file-name.ts";

/**
 * Name under which a document arrives: the caption, else what the server calls the file, else the last part of its
 * address, else "file". Its extension is appended when the name has none.
 *
 * @param extension   without the dot; "" when the file is of no known type
 * @param disposition the header `Content-Disposition`, or null
 */
export function documentName(
  extension: string,
  caption: string | undefined,
  disposition: string | null,
  url: string,
): string {
  const given =
    nameOfWords(caption ?? "") || plainName(namedBy(disposition)) || plainName(lastSegment(url)) || "file";
  return withExtension(given, extension);
}

/** RFC 6266: `filename*` with its character set counts before `filename`. */
function namedBy(disposition: string | null): string {
  if (disposition === null) return "";
  const extended = /;\s*filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)/i.exec(disposition);
  if (extended !== null) {
    const [, charset = "", value = ""] = extended;
    if (/^utf-8$/i.test(charset)) return percentDecoded(value);
    return value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  }
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  return asUtf8(quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "");
}

/** Headers come as Latin-1; most servers have written UTF-8. */
function asUtf8(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

/** @param url "" when there is none */
function lastSegment(url: string): string {
  if (url === "") return "";
  return percentDecoded(new URL(url).pathname.split("/").at(-1) ?? "");
}
