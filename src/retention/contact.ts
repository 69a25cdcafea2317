import { getTableName } from "drizzle-orm";
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import * as schema from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import { boolean, bytes, defineQuery, integer, nullable, type Query } from "../store/query.ts";
import { noteErasedContact } from "../store/erased-contact.ts";
import { contextOf, SEALED_COLUMNS } from "../store/sealed/sealed-columns.ts";
import type { Store } from "../store/store.ts";

/** One contact of one number. */
export interface ContactOf {
  deviceId: number;
  /** Every address under which something of the contact may be stored: `…@s.whatsapp.net`, `…@lid`. */
  addresses: readonly string[];
}

/** One row, opened: `table`, and its columns by their names. */
export type ContactRow = { table: string } & Record<string, unknown>;

/** What erasing did. */
export interface ContactErased {
  /** Rows by table; those without any are left out. */
  erased: Record<string, number>;
  /** Rows that stay because something is still to be done: a message to be answered, sent or delivered. */
  waiting: number;
}

/** Deletes the files of messages that came. */
export interface ContactFiles {
  removeReceived(deviceId: number, inboxId: number): Promise<void>;
}

const LOOKED_AT = 500;
const AT_ONCE = 200;

/** Where a contact's data lie: `?1` is the number, `?2` the addresses as JSON. Those that find themselves by a message stand before it. */
const IN = "(SELECT value FROM json_each(?2))";
const OF_MESSAGE = `(chat IN ${IN} OR EXISTS (SELECT 1 FROM inbox i WHERE i.id = inbox_id AND i.device_id = ?1 AND i.sender IN ${IN}))`;
const OF_SCOPE = `(scope IN ${IN} OR substr(scope, instr(scope, '|') + 1) IN ${IN})`;

interface Place {
  table: SQLiteTable;
  mine: string;
  /** Still needed for something that is under way. */
  waits?: string;
  /** Rows of another table that go with it. */
  child?: { table: string; column: string };
}

const PLACES: Place[] = [
  {
    table: schema.deliveries,
    mine: OF_MESSAGE,
    waits: "state IN ('pending','retrying')",
    child: { table: "delivery_attempts", column: "delivery_id" },
  },
  { table: schema.decisions, mine: OF_MESSAGE },
  {
    table: schema.outbox,
    mine: `chat IN ${IN}`,
    waits: "state IN ('queued', 'scheduled')",
    child: { table: "outbox_history", column: "outbox_id" },
  },
  { table: schema.inbox, mine: `(chat IN ${IN} OR sender IN ${IN})`, waits: "state = 'pending'" },
  { table: schema.missingMessages, mine: `(chat IN ${IN} OR sender IN ${IN})` },
  { table: schema.pollVotes, mine: `voter IN ${IN}` },
  { table: schema.chatState, mine: `chat IN ${IN}` },
  { table: schema.chatSettings, mine: `chat IN ${IN}` },
  { table: schema.chatTimers, mine: `chat IN ${IN}` },
  { table: schema.contacts, mine: `person IN ${IN}` },
  { table: schema.numberChecks, mine: `number || '@s.whatsapp.net' IN ${IN}` },
  { table: schema.botSessions, mine: OF_SCOPE },
  { table: schema.botDialogues, mine: OF_SCOPE },
  { table: schema.botTimers, mine: OF_SCOPE },
  // A bot names its keys as it likes: those that have the contact's digits are its, not those whose digits go on.
  {
    table: schema.botStore,
    mine: `EXISTS (SELECT 1 FROM json_each(?2) a WHERE ' ' || bot_store.key || ' '
      GLOB '*[^0-9]' || substr(a.value, 1, instr(a.value, '@') - 1) || '[^0-9]*')`,
  },
];

interface Prepared extends Place {
  name: string;
  look: Query<{ place: number; mine: boolean; waits: boolean }>;
  rows: Query<Record<string, unknown>>;
  remove: string;
}

const isSealed = (table: string, column: string): boolean =>
  SEALED_COLUMNS.some((one) => one.table === table && one.column === column);

const prepared: Prepared[] = PLACES.map((place) => {
  const { table, mine, waits = "0" } = place;
  const name = getTableName(table);
  const columns = getTableConfig(table).columns;
  return {
    ...place,
    name,
    look: defineQuery(
      `SELECT rowid AS place, (device_id = ?1 AND ${mine}) AS mine, (${waits}) AS waits FROM ${name}
      WHERE rowid > ?3 ORDER BY rowid LIMIT ${LOOKED_AT}`,
      { place: integer(), mine: boolean(), waits: boolean() },
    ),
    rows: defineQuery(
      `SELECT ${columns.map((column) => `"${column.name}"`).join(", ")} FROM ${name}
      WHERE rowid IN (SELECT value FROM json_each(?1)) ORDER BY rowid`,
      shapeOf(name, columns),
    ),
    remove: `DELETE FROM ${name} WHERE rowid IN (SELECT value FROM json_each(?1)) AND NOT (${waits})`,
  };
});

