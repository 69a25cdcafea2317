import type { Row } from "@libsql/client";
import { toRows } from "../../../src/store/result.ts";
import type { Arguments, Store } from "../../../src/store/store.ts";

/** Rows as the driver gives them, of whatever statement: for tests that look behind the program. */
export function rawRows({ read }: Pick<Store, "read">, sql: string, args: Arguments = []): Promise<Row[]> {
  return read({ sql, decode: toRows, mismatch: () => ({ missing: [], unused: [] }) }, args);
}
