import type { ResultSet, Row, Value } from "@libsql/client";
import Database, { type Statement as Prepared } from "libsql";
import { BatchFailed, failureKind, type Engine } from "./engine.ts";
import type { Statement } from "./store.ts";

interface CachedStatement {
  /** Takes all arguments as one array: alone, a blob would be read as a set of named arguments. */
  prepared: Prepared<[Bound[]]>;
  /** Null when the statement returns no rows. */
  columns: string[] | null;
}
type Bound = Exclude<Statement["args"][number], boolean>;

const MAX_CACHED_STATEMENTS = 500;

/** Reads of hot paths, on a connection of their own that cannot write. */
export function createFileReader(path: string): { rows(statement: Statement): Row[]; close(): void } {
  const connection = connect(path, ["query_only = ON"]);
  return { rows: (statement) => connection.run(statement).rows, close: () => connection.close() };
}

/**
 * The writing connection to a file. It does what `client.batch(…, "write")` does, on the driver below it, because the
 * client prepares every statement anew each time: that costs two and a half times the CPU of the commit itself.
 */
export function createFileEngine(path: string): Engine {
  // Null after a failure: opened anew by the next batch, which reports it when that fails as well.
  let connection: Connection | null = connect(path);

  function disconnect(): void {
    connection?.close();
    connection = null;
  }

  return {
    async batch(statements) {
      try {
        connection ??= connect(path);
      } catch (error) {
        throw toBatchFailed(error, null);
      }
      return runBatch(connection, statements);
    },
    reconnect: async () => disconnect(),
    checkpoint() {
      connection ??= connect(path);
      connection.tidy();
    },
    close() {
      // One file is left that can be copied. Closing alone does it only when no reader is open; when the disk is full
      // the WAL stays, and the next start reads it.
      try {
        connection?.tidy();
      } catch {
        // Nothing is lost: see above.
      }
      disconnect();
    },
  };
}

interface Connection {
  /** @throws what the driver throws */
  run(statement: Statement): ResultSet;
  inTransaction(): boolean;
  /** Moves what the WAL holds into the database file. */
  tidy(): void;
  close(): void;
}

// All but the journal mode hold for one connection only; the client's pool would have to be told for each of its own.
const WRITER_PRAGMAS = ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"];

function connect(path: string, pragmas: string[] = WRITER_PRAGMAS): Connection {
  const database = new Database(path);
  for (const pragma of pragmas) database.exec(`PRAGMA ${pragma}`);
  const cache = new Map<string, CachedStatement>();
  return {
    run: ({ sql, args }) => runPrepared(cached(cache, database, sql), args),
    inTransaction: () => database.inTransaction,
    tidy: () => void database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all(),
    close() {
      cache.clear();
      if (database.open) database.close();
    },
  };
}

const BEGIN: Statement = { sql: "BEGIN IMMEDIATE", args: [] };
const COMMIT: Statement = { sql: "COMMIT", args: [] };
const ROLLBACK: Statement = { sql: "ROLLBACK", args: [] };

function runBatch(connection: Connection, statements: Statement[]): ResultSet[] {
  let index: number | null = null;
  try {
    connection.run(BEGIN);
    const results = statements.map((statement, position) => {
      index = position;
      return connection.run(statement);
    });
    index = null;
    connection.run(COMMIT);
    return results;
  } catch (error) {
    rollBack(connection);
    throw toBatchFailed(error, index);
  }
}

function toBatchFailed(error: unknown, index: number | null): BatchFailed {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return new BatchFailed(failureKind(code, message), index, error);
}

function rollBack(connection: Connection): void {
  try {
    // A full disk or an I/O error has already rolled back.
    if (connection.inTransaction()) connection.run(ROLLBACK);
  } catch (error) {
    throw new BatchFailed("busy", null, error);
  }
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

function runPrepared({ prepared, columns }: CachedStatement, args: Statement["args"]): ResultSet {
  // The driver ends the whole process when it is handed a boolean.
  const bound = args.map((value): Bound => (typeof value === "boolean" ? Number(value) : value));
  if (columns === null) {
    const { changes, lastInsertRowid } = prepared.run(bound);
    return resultSet([], [], changes, BigInt(lastInsertRowid));
  }
  const rows = (prepared.all(bound) as Value[][]).map((values) => toRow(columns, values));
  return resultSet(columns, rows, 0, undefined);
}

/** Values by name and by position, and blobs as ArrayBuffer: the shape that the client gives. */
function toRow(columns: string[], values: unknown[]): Row {
  const row = {} as Row;
  Object.defineProperty(row, "length", { value: values.length });
  for (const [position, name] of columns.entries()) {
    const value = toValue(values[position]);
    Object.defineProperty(row, position, { value });
    row[name] = value;
  }
  return row;
}

function toValue(value: unknown): Value {
  if (!Buffer.isBuffer(value)) return value as Value;
  return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) as ArrayBuffer;
}

function resultSet(
  columns: string[],
  rows: Row[],
  rowsAffected: number,
  lastInsertRowid: bigint | undefined,
): ResultSet {
  const columnTypes = columns.map(() => "");
  return {
    columns,
    columnTypes,
    rows,
    rowsAffected,
    lastInsertRowid,
    toJSON: () => ({
      columns,
      columnTypes,
      rows,
      rowsAffected,
      lastInsertRowid: lastInsertRowid?.toString(),
    }),
  };
}
