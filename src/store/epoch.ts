import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { meta } from "../../drizzle/schema.ts";
import { MINUTE_MS, type Cancel } from "../model/time.ts";
import { defineQuery } from "./query.ts";
import type { Statement, Store } from "./store.ts";

/** In `DATA_DIR`: the largest epoch of the database that this process has seen. */
export const EPOCH_FILE = "epoch";
/** A copy of the database that is younger than this may be taken for the present one. */
const MOVED_EVERY_MS = MINUTE_MS;
/** Behind the number: the database went back while the process ran, however its epoch stands. */
const GONE_BACK = " gone-back";

const ROW = "epoch";
const EPOCH = defineQuery("SELECT value FROM meta WHERE key = ?", { value: meta.value });
const MOVE_ON = `INSERT INTO meta (key, value) VALUES (?, '1')
ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1`;
const MOVE_TO = `INSERT INTO meta (key, value) VALUES (?, ?)
ON CONFLICT (key) DO UPDATE SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))`;

/**
 * A number that only grows, in the database and in `DATA_DIR`. Where the database has the smaller one, it is of an earlier time than
 * what this process has already sent: it was rolled back, or a copy was put in its place without `restore`.
 */
export interface Epoch {
  /** Whether the database is of an earlier time. */
  isBehind(): Promise<boolean>;
  /** For the commit that makes up for it: from then on the database is of the present. */
  catchUp(): Statement[];
  /** Moves the epoch on, now and every minute. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** @param dataDir the folder of this process alone */
export function createEpoch(
  { readOne, writer, time }: Pick<Store, "readOne" | "writer" | "time">,
  dataDir: string,
): Epoch {
  let cancel: Cancel | null = null;

  const inDatabase = async (): Promise<number> => Number((await readOne(EPOCH, [ROW]))?.value ?? 0);

  async function moveOn(): Promise<void> {
    await writer.commit([{ sql: MOVE_ON, args: [ROW] }], { owning: null });
    // Only what is committed: a file that is ahead of the database would be taken for a database that is behind.
    writeEpoch(dataDir, `${await inDatabase()}`);
  }

  // A database that is away says so elsewhere; the next minute is soon enough.
  const tryToMoveOn = (): Promise<void> => moveOn().catch(() => undefined);

  return {
    async isBehind() {
      const seen = readEpoch(dataDir);
      return seen !== null && (seen.goneBack || (await inDatabase()) < seen.epoch);
    },
    catchUp: () => [{ sql: MOVE_TO, args: [ROW, `${(readEpoch(dataDir)?.epoch ?? 0) + 1}`] }],
    async start() {
      cancel = time.every(MOVED_EVERY_MS, () => void tryToMoveOn());
      await tryToMoveOn();
    },
    async stop() {
      cancel?.();
    },
  };
}

/** The database went back while this process ran: the next start knows it, whatever the epochs say by then. */
export function noteGoneBack(dataDir: string): void {
  writeEpoch(dataDir, `${readEpoch(dataDir)?.epoch ?? 0}${GONE_BACK}`);
}

/** Null: this folder has seen no database yet. */
function readEpoch(dataDir: string): { epoch: number; goneBack: boolean } | null {
  try {
    const text = readFileSync(join(dataDir, EPOCH_FILE), "utf8").trim();
    const epoch = Number.parseInt(text, 10);
    return Number.isNaN(epoch) ? null : { epoch, goneBack: text.endsWith(GONE_BACK) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function writeEpoch(dataDir: string, text: string): void {
  const file = join(dataDir, EPOCH_FILE);
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
