import type { ResultSet } from "@libsql/client";
import type { Storage } from "unstorage";
import type { Statement } from "../model/statement.ts";
import type { Time } from "../model/time.ts";
import type { ClockTrust } from "./clock-trust.ts";
import type { StorageState } from "./condition.ts";
import type { LeaseHolder } from "./write/lease-fence.ts";
import type { Query } from "./query.ts";

/** Values for the question marks of a statement, by position. */
export type Arguments = Statement["args"];

export type { Statement } from "../model/statement.ts";

/**
 * The way to read. A database that is busy is asked again for five seconds; after that, and for everything else that is
 * not the statement's own fault, each of these throws `StorageUnavailable`.
 */
export interface Reading {
  /** All rows of a query, decoded. It must have a limit, or a reason why it needs none. */
  read<Row>(query: Query<Row>, args?: Arguments): Promise<Row[]>;
  /** The first row, or null. */
  readOne<Row>(query: Query<Row>, args?: Arguments): Promise<Row | null>;
  /**
   * Many rows, a page at a time; between two pages the event loop goes round. No page is empty.
   *
   * @param query     its last question mark is the limit, and it goes on behind the last row:
   *                  `… WHERE id > ? ORDER BY id LIMIT ?`
   * @param argsAfter all arguments but the limit, from the last row that was read; null at first
   * @param rows      of a page; default 200
   */
  pages<Row>(
    query: Query<Row>,
    argsAfter: (last: Row | null) => Arguments,
    rows?: number,
  ): AsyncGenerator<Row[], void, undefined>;
}

/** What a unit of statements stands under. */
export interface CommitOptions {
  /**
   * Id of the number that this process writes for as its owner: keys, what came, what is decided, what becomes of sends. The
   * unit is refused when another process has the number, in the same transaction. Null: any process may write it, also what
   * else only the owner writes.
   */
  owning?: number | null;
}

/**
 * The one writer. Units are committed in the order in which they were given (FIFO), many of them in one transaction
 * (group commit), each whole or not at all. A unit that violates a constraint fails alone.
 */
export interface Writer {
  /**
   * @param statements one atomic unit
   * @returns one result per statement, after the commit (WAL, synchronous FULL)
   * @throws StorageUnavailable when the disk is full or the database is away: nothing was written
   * @throws NotOwner when this process has the number of `owning` no longer: nothing was written
   */
  commit(statements: Statement[], options?: CommitOptions): Promise<ResultSet[]>;
  /**
   * The same for what may wait: the unit joins the next commit, and makes one of its own after 100 ms when there is none.
   * Its place in the order is that of this call.
   */
  soon(statements: Statement[], options?: CommitOptions): Promise<ResultSet[]>;
  /** Resolves when everything given so far, what may wait included, is committed or failed. */
  drain(): Promise<void>;
}

/** How values are sealed: 1 with one key for everything; 2 with one for each number and month. */
export type SealFormat = 1 | 2;

/** AES-256-GCM with keys derived from the master key. `context` is bound to the value: a sealed value moved to another row does not open. */
export interface SecretBox {
  /** How it seals; it opens every format. */
  readonly format: SealFormat;
  seal(value: string | Uint8Array, context: string): Buffer;
  open(sealed: Uint8Array, context: string): Buffer;
  sealJson(value: unknown, context: string): Buffer;
  openJson<T>(sealed: Uint8Array, context: string): T;
  /** HMAC-SHA256 under a key derived for `purpose`; used for API key hashes and derived message ids. */
  hmac(purpose: string, data: string | Uint8Array): Buffer;
}

/** What every domain folder is handed. */
export interface Store extends Reading {
  writer: Writer;
  /** Among several processes: whoever knows the leases of this one says so here. Until then no unit of an owner passes. */
  serveLeases(holder: LeaseHolder): void;
  box: SecretBox;
  /** unstorage: memory or Redis. Losing it loses nothing. */
  cache: Storage;
  /** The operator's token: `PARLEY_ADMIN_TOKEN`, or the generated one in `DATA_DIR`. */
  adminToken: string;
  /** Whether the database can be written to; it comes back from `full` by itself, from `damaged` never. */
  readonly state: StorageState;
  /** Handed to everything that waits or looks at the clock; tests may move it. */
  time: Time;
  /** Whether the clock may decide what is old enough to be deleted. */
  clock: ClockTrust;
  /** `time.now`. */
  now(): number;
  close(): Promise<void>;
}
