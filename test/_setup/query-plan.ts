import type { Query } from "../../src/store/query.ts";
import type { Statement, Store } from "../../src/store/store.ts";
import { rawRows } from "../unit/store/rows.ts";

/**
 * The steps of a statement that read a whole table, a whole index, or the whole of what a subquery made. Nothing is run,
 * and what the arguments are does not matter.
 *
 * Every line of it is a stall as soon as the table is long. Look at the answer, not for time: it is the same with no rows.
 *
 * @param sql one statement, reading or writing, with `?` or `?1` for its arguments
 * @param mayScan what may be read from end to end, as the plan names it: a table's name, or its alias where it has one.
 *   Give the reason beside it.
 * @returns e.g. `SCAN outbox`, `SCAN h USING INDEX outbox_waiting`; empty when every step looks something up
 */
export async function fullScans(
  store: Pick<Store, "read">,
  sql: string,
  mayScan: readonly string[] = [],
): Promise<string[]> {
  const plan = await planOf(store, sql);
  return plan.filter((step) => {
    const [, scanned] = /^SCAN (?:TABLE )?(\S+)/.exec(step) ?? [];
    // A row of constants, and the values that were handed in as JSON.
    if (scanned === undefined || scanned === "CONSTANT" || step.includes("VIRTUAL TABLE")) return false;
    return !mayScan.includes(scanned);
  });
}

/** All steps of a statement, e.g. `SEARCH o USING INDEX outbox_waiting (device_id=?)`. Nothing is run. */
export async function planOf(store: Pick<Store, "read">, sql: string): Promise<string[]> {
  const plan = await rawRows(store, `EXPLAIN QUERY PLAN ${sql}`, Array(countArguments(sql)).fill(null));
  return plan.map(({ detail }) => String(detail));
}

function countArguments(sql: string): number {
  const numbered = [...sql.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number));
  if (numbered.length > 0) return Math.max(...numbered);
  return sql.replaceAll(/'[^']*'/g, "").split("?").length - 1;
}

/** A store that remembers every statement that goes through it, so that a test can ask for the plans of those that ran. */
export function recordingStore(store: Store): { store: Store; statements: () => string[] } {
  const seen = new Set<string>();
  const note = (statements: Statement[]): void => {
    for (const { sql } of statements) seen.add(sql);
  };
  const { writer } = store;
  /** The same method, and a note of what it is asked. */
  const noting = <T extends object, K extends keyof T>(of: T, name: K): PropertyDescriptor => ({
    value: (first: unknown, ...rest: unknown[]) => {
      if (Array.isArray(first)) note(first as Statement[]);
      else seen.add((first as Query<unknown>).sql);
      return (of[name] as (...args: unknown[]) => unknown)(first, ...rest);
    },
  });
  // Everything else as it is, what is computed included.
  const recording = Object.create(store, {
    ...Object.fromEntries((["read", "readOne", "pages"] as const).map((name) => [name, noting(store, name)])),
    writer: {
      value: Object.create(writer, { commit: noting(writer, "commit"), soon: noting(writer, "soon") }),
    },
  }) as Store;
  return { store: recording, statements: () => [...seen] };
}
