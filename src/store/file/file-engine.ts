import { connect, type Connection } from "../connection.ts";
import { BatchFailed, failureKind, type Engine } from "../engine.ts";
import type { RawRows } from "../query.ts";
import type { RowSource } from "../reading.ts";
import { toResultSet, type RawResult } from "../result.ts";
import type { Statement } from "../store.ts";

/** Reads the database file in this thread, beside whoever writes it. */
export interface FileReader extends RowSource {
  /** @throws {BatchFailed} */
  read(statement: Statement): RawRows;
}

/** Reads on a connection of their own that cannot write. */
export function createFileReader(path: string): FileReader {
  let connection: Connection | null = connect(path, ["query_only = ON"]);
  let closed = false;
  function read(statement: Statement): RawRows {
    if (closed) throw new BatchFailed("unavailable", null, new Error("it is closed"));
    try {
      connection ??= connect(path, ["query_only = ON"]);
      return connection.rows(statement);
    } catch (error) {
      throw toBatchFailed(error, 0);
    }
  }
  function disconnect(): void {
    connection?.close();
    connection = null;
  }
  return {
    read,
    reconnect: disconnect,
    close() {
      closed = true;
      disconnect();
    },
  };
}

/** What a file is written with, synchronously; the engines that use it decide in which thread. */
export interface FileWriter {
  /** One transaction. @throws {BatchFailed} after which nothing of it is in the database */
  batch(statements: Statement[]): RawResult[];
  reconnect(): void;
  /** Moves what the WAL holds into the file. May throw. */
  checkpoint(): void;
  close(): void;
}

// All but the journal mode hold for one connection only; the client's pool would have to be told for each of its own.
// What is overwritten or deleted within a page is wiped: it may be clear text of an earlier version. FAST costs no write more.
const WRITER_PRAGMAS = [
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  "secure_delete = FAST",
];

/** How long a start waits for somebody else's lock on the database file. */
export const START_PATIENCE_MS = 10_000;

/**
 * Opens the writing connection. Waits for whoever holds the file for a moment, as somebody does who tidies up after a crash; what
 * comes later is told at once that the file is locked.
 *
 * @throws what the driver throws
 */
export function createFileWriter(path: string): FileWriter {
  const patiently = [`busy_timeout = ${START_PATIENCE_MS}`, ...WRITER_PRAGMAS, "busy_timeout = 0"];
  // Null after a failure: opened anew by the next batch, which reports it when that fails as well.
  let connection: Connection | null = connect(path, patiently);

  function disconnect(): void {
    connection?.close();
    connection = null;
  }

  return {
    batch(statements) {
      try {
        connection ??= connect(path, WRITER_PRAGMAS);
      } catch (error) {
        throw toBatchFailed(error, null);
      }
      return runBatch(connection, statements);
    },
    reconnect: disconnect,
    checkpoint() {
      connection ??= connect(path, WRITER_PRAGMAS);
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

/** Writes to a file on the event loop's own thread: every commit holds up everything until the disk has it. */
export function createFileEngine(path: string): Engine {
  const writer = createFileWriter(path);
  return {
    batch: async (statements) => writer.batch(statements).map(toResultSet),
    reconnect: async () => writer.reconnect(),
    checkpoint: async () => writer.checkpoint(),
    close: async () => writer.close(),
  };
}

const BEGIN: Statement = { sql: "BEGIN IMMEDIATE", args: [] };
const COMMIT: Statement = { sql: "COMMIT", args: [] };
const ROLLBACK: Statement = { sql: "ROLLBACK", args: [] };

function runBatch(connection: Connection, statements: Statement[]): RawResult[] {
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
