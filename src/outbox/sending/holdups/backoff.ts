import type { Logger } from "../../../log.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../model/time.ts";
import { isWorthLogging } from "../../../store/write/owned.ts";
import type { Store } from "../../../store/store.ts";

/**
 * Holds a number back after WhatsApp's 429: asking on would only make the pause longer. Afterwards one message goes first
 * and shows whether the rest may follow.
 */
export interface RateLimitBackoff {
  /** As the last run, or another process, has left it. */
  restore(known: Pause | null): void;
  /** Milliseconds until the number may send; 0: now. */
  waitMs(): number;
  /** The pause is over, and nothing has gone through since. */
  isProbing(): boolean;
  /** The end of the pause, Unix milliseconds; null when there is none. */
  until(): number | null;
  /** WhatsApp has answered 429, and perhaps said how long to wait. What was in flight together counts once. */
  limited(waitMs?: number): Promise<void>;
  /** WhatsApp takes messages again. */
  accepted(): void;
}

const FIRST_MS = 5 * SECOND_MS;
const LONGEST_MS = 10 * MINUTE_MS;
/** Longer than this nobody waits because WhatsApp says so: one message shows whether it was meant. */
const LONGEST_TOLD_MS = HOUR_MS;

const SAVE = `INSERT INTO send_brakes (device_id, until, times) VALUES (?, ?, ?)
ON CONFLICT (device_id) DO UPDATE SET until = excluded.until, times = excluded.times`;
const END = "DELETE FROM send_brakes WHERE device_id = ?";

/** One in a row of pauses. */
export interface Pause {
  until: number;
  /** In a row; each is twice as long as the one before. */
  times: number;
}

/**
 * Pauses of 5 seconds, doubled up to 10 minutes, or as long as WhatsApp says up to an hour, kept in the database so that a restart
 * does not end them.
 *
 * @param store in the hands of whoever has the number
 */
export function createRateLimitBackoff(
  store: Pick<Store, "writer" | "now">,
  deviceId: number,
  log: Logger,
): RateLimitBackoff {
  let pause: Pause | null = null;

  function waitMs(): number {
    if (pause === null) return 0;
    // A clock that was set back must not make a pause longer than any is.
    pause.until = Math.min(pause.until, store.now() + LONGEST_TOLD_MS);
    return Math.max(0, pause.until - store.now());
  }

  function commit(sql: string, args: number[], failure: string): Promise<void> {
    return store.writer.commit([{ sql, args }], { owning: deviceId }).then(
      () => undefined,
      (err: unknown) => {
        if (isWorthLogging(err)) log.error({ err, device: deviceId }, failure);
      },
    );
  }

  return {
    restore: (known) => void (pause = known && { ...known }),
    waitMs,
    isProbing: () => pause !== null && waitMs() === 0,

    until: () => (waitMs() > 0 ? pause!.until : null),

    async limited(toldMs = 0) {
      if (waitMs() > 0) return;
      const times = (pause?.times ?? 0) + 1;
      const ours = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(times - 1, 16));
      const ms = Math.max(ours, Math.min(toldMs, LONGEST_TOLD_MS));
      const until = store.now() + ms;
      pause = { until, times };
      log.warn(
        { device: deviceId, seconds: ms / 1000 },
        "WhatsApp limits this number (429); sending is paused",
      );
      await commit(SAVE, [deviceId, until, times], "could not store a pause of sending");
    },

    accepted() {
      // An answer to something that was sent before the pause does not end it.
      if (pause === null || waitMs() > 0) return;
      pause = null;
      void commit(END, [deviceId], "could not store the end of a pause");
    },
  };
}
