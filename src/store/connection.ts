import Database, { type Statement as Prepared } from "libsql";
import type { RawRows, RawValue } from "./query.ts";
import { fromBigint, type RawResult } from "./result.ts";
import type { Statement } from "./store.ts";

interface CachedStatement {
  /** Takes all arguments as one array: alone, a blob would be read as a set of named arguments. */
  prepared: Prepared<[Bound[]]>;
  /** Null when the statement returns no rows. */
  columns: string[] | null;
}
type Bound = Exclude<Statement["args"][number], boolean>;

const MAX_CACHED_STATEMENTS = 500;

/**
 * A connection to a file, on the driver below libSQL's client: the client prepares every statement anew each time, which
 * costs two and a half times the CPU of a commit. Every call keeps its thread until SQLite has answered.
 */
export interface Connection {
  /** @throws what the driver throws */
  run(statement: Statement): RawResult;
  /** Rows only, and a little cheaper. The array of columns is the same one each time. @throws what the driver throws */
  rows(statement: Statement): RawRows;
  /** Names of the columns that a statement returns; it is not run. @throws what the driver throws */
  columns(sql: string): string[];
  inTransaction(): boolean;
  /** Moves what the WAL holds into the database file. */
  tidy(): void;
  close(): void;
}

/** @param pragmas hold for this connection */
export function connect(path: string, pragmas: string[]): Connection {
  const database = new Database(path);
  for (const pragma of pragmas) database.exec(`PRAGMA ${pragma}`);
  const cache = new Map<string, CachedStatement>();
  return {
    run: ({ sql, args }) => runExactly(cached(cache, database, sql), bind(args)),
    rows: ({ sql, args }) => readRows(cached(cache, database, sql), bind(args)),
    columns: (sql) => cached(cache, database, sql).columns ?? [],
    inTransaction: () => database.inTransaction,
    tidy: () => void database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all(),
    close() {
      cache.clear();
      if (database.open) database.close();
    },
  };
}

function cached(
  cache: Map<string, CachedStatement>,
  database: Database.Database,
  sql: string,
): CachedStatement {
  const known = cache.get(sql);
  if (known !== undefined) return known;
  const prepared = database.prepare(sql) as unknown as Prepared<[Bound[]]>;
  const statement: CachedStatement = { prepared, columns: null };
  if (prepared.reader) {
    prepared.raw(true);
    statement.columns = prepared.columns().map((column) => column.name);
  }
  // Texts that hold values or long IN lists would fill the cache for ever; the oldest goes.
  if (cache.size >= MAX_CACHED_STATEMENTS) cache.delete(cache.keys().next().value!);
  cache.set(sql, statement);
  return statement;
}

// The driver ends the whole process when it is handed a boolean.
const bind = (args: Statement["args"]): Bound[] =>
  args.map((value): Bound => (typeof value === "boolean" ? Number(value) : value));

/** What `RETURNING` gives cannot be asked for again, so integers are taken exactly from the start. */
function runExactly({ prepared, columns }: CachedStatement, bound: Bound[]): RawResult {
  if (columns === null) {
    const { changes, lastInsertRowid } = prepared.run(bound);
    return { columns: [], values: [], rowsAffected: changes, lastInsertRowid: BigInt(lastInsertRowid) };
  }
  const values = exactly(prepared, bound);
  return { columns, values, rowsAffected: 0, lastInsertRowid: null };
}

function readRows({ prepared, columns }: CachedStatement, bound: Bound[]): RawRows {
  const values = prepared.all(bound) as RawValue[][];
  // Only now and then is there one; as a double it has lost its last digits.
  return { columns: columns ?? [], values: values.some(hasInexact) ? exactly(prepared, bound) : values };
}

const hasInexact = (row: RawValue[]): boolean =>
  row.some((value) => typeof value === "number" && (value > MAX_EXACT || value < -MAX_EXACT));
const MAX_EXACT = Number.MAX_SAFE_INTEGER;

function exactly(prepared: Prepared<[Bound[]]>, bound: Bound[]): RawValue[][] {
  prepared.safeIntegers(true);
  try {
    return (prepared.all(bound) as RawValue[][]).map((row) => row.map(fromBigint));
  } finally {
    prepared.safeIntegers(false);
  }
}
