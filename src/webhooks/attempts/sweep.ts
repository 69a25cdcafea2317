import type { Logger } from "../../log.ts";
import type { Cluster } from "../../model/nodes/cluster.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../../model/time.ts";
import type { Store } from "../../store/store.ts";

interface SweepDeps {
  store: Pick<Store, "time">;
  cluster?: Pick<Cluster, "bus">;
  log: Logger;
  /** Numbers for which anything waits. */
  numbers(): Promise<number[]>;
  /** Null: this process does not have the number. */
  opened(deviceId: number): { wake(): void } | null;
}

/** Wakes the queues for which rows wait that nobody has told of: one look into the table for all of them. */
export interface Sweep {
  /** Looks now, every minute, and when news may have been missed. */
  start(): void;
  stop(): void;
}

const SWEEP_MS = MINUTE_MS;
const AGAIN_MS = 5 * SECOND_MS;

/** Does nothing before it is started. */
export function createSweep({ store, cluster, log, numbers, opened }: SweepDeps): Sweep {
  const { time } = store;
  const ends: Cancel[] = [];
  let sweeping: Promise<void> | null = null;

  function sweep(): void {
    sweeping ??= wakeAll()
      .catch((err: unknown) => {
        log.error({ err }, "looking for waiting webhooks later: the database does not answer");
        if (ends.length > 0) time.after(AGAIN_MS, sweep);
      })
      .finally(() => (sweeping = null));
  }

  async function wakeAll(): Promise<void> {
    for (const deviceId of await numbers()) opened(deviceId)?.wake();
  }

  return {
    start() {
      ends.push(time.every(SWEEP_MS, sweep));
      if (cluster !== undefined) ends.push(cluster.bus.onGap(sweep));
      sweep();
    },
    stop() {
      for (const end of ends.splice(0)) end();
    },
  };
}
