import type { Client } from "@libsql/client";
import type { RawRows } from "../query.ts";
import type { Statement } from "../store.ts";
import { toRawRows, type Within } from "./client.ts";

/** Rows in the first part; fewer when these are still too much. */
const ROWS_AT_FIRST = 64;

/** Whether the server has an answer and does not give it: it gives at most 10 MB at once, by default. */
export const isTooMuch = (error: unknown): boolean =>
  (error as { code?: string }).code === "RESPONSE_TOO_LARGE";

/**
 * The rows of a query that are more than the server gives at once, in several answers of one transaction: what is written
 * meanwhile moves no row from one part into another. Costs a request for each part, and the query is run as often.
 *
 * @throws what the client throws, also when a single row is too much
 */
export async function readInParts(
  client: Client,
  within: Within,
  { sql, args }: Statement,
): Promise<RawRows> {
  let all: RawRows = { columns: [], values: [] };
  let most = ROWS_AT_FIRST;
  let transaction = await within(client.transaction("read"));
  try {
    for (;;) {
      try {
        const part = `SELECT * FROM (${sql}) LIMIT ${most} OFFSET ${all.values.length}`;
        const { columns, values } = toRawRows(await within(transaction.execute({ sql: part, args })));
        all = { columns, values: [...all.values, ...values] };
        if (values.length < most) return all;
      } catch (error) {
        if (!isTooMuch(error) || most === 1) throw error;
        most = Math.max(1, Math.floor(most / 4));
        // From the beginning: the server may have ended the transaction with its refusal.
        transaction.close();
        transaction = await within(client.transaction("read"));
        all = { columns: [], values: [] };
      }
    }
  } finally {
    transaction.close();
  }
}
