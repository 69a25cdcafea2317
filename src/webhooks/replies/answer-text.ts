/** Of the answer's header, which a stranger writes. Read up to here: no name of a charset is longer. */
const LONGEST_TYPE = 256;
const LONGEST_CHARSET = 40;

/**
 * What a byte order mark says. That of UTF-8 goes before a header; those of UTF-16 count where the header names UTF-16: the contract with
 * webhooks is UTF-8 for what names nothing.
 */
const MARKS: [number[], string][] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xfe, 0xff], "utf-16be"],
  [[0xff, 0xfe], "utf-16le"],
];

/** An answer's text, or why there is none, for people. */
export type AnswerText = { text: string; charset: string } | { problem: string };

/** 0x80 to 0x9f, which some versions of Node leave as they are: https://encoding.spec.whatwg.org/#windows-1252 */
const NO_CONTROLS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const WINDOWS_1252 = Uint16Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x80 && byte < 0xa0 ? NO_CONTROLS.charCodeAt(byte - 0x80) : byte,
);

/**
 * The text of an answer's bytes.
 *
 * @param type the answer's `Content-Type`; null, or without a charset: UTF-8
 * @returns the text without a byte order mark. A charset that nobody knows, and bytes that are no text in it, are a problem
 */
export function textOfAnswer(body: Uint8Array, type: string | null): AnswerText {
  const marked = MARKS.find(([mark]) => mark.every((byte, at) => body[at] === byte))?.[1];
  const named = charsetOf(type);
  const charset = marked === "utf-8" || named.startsWith("utf-16") ? (marked ?? named) : named;
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    return { problem: `the charset "${charset}" is not known` };
  }
  try {
    const { encoding } = decoder;
    const text = encoding === "windows-1252" ? fromWindows1252(body) : decoder.decode(body);
    return { text, charset: encoding };
  } catch {
    return { problem: `the answer is not valid text in ${charset}` };
  }
}

function fromWindows1252(body: Uint8Array): string {
  const units = Buffer.allocUnsafe(2 * body.length);
  for (let at = 0; at < body.length; at++) units.writeUInt16LE(WINDOWS_1252[body[at]!]!, 2 * at);
  return units.toString("utf16le");
}

/** `text/html; charset="ISO-8859-1"` → `iso-8859-1` */
function charsetOf(type: string | null): string {
  for (const parameter of (type ?? "").slice(0, LONGEST_TYPE).split(";").slice(1)) {
    const [name = "", value = ""] = parameter.split("=", 2);
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.replaceAll('"', "").replaceAll("'", "").trim().toLowerCase();
    // Shown on the delivery when it is not known.
    return charset === "" ? "utf-8" : charset.replace(/[^\w.:+-]/g, "?").slice(0, LONGEST_CHARSET);
  }
  return "utf-8";
}
