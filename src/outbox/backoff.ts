import type { Logger } from "../log.ts";
import { sendBrakes } from "../../drizzle/schema.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/**
 * Holds a number back after WhatsApp's 429: asking on would only make the pause longer. Afterwards one message goes first
 * and shows whether the rest may follow.
 */
export interface RateLimitBackoff {
  /** Reads the pauses that a restart must not forget. */
  load(): Promise<void>;
  /** Milliseconds until the number may send; 0: now. */
  waitMs(deviceId: number): number;
  /** The pause is over, and nothing has gone through since. */
  isProbing(deviceId: number): boolean;
  /** WhatsApp has answered 429. What was in flight together counts once. */
  limited(deviceId: number): Promise<void>;
  /** WhatsApp takes messages again. */
  accepted(deviceId: number): void;
  forget(deviceId: number): void;
}

const FIRST_MS = 5 * SECOND_MS;
const LONGEST_MS = 10 * MINUTE_MS;

// At most one row for each number.
const PAUSES = defineQuery("SELECT device_id, until, times FROM send_brakes", {
  deviceId: sendBrakes.deviceId,
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

/** Pauses of 5 seconds, doubled up to 10 minutes, kept in the database so that a restart does not end them. */
export function createRateLimitBackoff(
  store: Pick<Store, "read" | "writer" | "now">,
  log: Logger,
): RateLimitBackoff {
  const pauses = new Map<number, Pause>();

  function waitMs(deviceId: number): number {
    const pause = pauses.get(deviceId);
    if (pause === undefined) return 0;
    // A clock that was set back must not make a pause longer than any is.
    pause.until = Math.min(pause.until, store.now() + LONGEST_MS);
    return Math.max(0, pause.until - store.now());
  }

  return {
    async load() {
      for (const { deviceId, until, times } of await store.read(PAUSES))
        pauses.set(deviceId, { until, times });
    },

    waitMs,
    isProbing: (deviceId) => pauses.has(deviceId) && waitMs(deviceId) === 0,

    async limited(deviceId) {
      if (waitMs(deviceId) > 0) return;
      const times = (pauses.get(deviceId)?.times ?? 0) + 1;
      const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(times - 1, 16));
      const until = store.now() + ms;
      pauses.set(deviceId, { until, times });
      log.warn({ device: deviceId, seconds: ms / 1000 }, "WhatsApp limits this number (429); sending pauses");
      await store.writer
        .commit([{ sql: SAVE, args: [deviceId, until, times] }])
        .catch((error: unknown) =>
          log.error({ err: error, device: deviceId }, "a pause of sending could not be stored"),
        );
    },

    accepted(deviceId) {
      // An answer to something that was sent before the pause does not end it.
      if (!pauses.has(deviceId) || waitMs(deviceId) > 0) return;
      pauses.delete(deviceId);
      store.writer
        .commit([{ sql: "DELETE FROM send_brakes WHERE device_id = ?", args: [deviceId] }])
        .catch((error: unknown) =>
          log.error({ err: error, device: deviceId }, "the end of a pause could not be stored"),
        );
    },

    forget: (deviceId) => void pauses.delete(deviceId),
  };
}
