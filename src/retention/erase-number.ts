import { opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { mediaFiles } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { giveWay } from "../model/give-way.ts";
import { HOUR_MS } from "../model/time.ts";
import { ERASED_AT_ONCE, eraseStep, tablesOfNumbers } from "../store/erase.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { StoredFiles } from "./files.ts";

interface EraseDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "time">;
  config: { dataDir: string };
  log: Logger;
  /** Null: there is no store beyond this disk. */
  stored: StoredFiles | null;
  /** Ends it after the step that is being made. */
  signal: AbortSignal;
}

/** What was on its way when a number was erased has been stored by then, and is deleted too. */
const LATE_MS = HOUR_MS;
/** At most every second moment is spent on it, however slow the disk is. */
const LONGEST_PAUSE_MS = 100;

const FILES = defineQuery(`SELECT id, path FROM media_files WHERE device_id = ? LIMIT ${ERASED_AT_ONCE}`, {
  id: mediaFiles.id,
  path: mediaFiles.path,
});

async function eraseTable(
  { store, config, stored, signal }: EraseDeps,
  table: string,
  deviceId: number,
): Promise<number> {
  const { time } = store;
  let deleted = 0;
  while (!signal.aborted) {
    const began = time.monotonic();
    const files = table === "media_files" ? await store.read(FILES, [deviceId]) : [];
    const count = await eraseStep(store, table, deviceId);
    for (const { id, path } of files) {
      await rm(join(config.dataDir, path), { force: true });
      await stored?.remove(id);
    }
    deleted += count;
    if (count < ERASED_AT_ONCE && files.length < ERASED_AT_ONCE) break;
    await time.pause(Math.min(LONGEST_PAUSE_MS, time.monotonic() - began), signal);
  }
  await giveWay();
  return deleted;
}

/** Files that came in are called `<device>-<inbox id>`. */
async function removeReceivedFiles({ config, signal }: EraseDeps, deviceId: number): Promise<void> {
  const folder = join(config.dataDir, "media", "in");
  const entries = await opendir(folder).catch(() => null);
  if (entries === null) return;
  for await (const { name } of entries) {
    if (signal.aborted) break;
    if (name.startsWith(`${deviceId}-`)) await rm(join(folder, name), { force: true });
  }
}

async function removeStoredFiles({ stored, signal }: EraseDeps, deviceId: number): Promise<void> {
  if (stored === null) return;
  let after: string | null = null;
  do {
    const page: { name: string }[] = await stored.list(`in/${deviceId}-`, after);
    for (const { name } of page) await stored.remove(name);
    after = page.at(-1)?.name ?? null;
  } while (after !== null && !signal.aborted);
}

/** Deletes what is left of a number that has no record any more. @param erasedAt Unix milliseconds */
export async function eraseRest(deps: EraseDeps, deviceId: number, erasedAt: number): Promise<void> {
  const { store, log, signal } = deps;
  let deleted = 0;
  for (const table of tablesOfNumbers().tables) deleted += await eraseTable(deps, table, deviceId);
  if (deleted > 0) {
    await removeReceivedFiles(deps, deviceId);
    await removeStoredFiles(deps, deviceId);
    if (!signal.aborted)
      log.info({ device: deviceId, rows: deleted }, "deleted the data of an erased number");
  }
  // Kept for a while: what was on its way then may still be stored.
  if (signal.aborted || Math.abs(store.time.now() - erasedAt) < LATE_MS) return;
  await store.writer.commit([{ sql: "DELETE FROM erased_devices WHERE id = ?", args: [deviceId] }], {
    owning: null,
  });
}
