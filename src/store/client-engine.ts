import { LibsqlBatchError, LibsqlError, createClient, type Client } from "@libsql/client";
import { BatchFailed, failureKind, type Engine } from "./engine.ts";

/**
 * Writes to a libSQL server by `http(s)://`: every batch is one request, and the server keeps its transactions apart.
 *
 * A request whose answer is lost may have been carried out. The caller is told "unavailable", and whoever does the work
 * again must not mind finding it done: rows have unique keys, guards stand in the SQL.
 */
export function createClientEngine(url: string, authToken: string | null): Engine {
  const client: Client = createClient({ url, authToken: authToken ?? undefined });
  return {
    async batch(statements) {
      try {
        return await client.batch(statements, "write");
      } catch (error) {
        throw toBatchFailed(error);
      }
    },
    reconnect: async () => client.reconnect(),
    // The server's own business.
    checkpoint: () => undefined,
    close: () => client.close(),
  };
}

function toBatchFailed(error: unknown): BatchFailed {
  if (!(error instanceof LibsqlError)) return new BatchFailed("unavailable", null, error);
  const index = error instanceof LibsqlBatchError ? error.statementIndex : null;
  return new BatchFailed(failureKind(error.extendedCode ?? error.code, error.message), index, error);
}
