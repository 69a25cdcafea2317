import {
  MOST_COUNTED,
  MOST_UNASKED,
  nextOf,
  placeOf,
  totalOf,
  type Page,
  type PageWanted,
} from "../model/page.ts";
import { defineQuery, integer } from "./query.ts";
import type { Arguments, Reading } from "./store.ts";

/** A table whose rows are listed from the newest on, page by page. Made by `definePages`. */
export interface Pages {
  /**
   * Where the rows of a page are.
   *
   * @param args for the condition
   * @returns `rowids` as JSON; an empty page has `[]`
   */
  find(
    store: Pick<Reading, "read" | "readOne">,
    args: Arguments,
    wanted: PageWanted,
  ): Promise<Omit<Page<never>, "items"> & { rowids: string }>;
}

/** Most bytes of what a page weighs; one row is on it however heavy it is. */
const MOST_BYTES = 1_048_576;

/**
 * Describes such a list once, at the top of a module, as `defineQuery` does.
 *
 * @param table  has a `created_at`
 * @param where  of its rows; an index has these columns and then `created_at`. `?1` and so on are its arguments
 * @param args   how many these are
 * @param weight SQL for the bytes of what may be long in a row: a page with much of it ends early. Default: nothing is
 */
export function definePages(table: string, where: string, args: number, weight = "0"): Pages {
  const places = defineQuery(
    `SELECT created_at AS at, rowid AS row, ${weight} AS bytes FROM ${table}
    WHERE ${where} AND (created_at, rowid) < (?${args + 1}, ?${args + 2})
    ORDER BY created_at DESC, rowid DESC LIMIT ?${args + 3}`,
    { at: integer(), row: integer(), bytes: integer() },
  );
  const counted = defineQuery(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE ${where} LIMIT ${MOST_COUNTED + 1})`,
    { n: integer() },
  );
  return {
    async find(store, given, { limit = MOST_UNASKED, before }) {
      const from = placeOf(before);
      const found = await store.read(places, [...given, from.at, from.row, limit + 1]);
      let bytes = 0;
      const tooHeavy = found.findIndex((row, index) => (bytes += row.bytes) > MOST_BYTES && index > 0);
      const fit = tooHeavy === -1 ? limit : Math.min(limit, tooHeavy);
      return {
        total: totalOf((await store.readOne(counted, given))!.n),
        next: nextOf(found, fit),
        rowids: JSON.stringify(found.slice(0, fit).map(({ row }) => row)),
      };
    },
  };
}

/** What the query of the rows themselves ends with; its one argument is `rowids`. */
export const ROWS_OF_PAGE =
  "WHERE rowid IN (SELECT value FROM json_each(?)) ORDER BY created_at DESC, rowid DESC";
