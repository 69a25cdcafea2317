import { giveWay } from "../../model/give-way.ts";
import { lidMap, waKeys } from "../../../drizzle/schema.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { EncodedChanges } from "./key-cache.ts";
import { countParts, partNamed, partsOf, toRows } from "./key-parts.ts";

const ROWS_PER_STATEMENT = 100;
const ERASED_AT_ONCE = 500;
/** Opening so many takes two milliseconds. */
const OPENED_AT_ONCE = 100;
const REVERSE = "_reverse";

const DELETE =
  "delete from wa_keys where device_id = ? and type = ? and id in (select value from json_each(?))";
const DELETE_PARTS = "delete from wa_keys where device_id = ? and type = ? and id > ? and id < ?";
const KEYS = defineQuery(
  "select id, value from wa_keys where device_id = ? and type = ? and id in (select value from json_each(?))",
  { id: waKeys.id, value: waKeys.value },
);
const PAIR = { lidUser: lidMap.lidUser, pnUser: lidMap.pnUser };
// Of several LIDs that a number had, the last is the one that counts.
const LIDS = defineQuery(
  `select lid_user, pn_user from lid_map
  where device_id = ? and pn_user in (select value from json_each(?)) order by seen_at`,
  PAIR,
);
const NUMBERS = defineQuery(
  "select lid_user, pn_user from lid_map where device_id = ? and lid_user in (select value from json_each(?))",
  PAIR,
);

const sealContext = (deviceId: number, type: string, id: string): string =>
  `wa_keys:${deviceId}:${type}:${id}`;

/** Statements that store and delete sealed keys. `lid-mapping` has a table of its own and is left out. */
export function keyStatements(store: Store, deviceId: number, changes: EncodedChanges): Statement[] {
  const stored: Statement["args"][] = [];
  const deletions: Statement[] = [];
  const older: Statement[] = [];
  for (const [type, values] of Object.entries(changes)) {
    if (type === "lid-mapping") continue;
    const deleted: string[] = [];
    for (const [id, value] of Object.entries(values)) {
      const parts = partsOf(type, id);
      if (parts !== null)
        older.push({ sql: DELETE_PARTS, args: [deviceId, parts.type, parts.from, parts.to] });
      if (value === null) deleted.push(id);
      else
        for (const row of toRows(type, id, value))
          stored.push([
            deviceId,
            row.type,
            row.id,
            seal(store, deviceId, row.type, row.id, row.value),
            store.now(),
          ]);
    }
    if (deleted.length > 0) deletions.push({ sql: DELETE, args: [deviceId, type, JSON.stringify(deleted)] });
  }
  return [...older, ...chunks(stored).map(upsert), ...deletions];
}

function seal(
  { box }: Store,
  deviceId: number,
  type: string,
  id: string,
  value: string | Uint8Array,
): Uint8Array {
  return box.seal(value, sealContext(deviceId, type, id));
}

/** Deletes all keys and the journal of a number, a few hundred in each commit: a busy number has 100,000 sessions. */
export async function eraseKeys({ writer }: Pick<Store, "writer">, deviceId: number): Promise<void> {
  for (const table of ["wa_keys", "journal"]) {
    const sql = `delete from ${table} where rowid in
      (select rowid from ${table} where device_id = ? limit ${ERASED_AT_ONCE})`;
    for (let deleted = ERASED_AT_ONCE; deleted === ERASED_AT_ONCE; await giveWay())
      deleted = (await writer.commit([{ sql, args: [deviceId] }], { owning: null }))[0]!.rowsAffected;
  }
}

function upsert(rows: Statement["args"][]): Statement {
  const values = Array.from(rows, () => "(?, ?, ?, ?, ?)").join(", ");
  return {
    sql: `insert into wa_keys (device_id, type, id, value, updated_at) values ${values}
      on conflict (device_id, type, id) do update set value = excluded.value, updated_at = excluded.updated_at`,
    args: rows.flat(),
  };
}

/** Statements for `pnUser → lidUser` pairs; the reverse entries that Baileys writes beside them say the same again. */
export function lidPairStatements(
  deviceId: number,
  pairs: Record<string, string | null>,
  now: number,
): Statement[] {
  const rows = Object.entries(pairs)
    .filter(([pnUser, lidUser]) => lidUser !== null && !pnUser.endsWith(REVERSE))
    .map(([pnUser, lidUser]): Statement["args"] => [deviceId, lidUser, pnUser, now]);
  return chunks(rows).map((chunk) => ({
    sql: `insert into lid_map (device_id, lid_user, pn_user, seen_at)
      values ${Array.from(chunk, () => "(?, ?, ?, ?)").join(", ")}
      on conflict (device_id, lid_user) do update set pn_user = excluded.pn_user, seen_at = excluded.seen_at`,
    args: chunk.flat(),
  }));
}

/** Opened keys of one type by id. Ids without a row, or with a damaged one, are missing from the map. */
export async function readKeys(
  store: Store,
  deviceId: number,
  type: string,
  ids: string[],
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const rows = await store.read(KEYS, [deviceId, type, JSON.stringify(ids)]);
  for (const [at, { id, value }] of rows.entries()) {
    if (at > 0 && at % OPENED_AT_ONCE === 0) await giveWay();
    try {
      const stored = store.box.open(value, sealContext(deviceId, type, id));
      const whole = countParts(stored) === 0 ? stored : await joinParts(store, deviceId, type, id, stored);
      if (whole !== null) found.set(id, whole);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      // A damaged key is a lost one: its contact is asked for a new session, which takes the place of this row.
    }
  }
  return found;
}

/** One part after the other: an answer of a server has its limit too. @returns null when one is missing */
async function joinParts(
  store: Store,
  deviceId: number,
  type: string,
  id: string,
  head: Buffer,
): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  for (let index = 0; index < countParts(head); index++) {
    const part = partNamed(type, id, index);
    const row = await store.readOne(KEYS, [deviceId, part.type, JSON.stringify([part.id])]);
    if (row === null) return null;
    parts.push(store.box.open(row.value, sealContext(deviceId, part.type, part.id)));
  }
  return Buffer.concat(parts);
}

/** LID pairs under the ids that Baileys asks for: a number gives its LID, `<lid>_reverse` gives the number. */
export async function readLidPairs(
  store: Store,
  deviceId: number,
  ids: string[],
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const pnUsers = ids.filter((id) => !id.endsWith(REVERSE));
  const lidUsers = ids.filter((id) => id.endsWith(REVERSE)).map((id) => id.slice(0, -REVERSE.length));
  if (pnUsers.length > 0)
    for (const { lidUser, pnUser } of await store.read(LIDS, [deviceId, JSON.stringify(pnUsers)]))
      found.set(pnUser, Buffer.from(JSON.stringify(lidUser)));
  if (lidUsers.length > 0)
    for (const { lidUser, pnUser } of await store.read(NUMBERS, [deviceId, JSON.stringify(lidUsers)]))
      found.set(lidUser + REVERSE, Buffer.from(JSON.stringify(pnUser)));
  return found;
}

function chunks<T>(list: T[]): T[][] {
  if (list.length <= ROWS_PER_STATEMENT) return list.length === 0 ? [] : [list];
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += ROWS_PER_STATEMENT)
    parts.push(list.slice(start, start + ROWS_PER_STATEMENT));
  return parts;
}
