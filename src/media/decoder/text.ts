/** What can be told of files without magic bytes: text is text, and markup names its root. */

const HTML_STARTS =
  /^<(?:!doctype\s+html|html|head|body|title|script|meta|link|style|iframe|div|p|table|h1)\b/i;

/**
 * The first element's name when the bytes are markup; `html` for anything that a browser shows as a page.
 *
 * @returns lower case; null when it is no markup
 */
export function rootOfMarkup(head: Buffer): string | null {
  if (!looksLikeText(head)) return null;
  let rest = decode(head).trimStart();
  for (;;) {
    if (HTML_STARTS.test(rest)) return "html";
    // The declaration, comments and the document type stand before the root, in any number.
    const before = /^(?:<\?[^]*?\?>|<!--[^]*?-->|<!doctype(?:[^>[]|\[[^\]]*\])*>)\s*/i.exec(rest);
    if (before === null) break;
    rest = rest.slice(before[0].length);
  }
  const root = /^<([\p{L}_][\p{L}\p{N}_.:-]*)(?=[\s/>])/u.exec(rest)?.[1];
  return root?.toLowerCase() ?? null;
}

/** Text in UTF-8, UTF-16 with its mark, or one of the old eight-bit sets: no control characters but white space. */
export function looksLikeText(bytes: Buffer): boolean {
  if (utf16Of(bytes) !== null) return true;
  for (const byte of bytes) if (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b) return false;
  return bytes.length > 0;
}

function decode(bytes: Buffer): string {
  const wide = utf16Of(bytes);
  if (wide !== null) return new TextDecoder(wide).decode(bytes);
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function utf16Of(bytes: Buffer): "utf-16le" | "utf-16be" | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : null;
}
