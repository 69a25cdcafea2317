import { defineQuery, text, type Query } from "../query.ts";
import type { Statement, Store } from "../store.ts";

/** So that messages are stored meanwhile as fast as ever. */
const PAUSE_MS = 20;
const DONE = "done";
const PLACE = defineQuery("SELECT value FROM meta WHERE key = ?", { value: text() });

/** Puts a row of `meta` there. */
export const NOTE =
  "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/** One column whose rows are looked at once, by their place. */
export interface SealWalk<Row extends { row: number }> {
  /** In `meta`: up to which row it was done, or that it is. */
  key: string;
  /** Gets the place after which it begins; gives `rowsAtOnce` rows, or fewer at the end. */
  page: Query<Row>;
  rowsAtOnce: number;
  /** What is to be written for these rows. */
  changes(rows: Row[]): Statement[];
  /** Written with every change. */
  beside?: Statement[];
}

/** Whether `meta` says that a walk is done. */
export const isWalked = (place: string | null): boolean => place === DONE;

/**
 * Goes through a column, a few rows in each commit. Ended at any instant, it goes on where it was.
 *
 * @returns how many rows it has changed
 */
export async function walkColumn<Row extends { row: number }>(
  { read, readOne, writer, time }: Pick<Store, "read" | "readOne" | "writer" | "time">,
  { key, page, rowsAtOnce, changes, beside = [] }: SealWalk<Row>,
  stopping: AbortSignal,
): Promise<number> {
  // Imported messages have places below zero.
  const place = (await readOne(PLACE, [key]))?.value ?? String(Number.MIN_SAFE_INTEGER);
  let changed = 0;
  if (isWalked(place)) return changed;
  for (let after = Number(place); !stopping.aborted; await time.pause(PAUSE_MS, stopping)) {
    const rows = await read(page, [after]);
    const statements = changes(rows);
    changed += statements.length;
    if (statements.length > 0) statements.push(...beside);
    const ended = rows.length < rowsAtOnce;
    after = rows.at(-1)?.row ?? after;
    if (statements.length > 0 || ended)
      await writer.commit([...statements, { sql: NOTE, args: [key, ended ? DONE : String(after)] }], {
        owning: null,
      });
    if (ended) return changed;
  }
  return changed;
}
