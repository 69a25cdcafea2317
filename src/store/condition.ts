import { statfsSync } from "node:fs";
import type { Logger } from "../log.ts";
import { BALLAST_BYTES, createBallast, freeBytes, LEAST_FREE_BYTES } from "./ballast.ts";
import type { BatchFailed } from "./engine.ts";
import type { Statement } from "./store.ts";

/**
 * `full`: the disk has no room; only what erases is written until there is some. `damaged`: the file is not what SQLite
 * wrote; nothing is written to it any more.
 */
export type StorageState = "good" | "full" | "damaged";

/** Stands before the writer: what must not be written now is refused before it is tried. */
export interface Condition {
  readonly state: StorageState;
  /** Why this unit is not tried; null when it may be. */
  refusal(statements: Statement[]): string | null;
  /** Something that was tried failed, a read or a batch. */
  failed(code: string): void;
  close(): void;
}

export interface ConditionDeps {
  /** Of the database file. */
  folder: string;
  /** For people. */
  name: string;
  log: Logger;
  /** Moves the WAL into the file. May throw. */
  checkpoint(): void;
  /** Room inside the database file, in bytes. May throw. */
  unused(): number;
}

const LOOK_AGAIN_MS = 1_000;
const BALLAST_AFTER_MS = 1_000;
/** Below this a failed write is put down to the disk, whatever SQLite calls it. */
const NOTHING_FREE_BYTES = 1024 * 1024;

/** Watches over one database file and the disk that it lies on. */
export function watchCondition(deps: ConditionDeps): Condition {
  const { folder, log, name } = deps;
  const ballast = createBallast(folder);
  let state: StorageState = "good";
  let timer: NodeJS.Timeout | undefined;

  function after(ms: number, look: () => Promise<void>): void {
    clearTimeout(timer);
    timer = setTimeout(() => void look().catch(() => after(LOOK_AGAIN_MS, look)), ms);
    timer.unref();
  }

  function tidy(): void {
    try {
      deps.checkpoint();
    } catch {
      // There is no room for it either; the WAL stays and nothing is lost.
    }
  }

  function full(): void {
    state = "full";
    log.error(
      `the disk of ${name} is full: nothing is received or sent until there is room; make some, it goes on by itself`,
    );
    ballast.release();
    tidy();
    after(LOOK_AGAIN_MS, lookForRoom);
  }

  /** Room inside the file counts: rows that were erased make some without the disk noticing. */
  async function lookForRoom(): Promise<void> {
    const needed = LEAST_FREE_BYTES + (ballast.exists ? 0 : BALLAST_BYTES);
    if ((await freeBytes(folder)) + deps.unused() < needed) return after(LOOK_AGAIN_MS, lookForRoom);
    tidy();
    state = "good";
    log.info("the disk has room again; going on");
    await makeBallast();
  }

  async function makeBallast(): Promise<void> {
    if (state === "good" && !(await ballast.make()) && state === "good")
      log.warn(`the disk of ${name} has little room: make some before it is full`);
  }

  if (statfsFree(folder) < NOTHING_FREE_BYTES) full();
  else after(BALLAST_AFTER_MS, makeBallast);

  return {
    get state() {
      return state;
    },
    refusal(statements) {
      if (state === "good") return null;
      if (state === "damaged")
        return "the file is damaged; stop the gateway and run: npm run parley -- doctor";
      return statements.every(({ sql }) => /^\s*delete\b/i.test(sql)) ? null : "the disk is full";
    },
    failed(code) {
      if (/^SQLITE_(CORRUPT|NOTADB)/.test(code) && state !== "damaged") {
        state = "damaged";
        clearTimeout(timer);
        log.error(
          `${name} is damaged: nothing is received or sent any more. Stop the gateway and run: npm run parley -- doctor`,
        );
      }
      if (state !== "good") return;
      const noRoom = code.startsWith("SQLITE_FULL");
      if (noRoom || (code.startsWith("SQLITE_IOERR") && statfsFree(folder) < NOTHING_FREE_BYTES)) full();
    },
    close: () => clearTimeout(timer),
  };
}

/** SQLite's result code behind a failed batch; "" when there is none. */
export function codeOf(failed: BatchFailed | unknown): string {
  const { code, cause } = failed as { code?: unknown; cause?: { code?: unknown } };
  return String(code ?? cause?.code ?? "");
}

function statfsFree(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
