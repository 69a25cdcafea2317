import type { ResultSet, Row, Value } from "@libsql/client";
import type { RawRows, RawValue } from "./query.ts";

/** What one statement did, in a form that can be handed from thread to thread. */
export interface RawResult extends RawRows {
  rowsAffected: number;
  /** Null when the statement returned rows. */
  lastInsertRowid: bigint | null;
}

/** The shape that libSQL's client gives: values by name and by position, blobs as ArrayBuffer. */
export function toResultSet({ columns, values, rowsAffected, lastInsertRowid }: RawResult): ResultSet {
  const rows = toRows({ columns, values });
  const columnTypes = columns.map(() => "");
  return {
    columns,
    columnTypes,
    rows,
    rowsAffected,
    lastInsertRowid: lastInsertRowid ?? undefined,
    toJSON: () => ({
      columns,
      columnTypes,
      rows,
      rowsAffected,
      lastInsertRowid: lastInsertRowid?.toString(),
    }),
  };
}

/** Values by name and by position. */
export const toRows = ({ columns, values }: RawRows): Row[] => values.map((row) => toRow(columns, row));

function toRow(columns: string[], values: RawValue[]): Row {
  const row = {} as Row;
  Object.defineProperty(row, "length", { value: values.length });
  for (const [position, name] of columns.entries()) {
    const value = toValue(values[position]!);
    Object.defineProperty(row, position, { value });
    row[name] = value;
  }
  return row;
}

function toValue(value: RawValue): Value {
  if (!(value instanceof Uint8Array)) return value;
  return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength) as ArrayBuffer;
}

/** A bigint that is a number without loss becomes one. */
export const fromBigint = (value: RawValue): RawValue =>
  typeof value === "bigint" && value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER
    ? Number(value)
    : value;
