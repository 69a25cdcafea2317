import type { Client, InStatement, Value } from "@libsql/client";
import { MOVED_TO, MOVING, UNFINISHED } from "./marks.ts";

/** One thing of the schema, as SQLite wrote it down. */
export interface SchemaPart {
  type: string;
  name: string;
  sql: string;
}

/** A table and the way to page through it. */
export interface MovedTable {
  name: string;
  /** What is copied, the place of the row first where it is no column. */
  columns: string[];
  /** The place of a row: its rowid, by whatever name. */
  place: string;
}

/** Everything that somebody made; what SQLite keeps for itself comes by itself. */
export async function readSchema(client: Client): Promise<SchemaPart[]> {
  const { rows } = await client.execute(
    `SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND name NOT LIKE 'libsql\\_%' ESCAPE '\\' AND name <> '${UNFINISHED}' ORDER BY name`,
  );
  return rows.map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }));
}

/** The rowid is kept also where it is no column: progress of long works is noted by it. */
export async function describeTable(client: Client, name: string): Promise<MovedTable> {
  const { rows } = await client.execute({
    sql: "SELECT name, type, pk FROM pragma_table_info(?)",
    args: [name],
  });
  const columns = rows.map((row) => String(row.name));
  const keys = rows.filter(({ pk }) => Number(pk) > 0);
  const [key] = keys;
  const isRowid = keys.length === 1 && String(key!.type).toUpperCase() === "INTEGER";
  return isRowid
    ? { name, columns, place: String(key!.name) }
    : { name, columns: ["rowid", ...columns], place: "rowid" };
}

/** What is said of the move itself is of one database alone. */
const filterOf = ({ name }: MovedTable): string =>
  name === "meta" ? ` AND "key" NOT IN ('${MOVING}', '${MOVED_TO}')` : "";

const quoted = (columns: readonly string[]): string =>
  columns.map((column) => (column === "rowid" ? column : `"${column}"`)).join(", ");

/** Rows behind a place, in its order: the place of each, then the columns. */
export const pageOf = (table: MovedTable, after: bigint, limit: number): InStatement => ({
  sql: `SELECT ${quoted([table.place])}, ${quoted(table.columns)} FROM "${table.name}"
    WHERE ${quoted([table.place])} > ?${filterOf(table)} ORDER BY ${quoted([table.place])} LIMIT ${limit}`,
  args: [after],
});

export const countOf = (table: MovedTable): string =>
  `SELECT count(*) AS n FROM "${table.name}" WHERE true${filterOf(table)}`;

/** One statement for all of them: the driver takes long over many. */
export function insertInto(table: MovedTable, rows: readonly Value[][]): InStatement {
  const one = `(${table.columns.map(() => "?").join(", ")})`;
  return {
    sql: `INSERT INTO "${table.name}" (${quoted(table.columns)}) VALUES ${rows.map(() => one).join(", ")}`,
    args: rows.flat(),
  };
}

/** Before every rowid that there may be. */
export const BEFORE_ALL = -(2n ** 63n);
/** SQLite takes this many values in one statement, https://sqlite.org/limits.html#max_variable_number. */
export const MAX_VALUES = 32_000;
