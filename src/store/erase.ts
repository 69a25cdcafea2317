import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import * as schema from "../../drizzle/schema.ts";
import type { Statement } from "./store.ts";

/** Tables without a device column, found through the row that they belong to. */
const CHILDREN: { table: string; column: string; parent: string }[] = [
  { table: "outbox_history", column: "outbox_id", parent: "outbox" },
  { table: "delivery_attempts", column: "delivery_id", parent: "deliveries" },
];

/**
 * Everything that belongs to one number, its record included. Read from the schema, so that a table added later cannot be
 * forgotten; a test asks of every table whether it is covered.
 */
export function eraseDevice(deviceId: number): Statement[] {
  return [
    ...CHILDREN.map(({ table, column, parent }) => ({
      sql: `DELETE FROM ${table} WHERE ${column} IN (SELECT id FROM ${parent} WHERE device_id = ?)`,
      args: [deviceId],
    })),
    ...deviceTables().map((table) => ({ sql: `DELETE FROM ${table} WHERE device_id = ?`, args: [deviceId] })),
    { sql: "DELETE FROM devices WHERE id = ?", args: [deviceId] },
  ];
}

/** Tables whose rows belong to a number, and those that belong to such a row. */
export function tablesOfNumbers(): { tables: string[]; children: typeof CHILDREN } {
  return { tables: deviceTables(), children: CHILDREN };
}

function deviceTables(): string[] {
  return Object.values(schema)
    .filter((table) => is(table, SQLiteTable))
    .map((table) => getTableConfig(table))
    .filter(({ columns }) => columns.some(({ name }) => name === "device_id"))
    .map(({ name }) => name);
}
