import type { Statement, Store } from "../../../src/store/store.ts";
import { rawRows } from "./rows.ts";

type Reader = Pick<Store, "read">;

/** How the database would run a statement: SQLite's words, one step each (`SEARCH inbox USING INDEX …`, `SCAN …`). */
export async function planOf(store: Reader, { sql, args }: Statement): Promise<string[]> {
  return (await rawRows(store, `EXPLAIN QUERY PLAN ${sql}`, args)).map((row) => String(row.detail));
}

/** Steps that read a whole table or index, whatever its size. Lists handed in as JSON are no tables. */
export async function scansOf(store: Reader, statement: Statement): Promise<string[]> {
  const steps = await planOf(store, statement);
  return steps.filter(
    (step) => step.startsWith("SCAN ") && !/VIRTUAL TABLE|CONSTANT ROW|\bids\b|subquery/i.test(step),
  );
}

interface Watched {
  store: Store;
  seen: Statement[];
  units: Statement[][];
  /** Rows that each statement of a unit has changed. */
  affected: number[];
}

/** Notes every statement that goes through a store, reads and writes. */
export function watchStatements(store: Store): Watched {
  const seen: Statement[] = [];
  const units: Statement[][] = [];
  const affected: number[] = [];
  const watched: Store = {
    ...store,
    read(query, args = []) {
      seen.push({ sql: query.sql, args });
      return store.read(query, args);
    },
    readOne(query, args = []) {
      seen.push({ sql: query.sql, args });
      return store.readOne(query, args);
    },
    async *pages(query, argsAfter, rows = 200) {
      seen.push({ sql: query.sql, args: [...argsAfter(null), rows] });
      yield* store.pages(query, argsAfter, rows);
    },
    writer: {
      ...store.writer,
      async commit(statements) {
        seen.push(...statements);
        units.push(statements);
        const results = await store.writer.commit(statements);
        affected.push(...results.map(({ rowsAffected }) => rowsAffected));
        return results;
      },
    },
  };
  return { store: watched, seen, units, affected };
}
