import type { ResultSet, Row } from "@libsql/client";
import type { LibSQLDatabase } from "drizzle-orm/libsql";
import type { Storage } from "unstorage";
import type { Statement } from "../model/statement.ts";
import type { Time } from "../model/time.ts";
import type { StorageState } from "./condition.ts";
import type * as schema from "../../drizzle/schema.ts";

export type { Statement } from "../model/statement.ts";

/** Reads go here, at any time. Writes through it are a bug: everything that changes goes through the writer. */
export type ReadDatabase = LibSQLDatabase<typeof schema>;

/**
 * The one writer. Units are committed in the order in which they were given (FIFO), many of them in one transaction
 * (group commit), each whole or not at all. A unit that violates a constraint fails alone.
 */
export interface Writer {
  /**
   * @param statements one atomic unit
   * @returns one result per statement, after the commit (WAL, synchronous FULL)
   * @throws StorageUnavailable when the disk is full or the database is away: nothing was written
   */
  commit(statements: Statement[]): Promise<ResultSet[]>;
  /** Resolves when everything given so far is committed or failed. */
  drain(): Promise<void>;
}

/** AES-256-GCM with the master key. `context` is bound to the value: a sealed value moved to another row does not open. */
export interface SecretBox {
  seal(value: string | Uint8Array, context: string): Buffer;
  open(sealed: Uint8Array, context: string): Buffer;
  sealJson(value: unknown, context: string): Buffer;
  openJson<T>(sealed: Uint8Array, context: string): T;
  /** HMAC-SHA256 under a key derived for `purpose`; used for API key hashes and derived message ids. */
  hmac(purpose: string, data: string | Uint8Array): Buffer;
}

/** What every domain folder is handed. */
export interface Store {
  db: ReadDatabase;
  /** A read on a hot path: prepared once, several times cheaper than `db`. Blobs come as ArrayBuffer. Cannot write. */
  rows(sql: string, args: Statement["args"]): Promise<Row[]>;
  writer: Writer;
  box: SecretBox;
  /** unstorage: memory or Redis. Losing it loses nothing. */
  cache: Storage;
  /** The operator's token: `PARLEY_ADMIN_TOKEN`, or the generated one in `DATA_DIR`. */
  adminToken: string;
  /** Whether the database can be written to; it comes back from `full` by itself, from `damaged` never. */
  readonly state: StorageState;
  /** Handed to everything that waits or looks at the clock; tests may move it. */
  time: Time;
  /** `time.now`. */
  now(): number;
  close(): Promise<void>;
}
