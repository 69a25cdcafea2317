import type { Client, InStatement, Value } from "@libsql/client";
import { StartError } from "../../model/errors/errors.ts";
import { giveWay } from "../../model/give-way.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { sizeOf, withRows, type Sum } from "./checksum.ts";
import { UNFINISHED } from "./marks.ts";
import {
  BEFORE_ALL,
  countOf,
  describeTable,
  insertInto,
  MAX_VALUES,
  pageOf,
  readSchema,
  type MovedTable,
} from "./tables.ts";

/** What is being done: rows so far of all that there are. */
export interface Progress {
  doing: "copying" | "indexing" | "comparing";
  table: string;
  rows: number;
  total: number;
}

/** A table, and what was copied of it. */
export interface CopiedTable extends MovedTable {
  copied: Sum;
}

interface CopyDeps {
  source: Client;
  target: Client;
  time: Pick<Time, "pause">;
  onProgress(progress: Progress): void;
}

/** A page is about so large: servers limit requests and answers, and the memory of the copy stays flat. */
const PAGE_BYTES = 1024 * 1024;
const MOST_ROWS = 1_000;
/** A server that is started anew is waited for. */
const PAUSES_MS = [SECOND_MS, 2 * SECOND_MS, 5 * SECOND_MS, 10 * SECOND_MS, 20 * SECOND_MS];

interface Place {
  after: bigint;
  copied: Sum;
  done: boolean;
}

/** Copies what is missing of all tables, then makes the indexes and sets the counters of ids. */
export async function copyTables(deps: CopyDeps): Promise<CopiedTable[]> {
  const { source, target, onProgress } = deps;
  const schema = await readSchema(source);
  const tables = await Promise.all(
    schema.filter(({ type }) => type === "table").map(({ name }) => describeTable(source, name)),
  );
  const total = await totalRows(source, tables);
  let rows = 0;
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const before = rows;
    const sum = await copyTable(deps, table, (done) => {
      rows = before + done;
      onProgress({ doing: "copying", table: table.name, rows, total });
    });
    rows = before + sum.rows;
    copied.push({ ...table, copied: sum });
  }
  const made = new Set((await readSchema(target)).map(({ name }) => name));
  for (const { name, sql } of schema.filter((part) => part.type !== "table" && !made.has(part.name))) {
    onProgress({ doing: "indexing", table: name, rows, total });
    await target.migrate([sql]);
  }
  await copyCounters(source, target);
  return copied;
}

async function totalRows(source: Client, tables: readonly MovedTable[]): Promise<number> {
  let total = 0;
  for (const table of tables) total += Number((await source.execute(countOf(table))).rows[0]!.n);
  return total;
}

async function copyTable(
  { source, target, time }: CopyDeps,
  table: MovedTable,
  onRows: (rows: number) => void,
): Promise<Sum> {
  let place = await readPlace(target, table);
  let limit = 100;
  for (let failures = 0; !place.done;) {
    try {
      const page = await readPage(source, table, place.after, limit);
      const next = placeAfter(place, page);
      const inserted = page.rows.length === 0 ? [] : [insertInto(table, page.rows)];
      await target.migrate([...inserted, note(table, next)]);
      place = next;
      limit = page.nextLimit;
      failures = 0;
      onRows(place.copied.rows);
    } catch (error) {
      const pause = PAUSES_MS[failures++];
      if (pause === undefined || isRefusal(error)) throw brokenOff(table, error);
      await time.pause(pause);
      // The page may have been written, and only its answer was lost.
      place = await readPlace(target, table).catch(() => place);
    }
    await giveWay();
  }
  return place.copied;
}

function brokenOff({ name }: MovedTable, error: unknown): StartError {
  const { message } = error as Error;
  return new StartError(
    /too big/.test(message)
      ? `A value in the table ${name} is larger than the server accepts (some megabytes), so this database cannot be moved. The original stays in use.`
      : `The copy was interrupted in the table ${name}: ${message}. Run the same command again to continue it.`,
  );
}

/** What no second try cures, other than a row that is there already because its answer was lost. */
const isRefusal = (error: unknown): boolean =>
  /^(SQL_|ARGS_|SQLITE_(FULL|READONLY|CORRUPT|NOTADB|ERROR))/.test((error as { code?: string }).code ?? "");

/** Some rows in the order of their places. */
export interface Page {
  /** Place of the last one; null: there is none. */
  last: bigint | null;
  rows: Value[][];
  /** Rows that the next page may have. */
  nextLimit: number;
}

/** A few rows fewer when they are large, and a single one when the server finds the answer too large. */
export async function readPage(
  source: Client,
  table: MovedTable,
  after: bigint,
  limit: number,
): Promise<Page> {
  const found = await source
    .execute(pageOf(table, after, limit))
    .catch((error: unknown) =>
      limit > 1 && /RESPONSE_TOO_LARGE|too large/i.test(String(error)) ? null : Promise.reject(error),
    );
  if (found === null) return await readPage(source, table, after, Math.ceil(limit / 10));
  const rows = found.rows.map((row) => table.columns.map((_, index) => row[index + 1]!));
  const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
  const fitting = Math.floor((limit * PAGE_BYTES) / Math.max(bytes, 1));
  const most = Math.min(MOST_ROWS, Math.floor(MAX_VALUES / table.columns.length), limit * 4);
  const last = found.rows.at(-1)?.[0];
  return {
    last: last === undefined ? null : (last as bigint),
    rows,
    nextLimit: Math.max(1, Math.min(fitting, most)),
  };
}

const placeAfter = (before: Place, { last, rows }: Page): Place => ({
  after: last ?? before.after,
  copied: withRows(before.copied, rows),
  done: last === null,
});

async function readPlace(target: Client, { name }: MovedTable): Promise<Place> {
  const { rows } = await target.execute({
    sql: `SELECT place, rows, sum, done FROM ${UNFINISHED} WHERE name = ?`,
    args: [name],
  });
  const [row] = rows;
  if (row === undefined) return { after: BEFORE_ALL, copied: { rows: 0, sum: 0n }, done: false };
  return {
    after: BigInt(String(row.place)),
    copied: { rows: Number(row.rows), sum: BigInt(String(row.sum)) },
    done: Number(row.done) === 1,
  };
}

const note = ({ name }: MovedTable, { after, copied, done }: Place): InStatement => ({
  sql: `INSERT INTO ${UNFINISHED} VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE
    SET place = excluded.place, rows = excluded.rows, sum = excluded.sum, done = excluded.done`,
  args: [name, String(after), copied.rows, String(copied.sum), done ? 1 : 0],
});

/** What AUTOINCREMENT has given: an id of a row that is gone is not given again. */
async function copyCounters(source: Client, target: Client): Promise<void> {
  const { rows: tables } = await source.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'");
  if (tables.length === 0) return;
  const { rows } = await source.execute("SELECT name, seq FROM sqlite_sequence");
  await target.migrate([
    "DELETE FROM sqlite_sequence",
    ...rows.map(({ name, seq }) => ({
      sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
      args: [name!, seq!],
    })),
  ]);
}
