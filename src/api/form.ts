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
  /** Names of fields whose bytes are not UTF-8. */
  notUtf8: string[];
}

/**
 * @param text  what stands after the `?`, or the body
 * @param lists names of fields that are lists: repeating such a field makes a longer list; of any other the last wins
 */
export function decodeForm(text: string, lists: ReadonlySet<string>): DecodedForm {
  const raw = new Map<string, RawField>();
  const notUtf8: string[] = [];
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const cut = pair.indexOf("=");
    const name = decodeText(cut < 0 ? pair : pair.slice(0, cut));
    const value = decodeText(cut < 0 ? "" : pair.slice(cut + 1));
    if (name === null) continue;
    const field = splitName(name);
    if (value === null) notUtf8.push(field.name);
    else addValue(raw, field, value);
  }
  const fields = Object.fromEntries(
    [...raw].map(([name, field]) => [name, fieldValue(field, lists.has(name))]),
  );
  return { fields, notUtf8 };
}

/** @returns null when the bytes are not UTF-8 */
function decodeText(text: string): string | null {
  const spaced = text.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Either a % that escapes nothing, which stands for itself, or bytes that are not UTF-8.
    try {
      return decodeURIComponent(spaced.replace(/%(?![0-9a-fA-F]{2})/g, "%25"));
    } catch {
      return null;
    }
  }
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
