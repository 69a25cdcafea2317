import { BatchFailed, type FailureKind } from "../engine.ts";
import type { RawResult } from "../result.ts";
import type { Arguments, Statement } from "../store.ts";

/** What the writer's thread is started with. */
export interface ThreadData {
  file: string;
}

/** SQL goes over once: after that its number stands for it. */
export interface SentStatement {
  sql: number;
  text?: string;
  args: Arguments;
}

/** What the writer's thread is asked to do; its answer carries the same `id`. */
export type Request = { id: number } & (
  | { do: "batch"; statements: SentStatement[] }
  | { do: "checkpoint" | "reconnect" | "close" }
);

/** The answer with id 0 says that the database is open. */
export interface ThreadAnswer {
  id: number;
  results?: RawResult[];
  failed?: SentFailure;
}

/** A failure in a form that goes from thread to thread. */
export interface SentFailure {
  kind: FailureKind;
  index: number | null;
  message: string;
  /** SQLite's result code, or "". */
  code: string;
}

const MAX_TEXTS = 2_000;

/** Numbers SQL texts. Both sides forget all of them at the same statement, when there are too many. */
export function createSqlNumbers() {
  const numbers = new Map<string, number>();
  return (statement: Statement): SentStatement => {
    const args = statement.args.map(exactBytes);
    const known = numbers.get(statement.sql);
    if (known !== undefined) return { sql: known, args };
    if (numbers.size >= MAX_TEXTS) numbers.clear();
    numbers.set(statement.sql, numbers.size);
    return { sql: numbers.size - 1, text: statement.sql, args };
  };
}

/** The other side of `createSqlNumbers`. */
export function createSqlTexts() {
  const texts = new Map<number, string>();
  return ({ sql, text, args }: SentStatement): Statement => {
    if (text !== undefined) texts.set(sql, text);
    return { sql: texts.get(sql)!, args };
  };
}

/** Of a small Buffer the whole slab that it lies in would be sent along. */
function exactBytes(value: Arguments[number]): Arguments[number] {
  return value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength
    ? new Uint8Array(value)
    : value;
}

/** The error of a failed request; its cause has the message and code that SQLite gave. */
export function toBatchFailed({ kind, index, message, code }: SentFailure): BatchFailed {
  return new BatchFailed(kind, index, Object.assign(new Error(message), { code }));
}

/** @param error what was thrown in the thread */
export function toSentFailure(error: unknown): SentFailure {
  const { kind, index, cause } =
    error instanceof BatchFailed ? error : new BatchFailed("unavailable", null, error);
  const { message = String(cause), code = "" } = (cause ?? {}) as { message?: string; code?: unknown };
  return { kind, index, message, code: String(code) };
}
