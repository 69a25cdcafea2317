import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as schema from "../../../drizzle/schema.ts";
import { SEALED_COLUMNS } from "../../../src/store/sealed/sealed-columns.ts";

const tables = Object.values(schema)
  .filter((table) => is(table, SQLiteTable))
  .map((table) => getTableConfig(table));
const sealed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted();

it("a change of the master key reaches every sealed column, and every bytes column is one", () => {
  const blobs = tables.flatMap(({ name, columns }) =>
    columns.filter((column) => column.getSQLType() === "blob").map((column) => `${name}.${column.name}`),
  );

  expect(blobs.length).toBeGreaterThan(10);
  expect(sealed, "Add the column to SEALED_COLUMNS of src/store/sealed/sealed-columns.ts.").toEqual(
    [...blobs, "bot_bindings.config", "deliveries.url", "webhooks.url"].toSorted(),
  );
});

it("names only columns that are there", () => {
  for (const { table, keys } of SEALED_COLUMNS) {
    const columns = tables.find(({ name }) => name === table)!.columns.map(({ name }) => name);
    expect(columns).toEqual(expect.arrayContaining(keys));
  }
});

describe("docs/security.md", () => {
  const text = readFileSync(new URL("../../../docs/security.md", import.meta.url), "utf8");
  const [, section = ""] = text.split("## What is sealed at rest");
  /** Rows of its table: name, sealed columns, columns in the clear with the reason. */
  const rows = section
    .split("\n## ")[0]!
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").slice(1, 4));
  const named = (cell: string): string[] => [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name!);

  it("says of every column of every table whether it is sealed, and of what is not, why", () => {
    const documented = rows.flatMap(([table, shut, open]) =>
      [...named(shut!), ...named(open!)].map((column) => `${named(table!)[0]}.${column}`),
    );
    const present = tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`));

    expect(
      documented.toSorted(),
      'Name every column in the table "What is sealed at rest" of docs/security.md.',
    ).toEqual(present.toSorted());
    for (const [table, , open] of rows) {
      const reasons = open!.replaceAll(/`[a-z0-9_]+`/g, "").split(";");
      // Each group of columns ends with its reason.
      for (const reason of open!.trim() === "" ? [] : reasons)
        expect([table, reason]).toEqual([table, expect.stringMatching(/: \w+/)]);
    }
  });

  it("calls those sealed that are", () => {
    const documented = rows.flatMap(([table, shut]) =>
      named(shut!).map((column) => `${named(table!)[0]}.${column}`),
    );

    expect(documented.toSorted(), 'Correct the table "What is sealed at rest" of docs/security.md.').toEqual(
      sealed,
    );
  });
});
