import { contacts } from "../../../drizzle/schema.ts";
import type { Logger } from "../../log.ts";
import { createLru } from "../../model/lru.ts";
import { DAY_MS } from "../../model/time.ts";
import type { Incoming } from "../../model/messages.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import { defineQuery, nullable } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { BookEntry } from "../../whatsapp/port/contacts.ts";
import type { MovedPerson } from "../../whatsapp/port/happenings.ts";
import { isPerson, numberIn, NO_NAMES, openNames, sealed, type ContactNames } from "./record.ts";

/** Somebody of whom something has come, and what it says of him: what is left out stays as it was. */
export interface SeenPerson {
  /** Canonical address. */
  person: string;
  /** Under which he was before. */
  before?: string;
  names: Partial<ContactNames>;
}

/** What can be another thing of a person. */
type ContactPart = "name" | "lid" | "number";

/** Somebody is called otherwise, or is found under another address. */
export interface ContactEvent {
  type: "contact";
  deviceId: number;
  /** Canonical address, as it is now. */
  person: string;
  /** Unix milliseconds. */
  at: number;
  changed: ContactPart[];
  /** What was before, of each that changed: names, digits, `…@lid`; null: it was not known. */
  old: Partial<Record<ContactPart, string | null>>;
}

/** Remembers whom numbers meet, and what they are called. */
export interface ContactNotes {
  /** Nothing waits for it, and nothing is lost with it: whoever writes again is noted again. */
  met(deviceId: number, people: readonly SeenPerson[]): void;
  /** Somebody goes on under another number or LID: his names go along. */
  moved(deviceId: number, moved: MovedPerson): void;
  /** What is remembered of a number, or of some of its people, is looked up again. */
  forget(deviceId: number, people?: readonly string[]): void;
  /** Resolves when what was met is stored, or could not be. */
  idle(): Promise<void>;
}

interface NotesDeps {
  store: Pick<Store, "read" | "writer" | "now" | "box">;
  log: Logger;
  /** Told after the commit. */
  observe(event: ContactEvent): void;
}

interface Remembered {
  names: ContactNames;
  seenAt: number;
}

const REMEMBERED = 50_000;
/** Phones let nobody have a longer one. */
const LONGEST_NAME = 255;
/** As many as one statement reads, and one commit writes. */
const AT_ONCE = 200;

const KNOWN = defineQuery(
  "SELECT person, names, seen_at FROM contacts WHERE device_id = ?1 AND person IN (SELECT value FROM json_each(?2))",
  { person: contacts.person, names: nullable(contacts.names), seenAt: contacts.seenAt },
);
// What arrives for a number that was erased meanwhile is nobody's any more.
const KEEP = `INSERT INTO contacts (device_id, person, names, created_at, seen_at)
SELECT ?1, ?2, ?3, ?4, ?4 WHERE EXISTS (SELECT 1 FROM devices WHERE id = ?1)
ON CONFLICT (device_id, person) DO UPDATE SET names = excluded.names, seen_at = excluded.seen_at`;

/** A person that is in memory as it is in the rows costs one look into a map. */
export function createContactNotes({ store, log, observe }: NotesDeps): ContactNotes {
  const known = createLru<string, Remembered>(REMEMBERED);
  // By number, then by person: numbers take turns, and what one of them has waiting costs the others nothing.
  const waiting = new Map<number, Map<string, SeenPerson>>();
  let writing: Promise<void> | null = null;

  function isNoted(deviceId: number, { person, names, before: moved }: SeenPerson): boolean {
    if (moved !== undefined) return false;
    const before = known.get(keyOf(deviceId, person));
    return before !== undefined && !isOld(before, store.now()) && !differs(before.names, names);
  }

  /** Those of one number. */
  async function write(deviceId: number, some: SeenPerson[]): Promise<void> {
    const addresses = some.flatMap(({ person, before, names }) => [person, before, names.lid]);
    const asked = addresses.filter((address) => typeof address === "string");
    const rows = await store.read(KNOWN, [deviceId, JSON.stringify(asked)]);
    const { statements, events, remembered } = changesOf(store, deviceId, some, rows);
    for (const [person, one] of remembered) known.set(keyOf(deviceId, person), one);
    if (statements.length > 0) await store.writer.commit(statements, { owning: null });
    events.forEach(observe);
  }

  async function writeAll(): Promise<void> {
    for (let next = takeTurn(waiting); next; next = takeTurn(waiting)) {
      const { deviceId, some } = next;
      await write(deviceId, some).catch((err: unknown) => {
        for (const { person } of some) known.delete(keyOf(deviceId, person));
        if (isWorthLogging(err)) log.warn({ err, device: deviceId }, "could not note contacts");
      });
    }
    writing = null;
  }

  function met(deviceId: number, people: readonly SeenPerson[]): void {
    const fresh = people.filter((seen) => isPerson(seen.person) && !isNoted(deviceId, seen));
    if (fresh.length === 0) return;
    const ofNumber = waiting.get(deviceId) ?? new Map<string, SeenPerson>();
    waiting.set(deviceId, ofNumber);
    for (const seen of fresh) {
      const earlier = ofNumber.get(seen.person);
      ofNumber.set(seen.person, { ...earlier, ...seen, names: { ...earlier?.names, ...seen.names } });
    }
    writing ??= writeAll();
  }

  return {
    met,
    moved(deviceId, { before, after }) {
      const [from, to] = [before.pn ?? before.lid, after.pn ?? after.lid];
      if (from === null || to === null) return;
      const lid = after.lid === null ? {} : { lid: after.lid };
      met(deviceId, [{ person: to, before: from, names: lid }]);
    },
    forget(deviceId, people) {
      if (people !== undefined) return people.forEach((person) => known.delete(keyOf(deviceId, person)));
      for (const key of known.keys()) if (key.startsWith(`${deviceId} `)) known.delete(key);
    },
    idle: async () => writing ?? undefined,
  };
}

