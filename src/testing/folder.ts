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
import { loadConfig } from "../config.ts";
import type { Logger } from "../log.ts";
import { openStore } from "../store/open.ts";

const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 256 * 1024 * 1024;

/** In memory where there is room: nobody pulls the plug, and the flush of each commit is what a test would wait for. */
function base(): string {
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
  return folder;
}

/** Deletes a folder with all that is in it; none is fine as well. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

async function makeTemplate(log: Logger): Promise<Map<string, Buffer>> {
  const folder = mkdtempSync(join(base(), "parley-chat-"));
  try {
    const store = await openStore(
      loadConfig({ DATA_DIR: folder, LOG_LEVEL: "silent", STORE_THREAD: "off" }),
      log,
    );
    await store.close();
    const names = readdirSync(folder).filter((name) => !name.startsWith("lock"));
    return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  } finally {
    removeFolder(folder);
  }
}
