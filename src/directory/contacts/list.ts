import { contacts, lidMap } from "../../../drizzle/schema.ts";
import { placeOf, type Page, type PageWanted } from "../../model/page.ts";
import { defineQuery, integer, nullable } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { walk } from "../../store/walk.ts";
import { numberIn, openDetails, openNames, type ContactRecord, type KnownDetails } from "./record.ts";

/** Which contacts are wanted; those met last come first. */
export interface ContactsWanted extends PageWanted {
  limit: number;
  /** A part of a name, or of the digits. */
  q?: string | undefined;
  /** Whether a person may be seen, by all names, the canonical one first; null: everybody may. */
  allowed: ((names: string[]) => boolean) | null;
}

/** A person, and what WhatsApp has said of him when it was asked last. */
export interface FoundContact {
  record: ContactRecord;
  details: KnownDetails | null;
}

/** Contacts as they are stored. */
export interface ContactList {
  list(deviceId: number, wanted: ContactsWanted): Promise<Page<ContactRecord>>;
  /** @param keys all addresses of the person, the canonical one first */
  find(deviceId: number, keys: readonly string[]): Promise<FoundContact | null>;
}

const LID_OF = `(SELECT m.lid_user FROM lid_map m WHERE m.device_id = c.device_id
  AND c.person LIKE '%@s.whatsapp.net' AND m.pn_user = substr(c.person, 1, instr(c.person, '@') - 1)
  ORDER BY m.seen_at DESC LIMIT 1)`;
const NUMBER_OF = `(SELECT m.pn_user FROM lid_map m WHERE m.device_id = c.device_id
  AND c.person LIKE '%@lid' AND m.lid_user = substr(c.person, 1, instr(c.person, '@') - 1))`;
const SHAPE = {
  person: contacts.person,
  names: nullable(contacts.names),
  lidUser: nullable(lidMap.lidUser),
  pnUser: nullable(lidMap.pnUser),
};
// Whoever was met under a LID, and later by number, is one person.
const PAGE = defineQuery(
  `SELECT c.created_at AS at, c.rowid AS "row", c.person, c.names, ${LID_OF} AS lidUser, ${NUMBER_OF} AS pnUser FROM contacts c
  WHERE c.device_id = ?1 AND (c.created_at, c.rowid) < (?2, ?3) AND NOT EXISTS (SELECT 1 FROM contacts o
    WHERE o.device_id = c.device_id AND o.person = ${NUMBER_OF} || '@s.whatsapp.net')
  ORDER BY c.created_at DESC, c.rowid DESC LIMIT ?4`,
  { at: integer(), row: integer(), ...SHAPE },
);
const FIND = defineQuery(
  `SELECT c.person, c.names, c.details, c.asked_at, ${LID_OF} AS lidUser, ${NUMBER_OF} AS pnUser FROM contacts c
  WHERE c.device_id = ?1 AND c.person IN (SELECT value FROM json_each(?2))`,
  { ...SHAPE, details: nullable(contacts.details), askedAt: contacts.askedAt },
);

type Row = Pick<ReturnType<typeof PAGE.decode>[number], "person" | "names" | "lidUser" | "pnUser">;

/** Reads what `notes.ts` and `details.ts` have stored. Names are sealed: a page looks through so many of them at most. */
export function createContactList({ read, box }: Pick<Store, "read" | "box">): ContactList {
  function recordOf(deviceId: number, { person, names, lidUser, pnUser }: Row): ContactRecord {
    const { lid, ...known } = openNames(box, deviceId, person, names);
    const own = person.endsWith("@lid") ? person : null;
    return {
      ...known,
      number: numberIn(person) ?? pnUser,
      lid: own ?? (lidUser === null ? lid : `${lidUser}@lid`),
    };
  }

  return {
    async list(deviceId, { q, limit, before, allowed }) {
      const from = placeOf(before);
      const isWanted = q === undefined ? () => true : matcher(q);
      let place = from;
      const { items, next } = await walk(
        from,
        limit,
        async (count) => {
          const rows = await read(PAGE, [deviceId, place.at, place.row, count]);
          place = rows.at(-1) ?? place;
          return rows;
        },
        async (rows) =>
          rows
            .map((row) => ({ at: row.at, row: row.row, record: recordOf(deviceId, row) }))
            .filter(({ record }) => (allowed === null || allowed(namesOf(record))) && isWanted(record)),
      );
      return {
        total: before === undefined && next === null ? items.length : null,
        next,
        items: items.map(({ record }) => record),
      };
    },

    async find(deviceId, keys) {
      const rows = await read(FIND, [deviceId, JSON.stringify(keys)]);
      const [first] = rows.toSorted((a, b) => keys.indexOf(a.person) - keys.indexOf(b.person));
      if (first === undefined) return null;
      const details = openDetails(box, deviceId, first.person, first.details);
      return {
        record: recordOf(deviceId, first),
        details: details && first.askedAt !== null ? { ...details, askedAt: first.askedAt } : null,
      };
    },
  };
}

/** As keys name them: the number first. */
const namesOf = ({ number, lid }: ContactRecord): string[] => [number, lid].filter((name) => name !== null);

function matcher(q: string): (record: ContactRecord) => boolean {
  const wanted = q.trim().toLowerCase();
  const digits = /^[\d\s+().-]+$/.test(wanted) ? wanted.replace(/\D/g, "") : "";
  return ({ number, lid, name, pushName, verifiedName }) =>
    (digits !== "" && [number, lid].some((address) => address?.includes(digits))) ||
    [name, pushName, verifiedName].some((one) => one?.toLowerCase().includes(wanted));
}
