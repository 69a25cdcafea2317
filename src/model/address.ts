/**
 * Addresses as people and programs write them, and patterns of them: whom a key may write to, of whom a listener is told. What WhatsApp
 * calls them is made here and nowhere else.
 */

export type DestinationKind = "number" | "lid" | "group" | "channel";

/** One place to send to. */
export interface Destination {
  kind: DestinationKind;
  /** Normalised, as `results[].number` shows it: digits, `…@lid`, `…@g.us` or `…@newsletter`. */
  number: string;
  /** Address on the wire. */
  jid: string;
}

type ParsedDestinations =
  | { ok: true; destinations: Destination[] }
  /** What is wrong, for people; nothing may be sent. */
  | { ok: false; problem: string };

const MAX_DESTINATIONS = 10;

const NUMBER_JID = /@(?:s\.whatsapp\.net|c\.us)$/i;
/** Groups made before 2021 are `<creator>-<time>`. */
const GROUP = /^\d{1,32}(?:-\d{1,32})?@g\.us$/;
const CHANNEL = /^\d{1,32}@newsletter$/;
const CHANNEL_LINK = /^(?:https?:\/\/)?(?:www\.)?whatsapp\.com\/channel\/([\w-]+)(?:[/?#].*)?$/i;
const LID = /^[1-9]\d{0,31}@lid$/;

/**
 * A phone number in any usual spelling.
 *
 * @param text spaces, `+`, `-`, `(`, `)`, `.`, one leading `00` and one `(0)` behind the country code are dropped; `…@s.whatsapp.net` and `…@c.us` are read
 *   as their digits
 * @returns 7 to 15 digits that do not start with 0, or null
 */
export function parseNumber(text: string): string | null {
  const digits = digitsIn(text.trim().replace(NUMBER_JID, ""));
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : null;
}

/** What is left of a spelling. `(0)` is dialled at home only, and never behind the country code. */
function digitsIn(spelling: string): string {
  return spelling
    .replace(/[\s+\-.]/g, "")
    .replace(/^(\(?\d+\)?)\(0\)/, "$1")
    .replace(/[()]/g, "")
    .replace(/^00/, "");
}

/** @returns the one destination that `text` names, or null when it is malformed */
export function parseDestination(text: string): Destination | null {
  const address = text.trim().toLowerCase();
  if (GROUP.test(address)) return { kind: "group", number: address, jid: address };
  if (CHANNEL.test(address)) return { kind: "channel", number: address, jid: address };
  if (LID.test(address)) return { kind: "lid", number: address, jid: address };
  const number = parseNumber(text);
  return number === null ? null : { kind: "number", number, jid: `${number}@s.whatsapp.net` };
}

/**
 * The `number` field of a send.
 *
 * @param text destinations separated by `|`; empty parts are dropped, duplicates after normalising are one
 * @returns 1 to {@link MAX_DESTINATIONS} destinations in first-seen order, or what is wrong with the first bad one
 */
export function parseDestinations(text: string): ParsedDestinations {
  const found = new Map<string, Destination>();
  for (const part of text.split("|")) {
    if (part.trim() === "") continue;
    const destination = parseDestination(part);
    if (destination === null) return { ok: false, problem: malformed(part.trim()) };
    // A Map keeps the place of what it has already.
    found.set(destination.number, destination);
  }
  if (found.size === 0) return { ok: false, problem: "Must have at least one destination." };
  if (found.size > MAX_DESTINATIONS)
    return {
      ok: false,
      problem: `Must have at most ${MAX_DESTINATIONS} destinations; this request has ${found.size}.`,
    };
  return { ok: true, destinations: [...found.values()] };
}

/**
 * A channel as people name it.
 *
 * @param text its invite link, the code of that link, or its id with or without `@newsletter`
 */
export function parseChannel(text: string): { invite: string } | { id: string } | null {
  const given = text.trim();
  if (CHANNEL.test(given.toLowerCase())) return { id: given.toLowerCase() };
  if (/^\d{8,32}$/.test(given)) return { id: `${given}@newsletter` };
  const invite = CHANNEL_LINK.exec(given)?.[1] ?? given;
  return /^[\w-]{8,64}$/.test(invite) && /[A-Za-z]/.test(invite) ? { invite } : null;
}

/**
 * A LID as `/resolve-lid` takes it: digits with or without `@lid`; a `:device` part is dropped.
 *
 * @returns `<digits>@lid`, or null
 */
export function parseLid(text: string): string | null {
  const digits = /^(\d{1,32})(?::\d{1,5})?(?:@lid)?$/i.exec(text.trim())?.[1];
  return digits === undefined ? null : `${digits}@lid`;
}

/** Digits before a star, and the kind of destination behind it; for groups with the `-` of those made before 2021. */
const PATTERNS: Record<string, RegExp> = {
  "@g.us": /^(?:\d{1,32}(?:-\d{0,32})?)?$/,
  "@newsletter": /^\d{0,32}$/,
  "@lid": /^\d{0,32}$/,
};

/**
 * One entry of a key's `recipients`: a destination, or a pattern of one kind: `4915*` phone numbers, `120363*@g.us` groups,
 * `*@newsletter` channels, `*@lid` LIDs, `*` everybody.
 *
 * @returns the normalised entry, or null when it can match nothing
 */
export function parseRecipient(text: string): string | null {
  const entry = text.trim().toLowerCase();
  const star = entry.indexOf("*");
  if (star === -1) return parseDestination(entry)?.number ?? null;
  const [start, host] = [entry.slice(0, star).trim(), entry.slice(star + 1)];
  const ofKind = PATTERNS[host];
  if (ofKind !== undefined) return ofKind.test(start) ? `${start}*${host}` : null;
  const onlyNumbers = NUMBER_JID.test(host);
  if (host !== "" && !(onlyNumbers && host.replace(NUMBER_JID, "") === "")) return null;
  const digits = digitsIn(start);
  if (!/^\d{0,15}$/.test(digits)) return null;
  return digits === "" && onlyNumbers ? "*@s.whatsapp.net" : `${digits}*`;
}

/** Every destination of every kind. */
const ANYBODY = "*";
/** Kinds are hosts; phone numbers have none. */
const NUMBER_HOST = "";
const LID_HOST = "@lid";

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
  const judged = names.find((name) => kindOf(name) === NUMBER_HOST) ?? destination;
  return entries.some((entry) => names.includes(entry) || covers(entry, judged));
}

/**
 * Whether a key with the entry `own` may hand on the entry `wanted`: `4915*` covers `49151234567` and `49151*`, and no LID,
 * group or channel.
 */
export function coversEntry(own: string, wanted: string): boolean {
  // Named, a person is judged by that name; by a pattern, by the number, which may be one that the key may not write to.
  if (own !== ANYBODY && own !== wanted && kindOf(wanted) === LID_HOST && !wanted.includes("*")) return false;
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
  const host = at === -1 ? NUMBER_HOST : text.slice(at);
  return host === "@s.whatsapp.net" ? NUMBER_HOST : host;
}

function malformed(part: string): string {
  const shown = part.length > 40 ? `${part.slice(0, 40)}…` : part;
  return `"${shown}" is not a destination. Use 7 to 15 digits with the country code, or …@g.us, …@newsletter, …@lid.`;
}
