import { LibsqlBatchError, LibsqlError, createClient, type Client, type ResultSet } from "@libsql/client";
import { BatchFailed, failureKind, type Engine } from "./engine.ts";
import type { RawRows, RawValue } from "./query.ts";
import type { RowSource } from "./reading.ts";
import { fromBigint, toResultSet } from "./result.ts";

/**
 * Writes to a libSQL server by `http(s)://`: every batch is one request, and the server keeps its transactions apart.
 *
 * A request whose answer is lost may have been carried out. The caller is told "unavailable", and whoever does the work
 * again must not mind finding it done: rows have unique keys, guards stand in the SQL.
 */
export function createClientEngine(url: string, authToken: string | null): Engine {
  const client = connectToServer(url, authToken);
  return {
    async batch(statements) {
      try {
        return (await client.batch(statements, "write")).map(exactly);
      } catch (error) {
        throw toBatchFailed(error);
      }
    },
    reconnect: async () => client.reconnect(),
    // The server's own business.
    checkpoint: async () => undefined,
    close: async () => client.close(),
  };
}

/** Reads from a libSQL server; each read is one request. */
export function createServerReader(url: string, authToken: string | null): RowSource {
  const client = connectToServer(url, authToken);
  return {
    async read(statement) {
      try {
        return toRawRows(await client.execute(statement));
      } catch (error) {
        throw toBatchFailed(error);
      }
    },
    reconnect: async () => client.reconnect(),
    close: () => client.close(),
  };
}

/** Integers come as bigint, because the client throws a whole result away when one of them is beyond 2^53. */
const connectToServer = (url: string, authToken: string | null): Client =>
  createClient({ url, authToken: authToken ?? undefined, intMode: "bigint" });

function toRawRows({ columns, rows }: ResultSet): RawRows {
  const values = rows.map((row) => columns.map((_, index): RawValue => fromBigint(row[index]!)));
  return { columns, values };
}

function exactly(result: ResultSet): ResultSet {
  if (result.rows.length === 0) return result;
  return toResultSet({ ...toRawRows(result), rowsAffected: result.rowsAffected, lastInsertRowid: null });
}

function toBatchFailed(error: unknown): BatchFailed {
  if (!(error instanceof LibsqlError)) return new BatchFailed("unavailable", null, error);
  const index = error instanceof LibsqlBatchError ? error.statementIndex : null;
  return new BatchFailed(failureKind(error.extendedCode ?? error.code, error.message), index, error);
}
