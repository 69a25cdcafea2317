import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import * as schema from "../../../drizzle/schema.ts";
import { eraseDevice } from "../../../src/store/erase.ts";
import type { Statement } from "../../../src/store/store.ts";
import { temporaryStore } from "./temporary.ts";

type TableConfig = ReturnType<typeof getTableConfig>;
const tables = Object.values(schema)
  .filter((table) => is(table, SQLiteTable))
  .map((table) => getTableConfig(table));
/** What belongs to no number: facts of the database, what belongs to an account, and the list of erased numbers. */
const NOT_OF_A_DEVICE = ["meta", "accounts", "api_keys", "idempotency", "erased_devices"];
const ofDevices = tables.filter(({ name }) => !NOT_OF_A_DEVICE.includes(name));

/** A row whose every column is filled, so that nothing depends on defaults. Ids of both devices' rows differ. */
function rowOf({ name, columns }: TableConfig, deviceId: number): Statement {
  const args = columns.map((column) => {
    if (column.columnType === "SQLiteInteger") return deviceId;
    return column.dataType === "buffer" ? Buffer.from([deviceId]) : String(deviceId);
  });
  const names = columns.map((column) => `"${column.name}"`).join(", ");
  return { sql: `INSERT INTO ${name} (${names}) VALUES (${args.map(() => "?").join(", ")})`, args };
}

describe("erasing a number", () => {
  it("leaves no row of it in any table of the schema, and every row of the others", async () => {
    const store = await temporaryStore();
    await store.writer.commit(ofDevices.flatMap((table) => [rowOf(table, 1), rowOf(table, 2)]));

    await store.writer.commit(eraseDevice(1));

    for (const { name } of ofDevices) {
      const rows = await store.rows(`SELECT * FROM ${name}`, []);
      expect({ name, rows: rows.length }).toEqual({ name, rows: 1 });
      expect(Object.values(rows[0]!)).toContain(name === "delivery_attempts" ? "2" : 2);
    }
  });
});
