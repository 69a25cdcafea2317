import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import * as schema from "../../drizzle/schema.ts";
import { defineQuery, integer } from "./query.ts";
import type { Statement, Store } from "./store.ts";

/** Rows that one step deletes: few enough for everybody else's commits to go on beside it. */
export const ERASED_AT_ONCE = 200;

/** A table without a device column, whose rows belong to a row of another one. */
interface Child {
  table: string;
  column: string;
  parent: string;
}
const CHILDREN: Child[] = [
  { table: "outbox_history", column: "outbox_id", parent: "outbox" },
  { table: "delivery_attempts", column: "delivery_id", parent: "deliveries" },
];

const PARENTS = new Map(
  CHILDREN.map(({ parent }) => [
    parent,
    defineQuery(`SELECT rowid AS place, id FROM ${parent} WHERE device_id = ? LIMIT ${ERASED_AT_ONCE}`, {
      place: integer(),
      // A number or a text, and compared as it is.
      id: { decode: (value) => value },
    }),
  ]),
);

/** A row or a handful of them for each number; what makes it work is among them, so that it ends with the number. */
const SMALL = [
  "wa_creds",
  "webhooks",
  "listeners",
  "reachout_locks",
  "send_brakes",
  "group_lists",
  "bot_bindings",
  "links",
];
/** Keys, and what would still be done for the number, before what only lies there. */
const FIRST = ["wa_keys", "journal", "bot_timers", "deliveries", "outbox", "inbox"];

/**
 * Ends a number in one small commit: its record, its credentials and its settings are gone, and nothing that goes by the
 * record finds the rest any more. The account may have the number anew at once, under another id.
 *
 * @param now Unix milliseconds
 * @returns statements that are one unit; {@link eraseStep} deletes what they leave
 */
export function eraseRecord(deviceId: number, now: number): Statement[] {
  return [
    {
      sql: "INSERT INTO erased_devices (id, erased_at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
      args: [deviceId, now],
    },
    ...SMALL.map((table) => ({ sql: `DELETE FROM ${table} WHERE device_id = ?`, args: [deviceId] })),
    { sql: "DELETE FROM devices WHERE id = ?", args: [deviceId] },
  ];
}

/**
 * Deletes up to {@link ERASED_AT_ONCE} rows of a number from one table, and what belongs to them, in one commit.
 *
 * @param table one of `tablesOfNumbers().tables`
 * @returns how many of its rows are gone; 0 when it has none
 */
export async function eraseStep(
  { read, writer }: Pick<Store, "read" | "writer">,
  table: string,
  deviceId: number,
): Promise<number> {
  const children = CHILDREN.filter(({ parent }) => parent === table);
  const some = `SELECT rowid FROM ${table} WHERE device_id = ? LIMIT ${ERASED_AT_ONCE}`;
  if (children.length === 0) {
    const sql = `DELETE FROM ${table} WHERE rowid IN (${some})`;
    const [result] = await writer.commit([{ sql, args: [deviceId] }], { owning: null });
    return result!.rowsAffected;
  }
  const found = await read(PARENTS.get(table)!, [deviceId]);
  if (found.length === 0) return 0;
  const ids = JSON.stringify(found.map(({ id }) => id));
  const places = JSON.stringify(found.map(({ place }) => place));
  const results = await writer.commit(
    [
      ...children.map((child) => ({
        sql: `DELETE FROM ${child.table} WHERE ${child.column} IN (SELECT value FROM json_each(?))`,
        args: [ids],
      })),
      { sql: `DELETE FROM ${table} WHERE rowid IN (SELECT value FROM json_each(?))`, args: [places] },
    ],
    { owning: null },
  );
  return results.at(-1)!.rowsAffected;
}

/**
 * Tables whose rows belong to a number, and those that belong to such a row. Read from the schema, so that a table added
 * later cannot be forgotten.
 */
export function tablesOfNumbers(): { tables: string[]; children: readonly Child[] } {
  const tables = Object.values(schema)
    .filter((table) => is(table, SQLiteTable))
    .map((table) => getTableConfig(table))
    .filter(({ columns }) => columns.some(({ name }) => name === "device_id"))
    .map(({ name }) => name);
  return { tables: [...new Set([...FIRST, ...tables])], children: CHILDREN };
}
