import { bytes, defineQuery, integer, nullable, text, type Decoder, type RawValue } from "../query.ts";
import { contextOf, SEALED_COLUMNS, type SealedColumn } from "./sealed-columns.ts";
import { walkColumn } from "./seal-walk.ts";
import { SealBroken } from "./secret-box.ts";
import type { Store } from "../store.ts";

/** In `meta` for as long as values may be there that were sealed with one key for everything; see {@link writesFormerSeals}. */
export const FORMER_SEALS_ROW = "seals_of_before";
/** The row says so while nodes may run that open no others. */
const STILL_WRITTEN = "written";
const NO_MORE_WRITTEN = "read";
/** A session may have 200 kB. */
const ROWS_AT_ONCE = 50;

const FORMER = defineQuery("SELECT value FROM meta WHERE key = ?", { value: text() });
// Rows of nodes that are gone are removed with the next look of one that lives.
const VERSIONS = defineQuery("SELECT count(DISTINCT version) AS n FROM nodes", { n: integer() });
const NO_MORE = "UPDATE meta SET value = ? WHERE key = ?";
const ALL_DONE = "DELETE FROM meta WHERE key = ? OR key LIKE 'resealed:%'";

const anything: Decoder<RawValue> = { decode: (value) => value };

const COLUMNS = SEALED_COLUMNS.map((sealed) => ({ sealed, ...stepsOf(sealed) }));

function stepsOf({ table, column, keys }: SealedColumn) {
  const shape = {
    row: integer(),
    former: nullable(bytes()),
    ...Object.fromEntries(keys.map((key) => [key, anything])),
  };
  const quoted = keys.map((key) => `"${key}"`).join(", ");
  return {
    page: defineQuery(
      `SELECT rowid AS row, CASE WHEN typeof("${column}") = 'blob' AND substr("${column}", 1, 1) = x'01' THEN "${column}" END AS former, ${quoted}
        FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`,
      shape,
    ),
    // Written anew meanwhile, it is sealed with the present key.
    update: `UPDATE ${table} SET "${column}" = ? WHERE rowid = ? AND "${column}" = ?`,
  };
}

/**
 * Whether a process must still seal as earlier versions did: among several nodes, until all of them have been seen to run a version that
 * opens both. One that is alone need not.
 *
 * @param row what `meta` has under {@link FORMER_SEALS_ROW}
 */
export const writesFormerSeals = (row: string | null, isNode: boolean): boolean =>
  isNode && row === STILL_WRITTEN;

/**
 * Seals with the keys of numbers and months what was sealed with one key for everything, a few rows in each commit. A node that still
 * seals as before only looks whether that can end; its next start begins.
 *
 * @returns how many values it has sealed
 */
export async function resealFormer(store: Store, stopping: AbortSignal): Promise<number> {
  const former = await store.readOne(FORMER, [FORMER_SEALS_ROW]);
  if (former === null) return 0;
  if (store.box.format === 1) {
    if ((await store.readOne(VERSIONS))!.n === 1)
      await store.writer.commit([{ sql: NO_MORE, args: [NO_MORE_WRITTEN, FORMER_SEALS_ROW] }]);
    return 0;
  }
  let values = 0;
  for (const column of COLUMNS) values += await resealColumn(store, column, stopping);
  if (!stopping.aborted) await store.writer.commit([{ sql: ALL_DONE, args: [FORMER_SEALS_ROW] }]);
  return values;
}

function resealColumn(
  store: Store,
  { sealed, page, update }: (typeof COLUMNS)[number],
  stopping: AbortSignal,
): Promise<number> {
  const { box } = store;
  const anew = (value: Buffer, context: string): Buffer[] => {
    try {
      return [box.seal(box.open(value, context), context)];
    } catch (error) {
      // What does not open is for `doctor` to tell of.
      if (error instanceof SealBroken) return [];
      throw error;
    }
  };
  return walkColumn(
    store,
    {
      key: `resealed:${sealed.table}.${sealed.column}`,
      page,
      rowsAtOnce: ROWS_AT_ONCE,
      changes: (rows) =>
        rows.flatMap(({ row, former, ...keys }) => {
          if (former === null) return [];
          const values = anew(former, contextOf(sealed, keys));
          return values.map((value) => ({ sql: update, args: [value, row, former] }));
        }),
    },
    stopping,
  );
}
