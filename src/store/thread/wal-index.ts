import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { connect } from "../connection.ts";

/** https://sqlite.org/walformat.html#the_wal_index_header: "incremented with each transaction". */
const CHANGES_AT = 8;

/** What SQLite keeps in the `-shm` file beside the database, as far as it tells of commits. */
export interface WalIndex {
  /**
   * How many transactions were committed, modulo 2^32: from two looks, with one transaction begun between them, follows
   * whether that one was committed. What was rolled back and what a checkpoint does change nothing.
   *
   * @returns null when it cannot be told
   */
  countCommits(): number | null;
  /** Call it when everybody else in this process has closed the database: SQLite would lose its locks on the file. */
  close(): void;
}

/**
 * Looks at the index of a file's WAL, beside SQLite, and keeps it in being while threads that write come and go.
 *
 * @param file a database in WAL mode
 */
export function openWalIndex(file: string): WalIndex {
  const bytes = Buffer.alloc(4);
  // SQLite removes the index with the last connection that has read something.
  const connection = connect(file, ["query_only = ON"]);
  connection.rows({ sql: "SELECT count(*) FROM sqlite_master", args: [] });
  let descriptor: number | null = null;
  try {
    descriptor = openSync(`${file}-shm`, "r");
  } catch {
    // Where files are locked against reading nothing can be told.
  }
  return {
    countCommits() {
      if (descriptor === null || fstatSync(descriptor).nlink === 0) return null;
      return readSync(descriptor, bytes, 0, 4, CHANGES_AT) === 4 ? bytes.readUInt32LE() : null;
    },
    close() {
      connection.close();
      if (descriptor !== null) closeSync(descriptor);
      descriptor = null;
    },
  };
}
