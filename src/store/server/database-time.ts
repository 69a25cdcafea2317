import type { Logger } from "../../log.ts";
import { createTime, SECOND_MS, type Cancel, type Time } from "../../model/time.ts";
import { defineQuery, integer } from "../query.ts";
import type { Reading } from "../store.ts";

const CLOCK = defineQuery("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now", { now: integer() });
const LOOK_MS = 10 * SECOND_MS;
/** An answer that took longer says too little of when it was given. */
const TOO_SLOW_MS = 2 * SECOND_MS;
/** So much of a difference to the host's clock is worth a line. */
const WORTH_SAYING_MS = 30 * SECOND_MS;

/** The time that all nodes have in common. */
export interface DatabaseTime {
  time: Time;
  /** Follows the database's clock from now on. @throws {StorageUnavailable} when it cannot be asked */
  start(reading: Pick<Reading, "readOne">, log: Logger): Promise<void>;
  stop(): void;
}

/**
 * The database's clock, carried on by this process's own monotonic one between two looks. Times that one node writes and
 * another compares are then of one clock, however wrong that of a node's host is, and setting it changes nothing here.
 *
 * @param host its timers and its monotonic clock; until `start` also its time of day
 */
export function createDatabaseTime(host: Time): DatabaseTime {
  /** The database's clock minus the monotonic one. */
  let offset: number | null = null;
  let cancel: Cancel | null = null;

  async function look(reading: Pick<Reading, "readOne">): Promise<void> {
    const before = host.monotonic();
    const found = await reading.readOne(CLOCK);
    const elapsedMs = host.monotonic() - before;
    if (found !== null && (offset === null || elapsedMs <= TOO_SLOW_MS))
      offset = found.now - (before + elapsedMs / 2);
  }

  const now = (): number => (offset === null ? host.now() : Math.round(offset + host.monotonic()));
  return {
    time: createTime({ now, monotonic: host.monotonic, after: host.after }),
    async start(reading, log) {
      await look(reading);
      const ahead = host.now() - now();
      if (Math.abs(ahead) >= WORTH_SAYING_MS)
        log.warn(
          { seconds: Math.round(ahead / SECOND_MS) },
          "this machine's clock differs from the database's clock; using the database's clock",
        );
      // While the database is away its clock is carried on.
      cancel = host.every(LOOK_MS, () => void look(reading).catch(() => undefined));
    },
    stop: () => cancel?.(),
  };
}
