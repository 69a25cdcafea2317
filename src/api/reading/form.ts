import { isUtf8 } from "node:buffer";

/**
 * Query strings and form bodies, decoded as PHP does: the scripts that call these endpoints were written against PHP.
 * `+` is a space, a stray `%` stands for itself, `name[]` and `name[3]` make lists, `name[key]` makes a record.
 */

/** One field as it came: the values in order, and those that had brackets after the name. */
interface RawField {
  plain: string[];
  bracketed: Map<string, string>;
  /** What `name[]` becomes: one more than the highest index so far. */
  nextIndex: number;
}

interface DecodedForm {
  fields: Record<string, unknown>;
  /** Names of fields whose bytes are not UTF-8; a name that is not itself stands there as `�`. */
  notUtf8: string[];
}

/** No endpoint has nearly as many; each costs a look at a map. */
export const MAX_PAIRS = 1_000;

/**
 * @param text  what stands after the `?`, or the body
 * @param lists names of fields that are lists: repeating such a field makes a longer list; of any other the last wins
 * @returns null when there are more than `MAX_PAIRS`
 */
export function decodeForm(text: string, lists: ReadonlySet<string>): DecodedForm | null {
  const raw = new Map<string, RawField>();
  const notUtf8: string[] = [];
  // One more than may be is enough to know, and a mebibyte of `&` makes no list of a million.
  const pairs = text.split("&", MAX_PAIRS + 1);
  if (pairs.length > MAX_PAIRS) return null;
  for (const pair of pairs) {
    if (pair === "") continue;
    const cut = pair.indexOf("=");
    const name = decodeText(cut < 0 ? pair : pair.slice(0, cut));
    const value = decodeText(cut < 0 ? "" : pair.slice(cut + 1));
    const field = splitName(name ?? "�");
    if (name === null || value === null) notUtf8.push(field.name);
    else addValue(raw, field, value);
  }
  const fields = Object.fromEntries(
    [...raw].map(([name, field]) => [name, fieldValue(field, lists.has(name))]),
  );
  return { fields, notUtf8 };
}

const PERCENT = 0x25;

/**
 * Undoes `%XX` and `+` in one walk, without exceptions: `decodeURIComponent` throws for what is malformed, and a body of
 * 1 MiB can make it throw half a million times. A `%` that escapes nothing stands for itself.
 *
 * @returns null when the bytes are not UTF-8
 */
function decodeText(text: string): string | null {
  const spaced = text.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  const bytes = Buffer.from(spaced, "utf8");
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escaped =
      bytes[at] === PERCENT ? hexDigit(bytes[at + 1]) * 16 + hexDigit(bytes[at + 2]) : Number.NaN;
    if (!Number.isNaN(escaped)) at += 2;
    bytes[length++] = Number.isNaN(escaped) ? bytes[at]! : escaped;
  }
  const decoded = bytes.subarray(0, length);
  return isUtf8(decoded) ? decoded.toString("utf8") : null;
}

/** @returns NaN when it is none */
function hexDigit(code: number | undefined): number {
  if (code === undefined) return Number.NaN;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

/** `option[2]` → `option`, `2`. Deeper brackets are dropped: no field has them. */
function splitName(text: string): { name: string; key: string | null } {
  const name = text.trimStart();
  const open = name.indexOf("[");
  const close = name.indexOf("]", open);
  if (open < 1 || close < 0) return { name, key: null };
  return { name: name.slice(0, open), key: name.slice(open + 1, close) };
}

function addValue(
  raw: Map<string, RawField>,
  { name, key }: { name: string; key: string | null },
  value: string,
): void {
  const field: RawField = raw.get(name) ?? { plain: [], bracketed: new Map(), nextIndex: 0 };
  raw.set(name, field);
  if (key === null) {
    field.plain.push(value);
    return;
  }
  const index = key === "" ? String(field.nextIndex) : key;
  if (isIndex(index)) field.nextIndex = Math.max(field.nextIndex, Number(index) + 1);
  field.bracketed.set(index, value);
}

function fieldValue(field: RawField, isList: boolean): unknown {
  if (field.bracketed.size === 0) return isList ? field.plain : field.plain.at(-1);
  const entries = [...field.bracketed];
  if (!entries.every(([key]) => isIndex(key))) return Object.fromEntries(entries);
  const sorted = entries.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
  return [...field.plain, ...sorted];
}

const isIndex = (key: string): boolean => /^\d{1,6}$/.test(key);
