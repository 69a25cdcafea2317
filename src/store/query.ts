import type { GetColumnData } from "drizzle-orm";
import { SQLiteColumn } from "drizzle-orm/sqlite-core";

/** A value as an engine hands it over: an integer beyond 2^53 is a bigint, bytes are a Buffer or an ArrayBuffer. */
export type RawValue = null | string | number | bigint | Uint8Array | ArrayBuffer;

/** Rows by position, as an engine hands them over. */
export interface RawRows {
  columns: string[];
  values: RawValue[][];
}

/** Turns one value of a result into what the program works with. Throws when the value is none of its kind. */
export interface Decoder<T> {
  decode(value: RawValue): T;
}

/** A column of `drizzle/schema.ts`, or a decoder for what is computed in SQL. */
type Field = SQLiteColumn | Decoder<unknown>;
type Decoded<F> = F extends SQLiteColumn ? GetColumnData<F> : F extends Decoder<infer T> ? T : never;

/** One statement that reads, and what its rows look like. Made by `defineQuery`. */
export interface Query<Row> {
  readonly sql: string;
  /** @throws TypeError when the result lacks a column that the query promised */
  decode(result: RawRows): Row[];
  /** How the shape is made of the result's columns: what is in one and not in the other. For the contract test. */
  mismatch(columns: string[]): { missing: string[]; unused: string[] };
}

interface BoundField {
  key: string;
  /** The column's name in the schema; null for a decoder. */
  column: string | null;
  decode(value: RawValue): unknown;
}

const defined: Query<unknown>[] = [];

/** Every query that the modules loaded so far have defined: the contract test runs over them. */
export const definedQueries = (): readonly Query<unknown>[] => defined;

/**
 * Describes a read once, at the top of a module:
 *
 * ```ts
 * const WAITING = defineQuery("SELECT id, wa_id, count(*) AS n FROM outbox WHERE device_id = ? GROUP BY id LIMIT 100", {
 *   id: outbox.id, waId: outbox.waId, n: integer(),
 * });
 * const rows = await store.read(WAITING, [deviceId]); // { id: number; waId: string; n: number }[]
 * ```
 *
 * A result's column belongs to the field whose key, or whose column in the schema, has its name. Null, enums, booleans and
 * JSON are what the schema says; blobs are Buffers. A value that its field cannot take (an integer beyond 2^53, broken
 * JSON) throws when that field of that row is looked at, and names the column: it takes no other row down.
 */
export function defineQuery<Shape extends Record<string, Field>>(
  sql: string,
  shape: Shape,
): Query<{ [Key in keyof Shape]: Decoded<Shape[Key]> }> {
  const fields = Object.entries(shape).map(([key, field]) => bind(key, field));
  let knownColumns: string[] | null = null;
  let positions: number[] = [];

  function decode({ columns, values }: RawRows): { [Key in keyof Shape]: Decoded<Shape[Key]> }[] {
    if (values.length === 0) return [];
    if (columns !== knownColumns) {
      positions = fields.map((field) => positionOf(field, columns, sql));
      knownColumns = columns;
    }
    return values.map((row) => decodeRow(fields, positions, row, sql)) as never;
  }

  const query = {
    sql,
    decode,
    mismatch(columns: string[]) {
      const found = fields.map((field) => find(field, columns));
      return {
        missing: fields.filter((_, index) => found[index] === -1).map(({ key }) => key),
        unused: columns.filter((_, index) => !found.includes(index)),
      };
    },
  };
  defined.push(query);
  return query;
}

function bind(key: string, field: Field): BoundField {
  if (field instanceof SQLiteColumn) return { key, column: field.name, ...columnDecoder(field) };
  return { key, column: null, decode: field.decode };
}

const find = ({ key, column }: BoundField, columns: string[]): number =>
  columns.includes(key) || column === null ? columns.indexOf(key) : columns.indexOf(column);

function positionOf(field: BoundField, columns: string[], sql: string): number {
  const position = find(field, columns);
  if (position === -1) throw new TypeError(`The query has no column for ${field.key}: ${sql}`);
  return position;
}

function decodeRow(fields: BoundField[], positions: number[], values: RawValue[], sql: string): object {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]!;
    try {
      row[field.key] = field.decode(values[positions[index]!]!);
    } catch (error) {
      throwWhenRead(row, field.key, sql, error);
    }
  }
  return row;
}

function throwWhenRead(row: object, key: string, sql: string, cause: unknown): void {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const get = (): never => {
    throw new TypeError(`${key} has an unexpected value (${reason}), read by: ${sql}`, { cause });
  };
  Object.defineProperty(row, key, { enumerable: true, get });
}

function columnDecoder(column: SQLiteColumn): Decoder<unknown> {
  const present = presentDecoder(column);
  return column.notNull ? present : nullable(present);
}

function presentDecoder(column: SQLiteColumn): Decoder<unknown> {
  if (column.dataType === "buffer") return bytes();
  if (column.dataType === "string") return text();
  if (column.dataType === "number") return column.columnType === "SQLiteReal" ? real() : integer();
  return { decode: (value) => column.mapFromDriverValue(required(value) as never) };
}

function required(value: RawValue): Exclude<RawValue, null> {
  if (value === null || value === undefined) throw new TypeError("it is null");
  return value;
}

/** For a column that may be null although the schema's is not: of an outer join, `max(…)` of nothing. */
export function nullable<F extends Field>(field: F): Decoder<Decoded<F> | null> {
  const { decode } = field instanceof SQLiteColumn ? presentDecoder(field) : field;
  return { decode: (value) => (value === null ? null : decode(value)) as Decoded<F> };
}

const INTEGER: Decoder<number> = {
  decode(value) {
    if (typeof value === "number") return value;
    if (typeof value === "bigint") throw new RangeError(`${value} is beyond 2^53`);
    throw new TypeError(value === null ? "it is null" : "it is not a number");
  },
};

/** A whole number of at most 2^53: `count(*)`, a sum, a rowid. */
export const integer = (): Decoder<number> => INTEGER;

/** Any number, also one with a fraction. */
export const real = (): Decoder<number> => ({ decode: (value) => Number(required(value)) });

/** Text; the type argument names the words that it may be. A number in its place is spelled out. */
export const text = <T extends string = string>(): Decoder<T> => TEXT as Decoder<T>;
const TEXT: Decoder<string> = {
  decode: (value) => (typeof value === "string" ? value : String(required(value))),
};

/** `1` is true: a comparison, `EXISTS (…)`. */
export const boolean = (): Decoder<boolean> => ({ decode: (value) => Number(required(value)) === 1 });

/** A blob, as a Buffer. */
export const bytes = (): Decoder<Buffer> => BYTES;
const BYTES: Decoder<Buffer> = {
  decode(value) {
    if (Buffer.isBuffer(value)) return value;
    if (value instanceof ArrayBuffer) return Buffer.from(value);
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return Buffer.from(required(value) as string);
  },
};

/** JSON in a text: an aggregate like `json_group_array(…)`. Its type is believed. */
export const json = <T>(): Decoder<T> => ({
  decode: (value) => JSON.parse(String(required(value))) as T,
});
