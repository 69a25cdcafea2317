import type { Time } from "../model/time.ts";
import { wrongArgument } from "./arguments.ts";
import type { BatchFailed } from "./engine.ts";
import { StorageUnavailable } from "./errors.ts";
import { whileBusy } from "./patience.ts";
import type { Query, RawRows } from "./query.ts";
import type { Arguments, Reading, Statement } from "./store.ts";

/** What an engine reads with. */
export interface RowSource {
  /** @throws {BatchFailed} */
  read(statement: Statement): RawRows | Promise<RawRows>;
  /** Drops the connection; the next read opens one. */
  reconnect(): void | Promise<void>;
  close(): void;
}

const PAGE_ROWS = 200;

/**
 * Typed reads over an engine's rows. A database that is busy is asked again for about five seconds, while the event loop
 * goes on.
 *
 * @param onFailed told of each failure that is not the statement's own
 */
export function createReading(
  source: Pick<RowSource, "read" | "reconnect">,
  time: Pick<Time, "pause">,
  onFailed: (failed: BatchFailed) => void = () => undefined,
): Reading {
  const reset = (): void | Promise<void> => source.reconnect();

  async function raw(sql: string, args: Arguments): Promise<RawRows> {
    const statement = { sql, args };
    const wrong = wrongArgument(statement);
    if (wrong !== null) throw new TypeError(wrong);
    try {
      const rows = source.read(statement);
      return rows instanceof Promise ? await rows : rows;
    } catch (error) {
      return await again(statement, error as BatchFailed);
    }
  }

  async function again(statement: Statement, first: BatchFailed): Promise<RawRows> {
    let failed: BatchFailed | null = first;
    const attempt = (): RawRows | Promise<RawRows> => {
      const known = failed;
      failed = null;
      if (known !== null) throw known;
      return source.read(statement);
    };
    try {
      return await whileBusy(time, attempt, reset);
    } catch (error) {
      const last = error as BatchFailed;
      if (last.kind === "statement" || last.kind === "constraint") throw last.cause;
      onFailed(last);
      throw new StorageUnavailable(last.message, { cause: last.cause, wanted: "read" });
    }
  }

  async function read<R>(query: Query<R>, args: Arguments = []): Promise<R[]> {
    return query.decode(await raw(query.sql, args));
  }

  return {
    read,
    async readOne(query, args) {
      const [row] = await read(query, args);
      return row ?? null;
    },
    async *pages<R>(query: Query<R>, argsAfter: (last: R | null) => Arguments, rows = PAGE_ROWS) {
      for (let last: R | null = null; ;) {
        const page: R[] = await read(query, [...argsAfter(last), rows]);
        if (page.length > 0) yield page;
        if (page.length < rows) return;
        last = page.at(-1)!;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}