function shapeOf(table: string, columns: SQLiteColumn[]): Record<string, never> {
  const entries = columns.map((column) => [
    column.name,
    isSealed(table, column.name) ? nullable(bytes()) : column.notNull ? column : nullable(column),
  ]);
  return Object.fromEntries(entries) as Record<string, never>;
}

/** Places of a contact's rows in a table, some at a time. Reads everything, because nothing lists a person's rows: the event loop goes round between. */
async function* placesOf(
  { read }: Pick<Store, "read">,
  { deviceId, addresses }: ContactOf,
  { look }: Prepared,
): AsyncGenerator<{ place: number; waits: boolean }[]> {
  const keys = JSON.stringify(addresses);
  for (let from = Number.MIN_SAFE_INTEGER; ; await giveWay()) {
    const rows = await read(look, [deviceId, keys, from]);
    if (rows.length === 0) return;
    from = rows.at(-1)!.place;
    const mine = rows.filter((row) => row.mine);
    if (mine.length > 0) yield mine;
  }
}

/** Everything that is stored of a contact, opened. Files of messages are named in their rows; their bytes are not among them. */
export async function* readContact(
  store: Pick<Store, "read" | "box">,
  contact: ContactOf,
): AsyncGenerator<ContactRow> {
  for (const table of prepared)
    for await (const mine of placesOf(store, contact, table)) {
      const places = JSON.stringify(mine.map(({ place }) => place));
      for (const row of await store.read(table.rows, [places]))
        yield { table: table.name, ...opened(store, table.name, row) };
    }
}

/** Sealed values are shown as what was sealed: JSON, or a text. One that does not open any more is null. */
function opened(
  { box }: Pick<Store, "box">,
  table: string,
  row: Record<string, unknown>,
): Record<string, unknown> {
  const shown = { ...row };
  for (const column of SEALED_COLUMNS.filter((one) => one.table === table)) {
    const sealed = row[column.column] as Uint8Array | null;
    if (sealed === null) continue;
    shown[column.column] = tryTo(() => box.open(sealed, contextOf(column, row)).toString("utf8"));
    shown[column.column] =
      tryTo(() => JSON.parse(shown[column.column] as string) as unknown) ?? shown[column.column];
  }
  return shown;
}

function tryTo<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

/**
 * Deletes everything that is stored of a contact, in steps that others hardly notice. What waits stays, and is counted. Numbers'
 * keys and the pairs of LIDs stay as well: they hold nothing that anybody said, and without them the contact could not write any more.
 */
export async function eraseContact(
  store: Pick<Store, "read" | "writer" | "box" | "now">,
  files: ContactFiles,
  contact: ContactOf,
): Promise<ContactErased> {
  await store.writer.commit(noteErasedContact(store, contact.deviceId, contact.addresses), { owning: null });
  const erased: Record<string, number> = {};
  let waiting = 0;
  for (const table of prepared)
    for await (const mine of placesOf(store, contact, table)) {
      waiting += mine.filter(({ waits }) => waits).length;
      const places = mine.filter(({ waits }) => !waits).map(({ place }) => place);
      for (let at = 0; at < places.length; at += AT_ONCE) {
        const some = places.slice(at, at + AT_ONCE);
        const count = await removeRows(store, table, some);
        // The place of such a row is its id.
        if (table.name === "inbox") for (const id of some) await files.removeReceived(contact.deviceId, id);
        erased[table.name] = (erased[table.name] ?? 0) + count;
      }
    }
  return { erased, waiting };
}

async function removeRows(
  { writer }: Pick<Store, "writer">,
  { name, child, remove }: Prepared,
  places: number[],
): Promise<number> {
  const args = [JSON.stringify(places)];
  const ofChild = child && {
    sql: `DELETE FROM ${child.table} WHERE ${child.column} IN
      (SELECT id FROM ${name} WHERE rowid IN (SELECT value FROM json_each(?1)))`,
    args,
  };
  const results = await writer.commit([...(ofChild ? [ofChild] : []), { sql: remove, args }], {
    owning: null,
  });
  return results.at(-1)!.rowsAffected;
}
