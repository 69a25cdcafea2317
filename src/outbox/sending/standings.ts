import { reachoutLocks, sendBrakes } from "../../../drizzle/schema.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { ReachoutLock } from "../../whatsapp/port.ts";
import type { Pause } from "./holdups/backoff.ts";
import { recentlyLeft, recentlyLeftBy } from "./recent.ts";

/** What a number's sender begins with: what the last run, or another process, has left. */
export interface Standing {
  lock: ReachoutLock | null;
  pause: Pause | null;
  /** When proactive messages left lately, oldest first. */
  left: readonly number[];
}

/** Where senders begin. */
export interface Standings {
  /** Reads those of all numbers at once, for a start. */
  load(): Promise<void>;
  /** The lock of a number that is not open yet, as far as it is known from the start. */
  lockOf(deviceId: number): ReachoutLock | null;
  /** Of a number that is opened. @throws StorageUnavailable */
  of(deviceId: number): Promise<Standing>;
}

// At most one row for each number.
const LOCKS = defineQuery("SELECT device_id, until, reason FROM reachout_locks WHERE until > ?", {
  deviceId: reachoutLocks.deviceId,
  until: reachoutLocks.until,
  reason: reachoutLocks.reason,
});
const LOCK_OF = defineQuery("SELECT until, reason FROM reachout_locks WHERE device_id = ? AND until > ?", {
  until: reachoutLocks.until,
  reason: reachoutLocks.reason,
});
const PAUSES = defineQuery("SELECT device_id, until, times FROM send_brakes", {
  deviceId: sendBrakes.deviceId,
  until: sendBrakes.until,
  times: sendBrakes.times,
});
const PAUSE_OF = defineQuery("SELECT until, times FROM send_brakes WHERE device_id = ?", {
  until: sendBrakes.until,
  times: sendBrakes.times,
});

/** What is known of all numbers when the process starts; whoever is opened takes its part away. */
interface AtStart {
  locks: Map<number, ReachoutLock>;
  pauses: Map<number, Pause>;
  left: Map<number, number[]>;
}

/**
 * Three reads for all numbers at a start, and three for each that is opened later: it was open before, or another process had it.
 *
 * @param perMinute of the pace
 */
export function createStandings(
  store: Pick<Store, "read" | "readOne" | "now">,
  perMinute: number,
  isShared: boolean,
): Standings {
  const atStart: AtStart = { locks: new Map(), pauses: new Map(), left: new Map() };
  const opened = new Set<number>();
  let isLoaded = false;

  async function read(deviceId: number): Promise<Standing> {
    const [lock, pause, left] = await Promise.all([
      store.readOne(LOCK_OF, [deviceId, store.now()]),
      store.readOne(PAUSE_OF, [deviceId]),
      recentlyLeftBy(store, perMinute, deviceId),
    ]);
    return { lock, pause, left };
  }

  function take(deviceId: number): Standing {
    const { locks, pauses, left } = atStart;
    const standing = {
      lock: locks.get(deviceId) ?? null,
      pause: pauses.get(deviceId) ?? null,
      left: left.get(deviceId) ?? [],
    };
    pauses.delete(deviceId);
    left.delete(deviceId);
    return standing;
  }

  return {
    async load() {
      for (const { deviceId, ...lock } of await store.read(LOCKS, [store.now()]))
        atStart.locks.set(deviceId, lock);
      // What others have written since is read when a number is opened.
      if (isShared) return;
      for (const { deviceId, ...pause } of await store.read(PAUSES)) atStart.pauses.set(deviceId, pause);
      atStart.left = await recentlyLeft(store, perMinute);
      isLoaded = true;
    },
    lockOf(deviceId) {
      const lock = atStart.locks.get(deviceId) ?? null;
      return lock !== null && lock.until > store.now() ? lock : null;
    },
    async of(deviceId) {
      const isFirst = isLoaded && !opened.has(deviceId);
      opened.add(deviceId);
      const standing = isFirst ? take(deviceId) : await read(deviceId);
      atStart.locks.delete(deviceId);
      return standing;
    },
  };
}
