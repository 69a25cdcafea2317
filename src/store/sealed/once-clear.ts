import { defineQuery, integer, nullable, text, type Decoder, type RawValue } from "../query.ts";
import { contextOf, SEALED_COLUMNS, type SealedColumn } from "./sealed-columns.ts";
import { isWalked, NOTE, walkColumn } from "./seal-walk.ts";
import type { SecretBox, Store } from "../store.ts";

/** Columns that versions up to 0.2 wrote in the clear. */
const ONCE_CLEAR = ["webhooks.url", "bot_bindings.config", "deliveries.url"];
const ROWS_AT_ONCE = 200;

/**
 * A value of a column that was once written in the clear.
 *
 * @param value as it was read: the sealed bytes, or the text of a row that is still to be sealed
 * @throws {SealBroken} when the bytes do not open
 */
export function openOnceClear(box: Pick<SecretBox, "open">, value: Buffer | string, context: string): string {
  return typeof value === "string" ? value : box.open(value, context).toString("utf8");
}

const anything: Decoder<RawValue> = { decode: (value) => value };

/** What sealing one column takes. The rows are read by their place: what is sealed already is stepped over. */
function stepsOf(sealed: SealedColumn) {
  const { table, column, keys } = sealed;
  const shape = {
    row: integer(),
    clear: nullable(text()),
    ...Object.fromEntries(keys.map((key) => [key, anything])),
  };
  return {
    sealed,
    name: `${table}.${column}`,
    page: defineQuery(
      `SELECT rowid AS row, CASE WHEN typeof(${column}) = 'text' THEN ${column} END AS clear, ${keys.join(", ")}
        FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`,
      shape,
    ),
    // Written anew meanwhile, it is sealed already.
    update: `UPDATE ${table} SET ${column} = ? WHERE rowid = ? AND typeof(${column}) = 'text'`,
  };
}

/** Said in `meta` when clear text was overwritten: what SQLite has left of it in unused places goes with a `VACUUM`. */
export const TRACES_ROW = "sealed_traces";

const COLUMNS = SEALED_COLUMNS.filter(({ table, column }) => ONCE_CLEAR.includes(`${table}.${column}`)).map(
  stepsOf,
);
const rowOf = (name: string): string => `sealed:${name}`;
/** What `meta` says of each column: up to which row it is sealed, or that it is. */
export const ONCE_CLEAR_ROWS = COLUMNS.map(({ name }) => ({ key: rowOf(name), isDone: isWalked }));

/**
 * Seals what earlier versions wrote in the clear, a few rows in each commit.
 *
 * @returns how many values it has sealed
 */
export async function sealOnceClear(store: Store, stopping: AbortSignal): Promise<number> {
  let values = 0;
  for (const { sealed, name, page, update } of COLUMNS)
    values += await walkColumn(
      store,
      {
        key: rowOf(name),
        page,
        rowsAtOnce: ROWS_AT_ONCE,
        beside: [{ sql: NOTE, args: [TRACES_ROW, "1"] }],
        changes: (rows) =>
          rows.flatMap(({ row, clear, ...keys }) =>
            clear === null
              ? []
              : [{ sql: update, args: [store.box.seal(clear, contextOf(sealed, keys)), row] }],
          ),
      },
      stopping,
    );
  return values;
}
