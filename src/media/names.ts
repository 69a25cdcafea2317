/** An extension has a letter in it: "Report 2024.10" has none, and "archive.7z" has one. */
const EXTENSION = /\.(?=[a-z0-9]*[a-z])[a-z0-9]{1,8}$/i;
const MAX_NAME_CHARACTERS = 240;

/**
 * Name under which a document arrives: the caption, else what the server calls the file, else the last part of its
 * address. Its extension is appended when the name has none.
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
  const given = caption?.trim() || plain(namedBy(disposition)) || plain(lastSegment(url)) || "file";
  if (EXTENSION.test(given) || extension === "") return given;
  let end = given.length;
  // By hand: a pattern anchored at the end takes quadratic time on a long row of dots.
  while (given[end - 1] === ".") end--;
  return `${given.slice(0, end)}.${extension}`;
}

/** Names that come from elsewhere are names only: no folders, nothing that cannot be seen. */
function plain(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  // eslint-disable-next-line no-control-regex
  const visible = last.replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").trim();
  if (visible.length <= MAX_NAME_CHARACTERS) return visible;
  const extension = EXTENSION.exec(visible)?.[0] ?? "";
  return visible.slice(0, MAX_NAME_CHARACTERS - extension.length).toWellFormed() + extension;
}

/** RFC 6266: `filename*` with its character set counts before `filename`. */
function namedBy(disposition: string | null): string {
  if (disposition === null) return "";
  const extended = /;\s*filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)/i.exec(disposition);
  if (extended !== null) {
    const [, charset = "", value = ""] = extended;
    if (/^utf-8$/i.test(charset)) return decoded(value);
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

function lastSegment(url: string): string {
  return decoded(new URL(url).pathname.split("/").at(-1) ?? "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
