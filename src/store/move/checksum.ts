import { createHash } from "node:crypto";
import type { Value } from "@libsql/client";

const MASK = (1n << 64n) - 1n;

/** What a table holds, whatever the order of its rows. */
export interface Sum {
  rows: number;
  /** Of the rows' own hashes, modulo 2^64. */
  sum: bigint;
}

export const NOTHING: Sum = { rows: 0, sum: 0n };

/** The sum with more rows: values as the driver gives them, integers as bigint. */
export function withRows(before: Sum, rows: readonly (readonly Value[])[]): Sum {
  let { sum } = before;
  for (const row of rows) sum = (sum + hashOf(row)) & MASK;
  return { rows: before.rows + rows.length, sum };
}

/** Each value with its kind and its length, so that no two rows are written alike. */
function hashOf(row: readonly Value[]): bigint {
  const hash = createHash("sha256");
  for (const value of row) {
    const bytes = toBytes(value);
    hash.update(`${kindOf(value)}${bytes.length}:`).update(bytes);
  }
  return hash.digest().readBigUInt64LE(0);
}

function kindOf(value: Value): string {
  if (value === null) return "n";
  if (value instanceof ArrayBuffer) return "b";
  if (typeof value === "string") return "t";
  return typeof value === "bigint" ? "i" : "r";
}

function toBytes(value: Value): Buffer {
  if (value === null) return Buffer.alloc(0);
  return value instanceof ArrayBuffer ? Buffer.from(value) : Buffer.from(String(value));
}

/** How many bytes a row takes on its way, roughly. */
export function sizeOf(row: readonly Value[]): number {
  let bytes = 0;
  for (const value of row)
    bytes += value instanceof ArrayBuffer ? value.byteLength : typeof value === "string" ? value.length : 8;
  return bytes;
}
