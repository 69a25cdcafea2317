import { erasedDevices } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { alone } from "../model/nodes/alone.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { HOUR_MS, MINUTE_MS, type Cancel } from "../model/time.ts";
import { eraseRecord } from "../store/erase.ts";
import { defineQuery } from "../store/query.ts";
import { eraseRest } from "./erase-number.ts";
import type { StoredFiles } from "./files.ts";
import type { Statement, Store } from "../store/store.ts";
import { createSharedChore } from "./shared-chore.ts";

const ERASED = defineQuery("SELECT id, erased_at FROM erased_devices ORDER BY id LIMIT 1000", {
  id: erasedDevices.id,
  erasedAt: erasedDevices.erasedAt,
});
const ERASED_AT = defineQuery("SELECT erased_at FROM erased_devices WHERE id = ?", {
  erasedAt: erasedDevices.erasedAt,
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

  async function eraseOne(deviceId: number): Promise<void> {
    const row = signal.aborted ? null : await store.readOne(ERASED_AT, [deviceId]);
    if (row !== null) await eraseRest({ store, config, log, stored, signal }, deviceId, row.erasedAt);
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
