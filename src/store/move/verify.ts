import type { Client } from "@libsql/client";
import { StartError } from "../../model/errors/errors.ts";
import { giveWay } from "../../model/give-way.ts";
import { NOTHING, withRows, type Sum } from "./checksum.ts";
import { readPage, type CopiedTable, type Progress } from "./copy.ts";
import { BEFORE_ALL, readSchema, type MovedTable } from "./tables.ts";

/**
 * Reads every row of the copy and compares: rows, what they hold, and the schema.
 *
 * @throws {StartError} that names the first table that differs
 */
export async function verify(
  source: Client,
  target: Client,
  tables: readonly CopiedTable[],
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const total = tables.reduce((sum, { copied }) => sum + copied.rows, 0);
  let rows = 0;
  for (const table of tables) {
    const found = await sumOf(target, table, (some) => {
      rows += some;
      onProgress({ doing: "comparing", table: table.name, rows, total });
    });
    const { copied } = table;
    if (found.rows !== copied.rows || found.sum !== copied.sum)
      throw different(
        `the table ${table.name} has ${found.rows} rows in the copy and ${copied.rows} in the original, or other values`,
      );
  }
  const [original, copy] = await Promise.all([readSchema(source), readSchema(target)]);
  if (JSON.stringify(original) !== JSON.stringify(copy)) throw different("the tables and indexes differ");
}

async function sumOf(client: Client, table: MovedTable, onRows: (rows: number) => void): Promise<Sum> {
  let sum = NOTHING;
  let limit = 100;
  for (let after = BEFORE_ALL; ;) {
    const page = await readPage(client, table, after, limit);
    if (page.last === null) return sum;
    sum = withRows(sum, page.rows);
    onRows(page.rows.length);
    after = page.last;
    limit = page.nextLimit;
    await giveWay();
  }
}

const different = (what: string): StartError =>
  new StartError(
    `The copy differs from the original: ${what}. The original stays in use; start over with --replace.`,
  );
