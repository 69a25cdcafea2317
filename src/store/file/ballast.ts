import { randomBytes } from "node:crypto";
import { closeSync, ftruncateSync, openSync } from "node:fs";
import { open, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

/** Enough for a checkpoint of the WAL and for erasing rows while the disk is full. */
export const BALLAST_BYTES = 16 * 1024 * 1024;
/** With less free space than this, receipts could soon be given for what cannot be stored. */
export const LEAST_FREE_BYTES = 16 * 1024 * 1024;

const NAME = "ballast";
const BLOCK_BYTES = 1024 * 1024;

/** A file that holds room: given back to the disk when it is full, so that what frees space can still be written. */
export interface Ballast {
  exists(): Promise<boolean>;
  /** Gives the room back; nothing happens when there is none. Rejects when the disk does not let it. */
  release(): Promise<void>;
  /**
   * Takes the room when it is there to be taken, and leaves `LEAST_FREE_BYTES` beside it. Never rejects.
   *
   * @returns false when there is not enough of it
   */
  make(): Promise<boolean>;
  /** Resolves when nothing of it is being written any more; what was not whole is gone. */
  stop(): Promise<void>;
}

/** @param folder on the disk of the database */
export function createBallast(folder: string): Ballast {
  const file = join(folder, NAME);
  const draft = `${file}.new`;
  let released = 0;
  let making: Promise<unknown> = Promise.resolve();

  const exists = (): Promise<boolean> =>
    stat(file).then(
      ({ size }) => size >= BALLAST_BYTES,
      () => false,
    );

  /** @param isWanted asked before each block; @throws when it is not any more */
  async function write(isWanted: () => boolean): Promise<void> {
    const handle = await open(draft, "w", 0o600);
    try {
      // Zeros would take no room on a disk that compresses.
      const block = randomBytes(BLOCK_BYTES);
      for (let written = 0; written < BALLAST_BYTES; written += BLOCK_BYTES) {
        if (!isWanted()) throw new Error("released");
        await handle.writeFile(block);
      }
    } finally {
      await handle.close();
    }
  }

  async function make(): Promise<boolean> {
    const began = released;
    const isWanted = (): boolean => released === began;
    try {
      if (await exists()) return true;
      if ((await freeBytes(folder)) < BALLAST_BYTES + LEAST_FREE_BYTES) return false;
      await write(isWanted);
      // The disk filled up meanwhile.
      if (!isWanted()) throw new Error("released");
      await rename(draft, file);
      return true;
    } catch {
      await rm(draft, { force: true }).catch(() => undefined);
      return !isWanted();
    }
  }

  return {
    exists,
    async release() {
      released++;
      for (const path of [file, draft]) await rm(path, { force: true });
    },
    make() {
      const made = make();
      making = Promise.all([making, made]);
      return made;
    },
    async stop() {
      released++;
      await making;
    },
  };
}

/** What this user may still write to the disk of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * For folders that are thrown away in seconds: a ballast of the right length that takes no room. To write a real one costs more
 * than everything else that an empty database takes.
 */
export function pretendBallast(folder: string): void {
  const file = openSync(join(folder, NAME), "w", 0o600);
  ftruncateSync(file, BALLAST_BYTES);
  closeSync(file);
}
