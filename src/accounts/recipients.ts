/**
 * Whom a key may write to. An entry of `recipients` is a destination, or a pattern of one kind of destination; what kind a
 * text is of, its host says, and digits alone are phone numbers.
 */

/** Every destination of every kind. */
const ANYBODY = "*";
/** Kinds are hosts; phone numbers have none. */
const NUMBER = "";
const LID = "@lid";

/** One place to write to, under the names that are known of it. */
export interface Contact {
  /** Normalised, as `results[].number` shows it: digits, `…@lid`, `…@g.us` or `…@newsletter`. */
  destination: string;
  /** Other names of the same person: the digits behind a LID, or the LIDs of a number; empty when none is known. */
  aliases: string[];
}

/**
 * Whether the entries cover a contact. One who is known by LID and number is judged by the number; an entry without a star
 * names a person, under whichever name.
 */
export function coversContact(entries: string[], { destination, aliases }: Contact): boolean {
  const names = [destination, ...aliases];
  const judged = names.find((name) => kindOf(name) === NUMBER) ?? destination;
  return entries.some((entry) => names.includes(entry) || covers(entry, judged));
}

/**
 * Whether a key with the entry `own` may hand on the entry `wanted`: `4915*` covers `49151234567` and `49151*`, and no LID,
 * group or channel.
 */
export function coversEntry(own: string, wanted: string): boolean {
  // Named, a person is judged by that name; by a pattern, by the number, which may be one that the key may not write to.
  if (own !== ANYBODY && own !== wanted && kindOf(wanted) === LID && !wanted.includes("*")) return false;
  return covers(own, wanted);
}

/** What `text` names must be of the pattern's own kind. A wanted pattern compares with its star: `49*` is not within `491*`. */
function covers(pattern: string, text: string): boolean {
  if (pattern === text || pattern === ANYBODY) return true;
  const star = pattern.indexOf("*");
  if (star === -1 || text === ANYBODY || kindOf(pattern) !== kindOf(text)) return false;
  return text.startsWith(pattern.slice(0, star));
}

function kindOf(text: string): string {
  const at = text.indexOf("@");
  const host = at === -1 ? NUMBER : text.slice(at);
  return host === "@s.whatsapp.net" ? NUMBER : host;
}
