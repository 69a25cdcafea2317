import { giveWay } from "../../model/give-way.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { EncodedChanges } from "./key-cache.ts";

const ROWS_PER_STATEMENT = 100;
const ERASED_AT_ONCE = 500;
const REVERSE = "_reverse";

const sealContext = (deviceId: number, type: string, id: string): string =>
  `wa_keys:${deviceId}:${type}:${id}`;

/** Statements that store and delete sealed keys. `lid-mapping` has a table of its own and is left out. */
export function keyStatements(store: Store, deviceId: number, changes: EncodedChanges): Statement[] {
  const statements: Statement[] = [];
  for (const [type, values] of Object.entries(changes)) {
    if (type === "lid-mapping") continue;
    const stored: Statement["args"][] = [];
    const deleted: string[] = [];
    for (const [id, value] of Object.entries(values)) {
      if (value === null) deleted.push(id);
      else
        stored.push([
          deviceId,
          type,
          id,
          store.box.seal(value, sealContext(deviceId, type, id)),
          store.now(),
        ]);
    }
    for (const rows of chunks(stored)) statements.push(upsert(rows));
    for (const ids of chunks(deleted))
      statements.push({
        sql: `delete from wa_keys where device_id = ? and type = ? and id in (${marks(ids.length)})`,
        args: [deviceId, type, ...ids],
      });
  }
  return statements;
}

/** Deletes all keys and the journal of a number, a few hundred in each commit: a busy number has 100,000 sessions. */
export async function eraseKeys({ writer }: Pick<Store, "writer">, deviceId: number): Promise<void> {
  for (const table of ["wa_keys", "journal"]) {
    const sql = `delete from ${table} where rowid in
      (select rowid from ${table} where device_id = ? limit ${ERASED_AT_ONCE})`;
    for (let deleted = ERASED_AT_ONCE; deleted === ERASED_AT_ONCE; await giveWay())
      deleted = (await writer.commit([{ sql, args: [deviceId] }]))[0]!.rowsAffected;
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

/** Opened keys of one type by id. Ids without a row are missing from the map. */
export async function readKeys(
  store: Store,
  deviceId: number,
  type: string,
  ids: string[],
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const chunk of chunks(ids)) {
    const rows = await store.rows(
      `select id, value from wa_keys where device_id = ? and type = ? and id in (${marks(chunk.length)})`,
      [deviceId, type, ...chunk],
    );
    for (const row of rows) {
      const id = String(row.id);
      const sealed = new Uint8Array(row.value as ArrayBuffer);
      found.set(id, store.box.open(sealed, sealContext(deviceId, type, id)));
    }
  }
  return found;
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
  for (const chunk of chunks(pnUsers)) {
    const rows = await store.rows(
      `select lid_user, pn_user from lid_map
      where device_id = ? and pn_user in (${marks(chunk.length)}) order by seen_at`,
      [deviceId, ...chunk],
    );
    for (const row of rows) found.set(String(row.pn_user), Buffer.from(JSON.stringify(row.lid_user)));
  }
  for (const chunk of chunks(lidUsers)) {
    const rows = await store.rows(
      `select lid_user, pn_user from lid_map where device_id = ? and lid_user in (${marks(chunk.length)})`,
      [deviceId, ...chunk],
    );
    for (const row of rows) found.set(row.lid_user + REVERSE, Buffer.from(JSON.stringify(row.pn_user)));
  }
  return found;
}

const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");

function chunks<T>(list: T[]): T[][] {
  if (list.length <= ROWS_PER_STATEMENT) return list.length === 0 ? [] : [list];
  const parts: T[][] = [];
  for (let start = 0; start < list.length; start += ROWS_PER_STATEMENT)
    parts.push(list.slice(start, start + ROWS_PER_STATEMENT));
  return parts;
}
