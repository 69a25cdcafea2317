import type { ResultSet } from "@libsql/client";
import type { Statement } from "../model/statement.ts";

/** One connection that writes. All statements of a batch are one transaction, begun as a writer. */
export interface Engine {
  /**
   * A result per statement; those of `recoverResults` when the batch is known to be committed and its answer was lost.
   *
   * @throws {BatchFailed} after which nothing of the batch is in the database, unless its kind says otherwise
   */
  batch(statements: Statement[]): Promise<ResultSet[]>;
  /** Drops the connection; the next batch opens one. After SQLITE_BUSY the old one may lose writes without an error. */
  reconnect(): Promise<void>;
  /** Moves what the WAL holds into the file. May throw. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What went wrong with a batch, as far as the writer must know it:
 * `constraint` and `statement` are the fault of one statement, `busy` goes away by itself, `unavailable` does not. After
 * all of these nothing of the batch is in the database; after `uncertain` it may be.
 */
export type FailureKind = "constraint" | "statement" | "busy" | "unavailable" | "uncertain";

/** What an engine throws: a batch, or a read, that did not happen. */
export class BatchFailed extends Error {
  readonly kind: FailureKind;
  /** Index of the statement that failed; null when it was the begin or the commit. */
  readonly index: number | null;

  constructor(kind: FailureKind, index: number | null, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "BatchFailed";
    this.kind = kind;
    this.index = index;
  }
}

// Result codes of SQLite, https://sqlite.org/rescode.html. All others are the fault of the statement itself.
const UNAVAILABLE = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB|INTERNAL|PERM|AUTH|NOLFS)/;
const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL|SCHEMA|MISUSE)/;

/**
 * @param code    SQLite's result code, plain or extended, or libSQL's own
 * @param message some failures of a poisoned connection have only the text
 */
export function failureKind(code: string, message: string): FailureKind {
  if (code.startsWith("SQLITE_CONSTRAINT")) return "constraint";
  if (BUSY.test(code) || /statements in progress|database is locked/.test(message)) return "busy";
  if (UNAVAILABLE.test(code)) return "unavailable";
  // A libSQL server refuses a whole batch with SQL_… or ARGS_… and does not say which statement it means.
  return /^(SQLITE|SQL|ARGS)_/.test(code) ? "statement" : "unavailable";
}
