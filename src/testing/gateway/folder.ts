import {
  accessSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config.ts";
import type { Logger } from "../../log.ts";
import { pretendBallast } from "../../store/file/ballast.ts";
import { openStore } from "../../store/open.ts";

const MEMORY = "/dev/shm";
/** Environment variable that names another place for them. */
const FOLDER_VARIABLE = "PARLEY_KIT_FOLDER";
const ENOUGH_BYTES = 256 * 1024 * 1024;

/** In memory where there is room: nobody pulls the plug, and the flush of each commit is what a test would wait for. */
function base(): string {
  // Whoever kills this process removes that folder.
  const given = process.env[FOLDER_VARIABLE];
  if (given) return given;
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Files of a folder whose database has its tables, by name; made once in each process. */
let template: Promise<Map<string, Buffer>> | null = null;

/** A folder of its own with an empty database. Making the tables anew for each chat would take longer than the chat. */
export async function createFolder(log: Logger): Promise<string> {
  const files = await (template ??= makeTemplate(log));
  const folder = mkdtempSync(join(base(), "parley-chat-"));
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
  pretendBallast(folder);
  return folder;
}

/**
 * Deletes a folder with all that is in it; none is fine as well. Tried again for a moment: the thread of a database that
 * was killed may still close its files there, and SQLite makes and removes files as it closes.
 */
export function removeFolder(folder: string): void {
  for (let tries = 1; ; tries++)
    try {
      // Its own tries do not look again at what has come into the folder since.
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === REMOVING_TRIES || (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, REMOVING_PAUSE_MS);
    }
}
const REMOVING_TRIES = 40;
const REMOVING_PAUSE_MS = 50;

async function makeTemplate(log: Logger): Promise<Map<string, Buffer>> {
  const folder = mkdtempSync(join(base(), "parley-chat-"));
  try {
    pretendBallast(folder);
    const store = await openStore(
      loadConfig({ DATA_DIR: folder, LOG_LEVEL: "silent", STORE_THREAD: "off" }),
      log,
    );
    await store.close();
    const names = readdirSync(folder).filter((name) => !/^(lock|ballast)/.test(name));
    return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  } finally {
    removeFolder(folder);
  }
}
