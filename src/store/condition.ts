import type { Logger } from "../log.ts";
import type { Statement } from "../model/statement.ts";
import type { Cancel, Time } from "../model/time.ts";
import { BALLAST_BYTES, type Ballast, createBallast, freeBytes, LEAST_FREE_BYTES } from "./file/ballast.ts";
import type { BatchFailed } from "./engine.ts";

/**
 * `full`: the disk has no room; only what erases is written until there is some. `damaged`: the file is not what SQLite
 * wrote; nothing is written to it any more. `weak`: the server may lose what it acknowledges; nothing is written until it
 * says that it does not.
 */
export type StorageState = "good" | "full" | "damaged" | "weak";

/** Stands before the writer: what must not be written now is refused before it is tried. */
export interface Condition {
  readonly state: StorageState;
  /** Resolves when what is kept for erasing has been given back to a full disk; at once when none is being given back. Never rejects. */
  readonly room: Promise<void>;
  /** Whether this is written on a full disk as well. */
  erases(statements: Statement[]): boolean;
  /** Why this unit is not tried; null when it may be. */
  refusal(statements: Statement[]): string | null;
  /** Something that was tried failed, a read or a batch. Looks at the disk by and by; never throws. */
  failed(code: string): void;
  /** Resolves when nothing is written to the folder any more. */
  close(): Promise<void>;
}

interface ConditionDeps {
  /** Of the database file. */
  folder: string;
  /** For people. */
  name: string;
  log: Logger;
  time: Pick<Time, "after">;
  /** Moves the WAL into the file. May reject. */
  checkpoint(): Promise<void>;
  /** Room inside the database file, in bytes. May reject. */
  unused(): Promise<number>;
}

const LOOK_AGAIN_MS = 1_000;
const BALLAST_AFTER_MS = 1_000;
/** Below this a failed write is put down to the disk, whatever SQLite calls it. */
const NOTHING_FREE_BYTES = 1024 * 1024;

/** What makes room, and the note by which an erasure is gone on with. */
const ERASES = /^\s*(delete|insert\s+into\s+erased_devices)\b/i;

const erases = (statements: Statement[]): boolean => statements.every(({ sql }) => ERASES.test(sql));

/** Says no of a disk that cannot be asked: it is broken, not full. */
const hasNothingFree = (folder: string): Promise<boolean> =>
  freeBytes(folder).then(
    (free) => free < NOTHING_FREE_BYTES,
    () => false,
  );

/** Watches over one database file and the disk that it lies on. */
export function watchCondition(deps: ConditionDeps): Condition {
  const { folder, log, name } = deps;
  const ballast = createBallast(folder);
  let state: StorageState = "good";
  let room: Promise<void> = Promise.resolve();
  let cancel: Cancel | undefined;

  function after(ms: number, look: () => Promise<void>): void {
    cancel?.();
    cancel = deps.time.after(ms, () => void look().catch(() => after(LOOK_AGAIN_MS, look)));
  }

  /** When there is no room for it either, the WAL stays and nothing is lost. */
  const tidy = (): Promise<void> => deps.checkpoint().catch(() => undefined);

  function full(): Promise<void> | void {
    if (state !== "good") return;
    state = "full";
    log.error(
      `the disk of ${name} is full: nothing is received or sent until you free some space; then the gateway continues on its own`,
    );
    after(LOOK_AGAIN_MS, lookForRoom);
    return giveRoom(ballast, log).then(tidy);
  }

  const fullIfNothingIsFree = (): Promise<void> =>
    hasNothingFree(folder).then((nothing) => (nothing ? full() : undefined));

  /** Room inside the file counts: rows that were erased make some without the disk noticing. */
  async function lookForRoom(): Promise<void> {
    const needed = LEAST_FREE_BYTES + ((await ballast.exists()) ? 0 : BALLAST_BYTES);
    if ((await freeBytes(folder)) + (await deps.unused()) < needed) return after(LOOK_AGAIN_MS, lookForRoom);
    await tidy();
    if (state !== "full") return;
    state = "good";
    log.info("the disk has room again; continuing");
    await makeBallast();
  }

  async function makeBallast(): Promise<void> {
    if (state === "good" && !(await ballast.make()) && state === "good")
      log.warn(`the disk of ${name} is almost full: free some space`);
  }

  after(BALLAST_AFTER_MS, makeBallast);
  room = fullIfNothingIsFree();

  return {
    get state() {
      return state;
    },
    get room() {
      return room;
    },
    erases,
    refusal: (statements) => refusalOf(state, statements),
    failed(code) {
      if (/^SQLITE_(CORRUPT|NOTADB)/.test(code) && state !== "damaged") {
        state = "damaged";
        cancel?.();
        log.error(
          `${name} is damaged: nothing more is received or sent. Stop the gateway and run: npm run parley -- doctor`,
        );
      }
      if (state !== "good") return;
      if (code.startsWith("SQLITE_FULL")) room = Promise.resolve(full());
      else if (code.startsWith("SQLITE_IOERR")) room = fullIfNothingIsFree();
    },
    close() {
      cancel?.();
      return ballast.stop();
    },
  };
}

async function giveRoom(ballast: Ballast, log: Logger): Promise<void> {
  try {
    await ballast.release();
  } catch (error) {
    // A disk that became read-only or broke: nothing can be given back, and nothing was lost.
    log.warn({ err: error }, "could not free the reserved disk space");
  }
}

function refusalOf(state: StorageState, statements: Statement[]): string | null {
  if (state === "good") return null;
  if (state === "damaged") return "the file is damaged; stop the gateway and run: npm run parley -- doctor";
  return erases(statements) ? null : "the disk is full";
}

/** SQLite's result code behind a failed batch; "" when there is none. */
export function codeOf(failed: BatchFailed | unknown): string {
  const { code, cause } = failed as { code?: unknown; cause?: { code?: unknown } };
  return String(code ?? cause?.code ?? "");
}