/** The next of the number whose turn it is, which then stands last. */
function takeTurn(waiting: Map<number, Map<string, SeenPerson>>) {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const [deviceId, people] = first;
  const some: SeenPerson[] = [];
  for (const [person, seen] of people) {
    if (some.length === AT_ONCE) break;
    some.push(seen);
    people.delete(person);
  }
  waiting.delete(deviceId);
  if (people.size > 0) waiting.set(deviceId, people);
  return { deviceId, some };
}

/** What is to be written of people, with what the rows had of them. */
function changesOf(
  { box, now: clock }: Pick<Store, "box" | "now">,
  deviceId: number,
  some: readonly SeenPerson[],
  rows: ReturnType<typeof KNOWN.decode>,
) {
  const now = clock();
  const stored = new Map(rows.map((row) => [row.person, row]));
  const remembered = new Map<string, Remembered>();
  const statements: Statement[] = [];
  const events: ContactEvent[] = [];
  for (const { person, before: moved, names } of some) {
    const row = stored.get(person);
    // Whoever was known under another address only is no stranger under this one.
    const former = row ?? stored.get(moved ?? names.lid ?? "");
    const before = former ? openNames(box, deviceId, former.person, former.names) : NO_NAMES;
    const after = { ...before, ...names };
    const isSame = row !== undefined && !differs(before, names) && !isOld(row, now);
    remembered.set(person, { names: after, seenAt: isSame ? row.seenAt : now });
    if (isSame) continue;
    statements.push({ sql: KEEP, args: [deviceId, person, sealed(box, deviceId, person, after), now] });
    const old = former ? formerly({ ...before, person: former.person }, { ...after, person }) : {};
    const changed = Object.keys(old) as ContactPart[];
    if (changed.length > 0) events.push({ type: "contact", deviceId, person, at: now, changed, old });
  }
  return { statements, events, remembered };
}

const keyOf = (deviceId: number, person: string): string => `${deviceId} ${person}`;

const isOld = ({ seenAt }: Pick<Remembered, "seenAt">, now: number): boolean =>
  Math.abs(now - seenAt) >= DAY_MS;

const differs = (known: ContactNames, names: Partial<ContactNames>): boolean =>
  (Object.keys(names) as (keyof ContactNames)[]).some((key) => known[key] !== names[key]);

const cut = (name: string): string => name.slice(0, LONGEST_NAME).toWellFormed();

type Named = ContactNames & { person: string };

/** What was of those parts that are other ones now. What was not known before is news of a number alone. */
function formerly(before: Named, after: Named): ContactEvent["old"] {
  const [was, is] = [before, after].map(
    ({ name, pushName, verifiedName }) => name ?? pushName ?? verifiedName,
  );
  return {
    ...(was !== null && was !== is && { name: was }),
    ...(before.lid !== null && before.lid !== after.lid && { lid: before.lid }),
    ...(before.person !== after.person && { number: numberIn(before.person) }),
  };
}

/** Whoever has written a message, or whom the owner has written to. */
export function peopleOf(messages: readonly Incoming[]): SeenPerson[] {
  return messages.flatMap((message): SeenPerson[] => {
    const { chatKind, chatKey, sender, fromMe, timer } = message;
    if (timer !== undefined || (chatKind !== "dm" && chatKind !== "group")) return [];
    if (!fromMe) return [{ person: sender, names: namesIn(message) }];
    return chatKind === "dm" ? [{ person: chatKey, names: {} }] : [];
  });
}

function namesIn({ pushName, lid, verifiedName }: Incoming): Partial<ContactNames> {
  return {
    ...(lid !== null && { lid }),
    ...(pushName !== "" && pushName !== verifiedName && { pushName: cut(pushName) }),
    ...(verifiedName !== undefined && { verifiedName: cut(verifiedName), isBusiness: true }),
  };
}

/** What the phone says of the people in its address book. */
export const peopleInBook = (entries: readonly BookEntry[]): SeenPerson[] =>
  entries.map(({ person, lid, name, pushName }) => ({
    person,
    names: {
      ...(lid !== null && { lid }),
      ...(name !== undefined && { name: cut(name) }),
      ...(pushName !== undefined && { pushName: cut(pushName) }),
    },
  }));
