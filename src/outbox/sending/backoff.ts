import type { Logger } from "../../log.ts";
import { sendBrakes } from "../../../drizzle/schema.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Store } from "../../store/store.ts";

/**
 * Holds a number back after WhatsApp's 429: asking on would only make the pause longer. Afterwards one message goes first
 * and shows whether the rest may follow.
 */
export interface RateLimitBackoff {
  /** Reads the pauses that a restart must not forget. */
  load(): Promise<void>;
  /** The same of one number that another process had. */
  reread(deviceId: number): Promise<void>;
  /** Milliseconds until the number may send; 0: now. */
  waitMs(deviceId: number): number;
  /** The pause is over, and nothing has gone through since. */
  isProbing(deviceId: number): boolean;
  /** The end of the pause, Unix milliseconds; null when there is none. */
  until(deviceId: number): number | null;
  /** WhatsApp has answered 429, and perhaps said how long to wait. What was in flight together counts once. */
  limited(deviceId: number, waitMs?: number): Promise<void>;
  /** WhatsApp takes messages again. */
  accepted(deviceId: number): void;
  forget(deviceId: number): void;
}

const FIRST_MS = 5 * SECOND_MS;
const LONGEST_MS = 10 * MINUTE_MS;
/** Longer than this nobody waits because WhatsApp says so: one message shows whether it was meant. */
const LONGEST_TOLD_MS = HOUR_MS;

// At most one row for each number.
const PAUSES = defineQuery("SELECT device_id, until, times FROM send_brakes", {
  deviceId: sendBrakes.deviceId,
  until: sendBrakes.until,
  times: sendBrakes.times,
});
const PAUSE_OF = defineQuery("SELECT until, times FROM send_brakes WHERE device_id = ?", {
  until: sendBrakes.until,
  times: sendBrakes.times,
});
const SAVE = `INSERT INTO send_brakes (device_id, until, times) VALUES (?, ?, ?)
ON CONFLICT (device_id) DO UPDATE SET until = excluded.until, times = excluded.times`;

interface Pause {
  until: number;
  /** In a row; each is twice as long as the one before. */
  times: number;
}

/** Pauses of 5 seconds, doubled up to 10 minutes, or as long as WhatsApp says up to an hour, kept in the database so that a restart does not end them. */
export function createRateLimitBackoff(
  store: Pick<Store, "read" | "writer" | "now">,
  log: Logger,
): RateLimitBackoff {
  const pauses = new Map<number, Pause>();

  function waitMs(deviceId: number): number {
    const pause = pauses.get(deviceId);
    if (pause === undefined) return 0;
    // A clock that was set back must not make a pause longer than any is.
    pause.until = Math.min(pause.until, store.now() + LONGEST_TOLD_MS);
    return Math.max(0, pause.until - store.now());
  }

  return {
    async load() {
      for (const { deviceId, until, times } of await store.read(PAUSES))
        pauses.set(deviceId, { until, times });
    },

    async reread(deviceId) {
      pauses.delete(deviceId);
      for (const pause of await store.read(PAUSE_OF, [deviceId])) pauses.set(deviceId, pause);
    },

    waitMs,
    isProbing: (deviceId) => pauses.has(deviceId) && waitMs(deviceId) === 0,

    until: (deviceId) => (waitMs(deviceId) > 0 ? pauses.get(deviceId)!.until : null),

    async limited(deviceId, toldMs = 0) {
      if (waitMs(deviceId) > 0) return;
      const times = (pauses.get(deviceId)?.times ?? 0) + 1;
      const ours = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(times - 1, 16));
      const ms = Math.max(ours, Math.min(toldMs, LONGEST_TOLD_MS));
      const until = store.now() + ms;
      pauses.set(deviceId, { until, times });
      log.warn(
        { device: deviceId, seconds: ms / 1000 },
        "WhatsApp limits this number (429); sending is paused",
      );
      await store.writer
        .commit([{ sql: SAVE, args: [deviceId, until, times] }], { owning: deviceId })
        .catch((error: unknown) => {
          if (isWorthLogging(error))
            log.error({ err: error, device: deviceId }, "could not store a pause of sending");
        });
    },

    accepted(deviceId) {
      // An answer to something that was sent before the pause does not end it.
      if (!pauses.has(deviceId) || waitMs(deviceId) > 0) return;
      pauses.delete(deviceId);
      store.writer
        .commit([{ sql: "DELETE FROM send_brakes WHERE device_id = ?", args: [deviceId] }], {
          owning: deviceId,
        })
        .catch((error: unknown) => {
          if (isWorthLogging(error))
            log.error({ err: error, device: deviceId }, "could not store the end of a pause");
        });
    },

    forget: (deviceId) => void pauses.delete(deviceId),
  };
}
