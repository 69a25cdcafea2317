import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { expect, it } from "vitest";
import * as schema from "../../../drizzle/schema.ts";
import { SEALED_COLUMNS } from "../../../src/store/sealed-columns.ts";

const tables = Object.values(schema)
  .filter((table) => is(table, SQLiteTable))
  .map((table) => getTableConfig(table));

it("a change of the master key reaches every sealed column, and every bytes column is one", () => {
  const blobs = tables.flatMap(({ name, columns }) =>
    columns.filter((column) => column.getSQLType() === "blob").map((column) => `${name}.${column.name}`),
  );

  expect(blobs.length).toBeGreaterThan(10);
  expect(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
    blobs.toSorted(),
  );
});

it("names only columns that are there", () => {
  for (const { table, keys } of SEALED_COLUMNS) {
    const columns = tables.find(({ name }) => name === table)!.columns.map(({ name }) => name);
    expect(columns).toEqual(expect.arrayContaining(keys));
  }
});
