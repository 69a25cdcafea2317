import { StorageUnavailable } from "../../../src/store/errors.ts";
import type { Statement, Store } from "../../../src/store/store.ts";

/** A store of which single answers get lost: what was asked for has happened, and whoever asked is told that it has not. */
export interface FaultyStore {
  wrap(store: Store): Store;
  /** The answers to the next commits that hold this SQL are lost. */
  loseAnswers(sql: string, times?: number): void;
  /** The next reads that hold this SQL fail. */
  failReads(sql: string, times?: number): void;
  /** How many answers were lost, and reads have failed, so far. */
  readonly faults: number;
}

export function faultyStore(): FaultyStore {
  const lost: { sql: string; times: number }[] = [];
  const failing: { sql: string; times: number }[] = [];
  let faults = 0;

  function takes(plans: { sql: string; times: number }[], sql: string): boolean {
    const plan = plans.find((one) => one.times > 0 && sql.includes(one.sql));
    if (plan === undefined) return false;
    plan.times--;
    faults++;
    return true;
  }

  const away = (): Promise<never> => Promise.reject(new StorageUnavailable("fetch failed"));

  return {
    loseAnswers: (sql, times = 1) => void lost.push({ sql, times }),
    failReads: (sql, times = 1) => void failing.push({ sql, times }),
    get faults() {
      return faults;
    },
    wrap: (store) => ({
      ...store,
      read: (query, args) => (takes(failing, query.sql) ? away() : store.read(query, args)),
      readOne: (query, args) => (takes(failing, query.sql) ? away() : store.readOne(query, args)),
      writer: {
        ...store.writer,
        async commit(statements: Statement[]) {
          const results = await store.writer.commit(statements);
          return takes(lost, statements.map(({ sql }) => sql).join("\n")) ? away() : results;
        },
      },
    }),
  };
}
