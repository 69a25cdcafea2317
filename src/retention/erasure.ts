import { opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { erasedDevices, mediaFiles } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { alone } from "../model/nodes/alone.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { giveWay } from "../model/give-way.ts";
import { HOUR_MS, MINUTE_MS, type Cancel } from "../model/time.ts";
import { ERASED_AT_ONCE, eraseRecord, eraseStep, tablesOfNumbers } from "../store/erase.ts";
import { defineQuery } from "../store/query.ts";
import type { StoredFiles } from "./files.ts";
import type { Statement, Store } from "../store/store.ts";
import { createSharedChore } from "./shared-chore.ts";

/** What was on its way when a number was erased has been stored by then, and is deleted too. */
const LATE_MS = HOUR_MS;
/** At most every second moment is spent on it, however slow the disk is. */
const LONGEST_PAUSE_MS = 100;

const ERASED = defineQuery("SELECT id, erased_at FROM erased_devices ORDER BY id LIMIT 1000", {
  id: erasedDevices.id,
  erasedAt: erasedDevices.erasedAt,
});
const ERASED_AT = defineQuery("SELECT erased_at FROM erased_devices WHERE id = ?", {
  erasedAt: erasedDevices.erasedAt,
});
const FILES = defineQuery(`SELECT id, path FROM media_files WHERE device_id = ? LIMIT ${ERASED_AT_ONCE}`, {
  id: mediaFiles.id,
  path: mediaFiles.path,
});

/** Erases numbers: at once for everybody who looks, and from the disk in small steps that others hardly notice. */
export interface Erasure {
  /**
   * Ends a number: its record is gone when this resolves. Its rows and files follow in the background.
   *
   * @param beside for the same commit; default: nothing
   * @throws StorageUnavailable nothing has changed
   */
  erase(deviceId: number, beside?: Statement[]): Promise<void>;
  /** Goes on with what the last run of the gateway left. */
  start(): void;
  /** Resolves when nothing is left to be deleted, or when it has been stopped. */
  finished(): Promise<void>;
  /** Ends after the step that is being made. */
  stop(): Promise<void>;
}

/** What erasing takes. */
interface ErasureDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "time">;
  config: { dataDir: string };
  log: Logger;
  /** The other processes that share the database: one at a time erases a number. Default: there are none. */
  cluster?: Pick<Cluster, "node" | "ownership" | "jobs">;
  /** Null: there is no store beyond this disk. Default null. */
  stored?: StoredFiles | null;
}

/** The list of what is left to do is the table `erased_devices`. */
export function createErasure(deps: ErasureDeps): Erasure {
  const { store, config, log, cluster = alone(), stored = null } = deps;
  const { time } = store;
  const chore = createSharedChore(cluster, "erasure", (id) => eraseOne(Number(id)));
  const stopping = new AbortController();
  const { signal } = stopping;
  let again: Cancel | null = null;
  let running: Promise<void> | null = null;
  let asked = false;

  async function eraseTable(table: string, deviceId: number): Promise<number> {
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
  async function removeReceivedFiles(deviceId: number): Promise<void> {
    const folder = join(config.dataDir, "media", "in");
    const entries = await opendir(folder).catch(() => null);
    if (entries === null) return;
    for await (const { name } of entries) {
      if (signal.aborted) break;
      if (name.startsWith(`${deviceId}-`)) await rm(join(folder, name), { force: true });
    }
  }

  async function removeStoredFiles(deviceId: number): Promise<void> {
    if (stored === null) return;
    let after: string | null = null;
    do {
      const page: { name: string }[] = await stored.list(`in/${deviceId}-`, after);
      for (const { name } of page) await stored.remove(name);
      after = page.at(-1)?.name ?? null;
    } while (after !== null && !signal.aborted);
  }

  async function eraseRest(deviceId: number, erasedAt: number): Promise<void> {
    let deleted = 0;
    for (const table of tablesOfNumbers().tables) deleted += await eraseTable(table, deviceId);
    if (deleted > 0) {
      await removeReceivedFiles(deviceId);
      await removeStoredFiles(deviceId);
      if (!signal.aborted)
        log.info({ device: deviceId, rows: deleted }, "deleted the data of an erased number");
    }
    // Kept for a while: what was on its way then may still be stored.
    if (signal.aborted || Math.abs(time.now() - erasedAt) < LATE_MS) return;
    await store.writer.commit([{ sql: "DELETE FROM erased_devices WHERE id = ?", args: [deviceId] }], {
      owning: null,
    });
  }

  async function eraseOne(deviceId: number): Promise<void> {
    const row = signal.aborted ? null : await store.readOne(ERASED_AT, [deviceId]);
    if (row !== null) await eraseRest(deviceId, row.erasedAt);
  }

  async function sweep(): Promise<void> {
    do {
      asked = false;
      // Of several processes one looks what is left.
      if (!cluster.ownership.owns(0)) return;
      for (const { id } of await store.read(ERASED)) if (!signal.aborted) await chore.give(String(id));
    } while (asked && !signal.aborted);
  }

  function run(): void {
    asked = true;
    if (running !== null || signal.aborted) return;
    again?.();
    // Another process may lead in a minute, or this one.
    let pause = cluster.ownership.owns(0) ? HOUR_MS : MINUTE_MS;
    running = sweep()
      .catch((error: unknown) => {
        log.error({ err: error }, "could not delete the data of erased numbers; trying again in a minute");
        pause = MINUTE_MS;
      })
      .finally(() => {
        running = null;
        if (!signal.aborted) again = time.after(pause, run);
      });
  }

  return {
    async erase(deviceId, beside = []) {
      await store.writer.commit([...eraseRecord(deviceId, time.now()), ...beside], { owning: null });
      if (cluster.node === null) return run();
      chore
        .give(String(deviceId))
        .catch((err: unknown) =>
          log.error(
            { err, device: deviceId },
            "could not delete the data of an erased number; trying again later",
          ),
        );
    },
    start() {
      chore.start();
      run();
    },
    async finished() {
      await running;
    },
    async stop() {
      stopping.abort();
      again?.();
      await running;
    },
  };
}
