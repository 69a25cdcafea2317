/** Calls off what was to be done later; does nothing once it has run. */
export type Cancel = () => void;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * The one way to time: whatever waits, repeats or has a limit is handed this, so that tests can move it. No bare timer
 * stands anywhere else. None of its timers keeps the process alive: what has to be done is in the database.
 */
export interface Time {
  /** Unix milliseconds, as the host's clock says. It may be set; for how long something took use `monotonic`. */
  now(): number;
  /** Milliseconds that only ever grow, from no particular start. */
  monotonic(): number;
  /** Runs something once. */
  after(ms: number, run: () => void): Cancel;
  /** Runs something again and again, `ms` after each beginning; the first time after `ms`. */
  every(ms: number, run: () => void): Cancel;
  /** Resolves after `ms`, or at once when the signal is or becomes aborted. Never rejects. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * The work's own outcome, when it has one within `ms`.
   *
   * @param late makes the reason when it has not
   * @throws what the work throws, or `late()`
   */
  deadline<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T>;
  /** Waits for work, but no longer than `ms`. Never rejects: whoever stops has no use for the reason. */
  within(ms: number, work: Promise<unknown>): Promise<void>;
}

/** What differs between the host's time and a test's: everything else follows from it. */
export type TimeSource = Pick<Time, "now" | "monotonic" | "after">;

/** A `Time` of one clock and one kind of timer. */
export function createTime({ now, monotonic, after }: TimeSource): Time {
  function pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = (): void => {
        cancel();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = after(ms, end);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  function deadline<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = after(ms, () => reject(late()));
      work.then(resolve, reject).finally(cancel);
    });
  }

  return {
    now,
    monotonic,
    after,
    every(ms, run) {
      let cancel = after(ms, again);
      function again(): void {
        cancel = after(ms, again);
        run();
      }
      return () => cancel();
    },
    pause,
    deadline,
    async within(ms, work) {
      await deadline(ms, work, () => new Error("late")).catch(() => undefined);
    },
  };
}

const systemSource: TimeSource = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** The host's time. */
export const systemTime: Time = createTime(systemSource);

/**
 * Keeps the process alive until work that only waits for a time has ended: the end of a command, or of a start, must not
 * come while it waits.
 */
export async function keepAlive<T>(work: Promise<T>): Promise<T> {
  const alive = setInterval(() => undefined, HOUR_MS);
  try {
    return await work;
  } finally {
    clearInterval(alive);
  }
}

/** The host's timers under another clock: for what looks at dates and waits for little. */
export const timeWithClock = (now: () => number): Time => createTime({ ...systemSource, now });

/**
 * How long to wait before the next attempt.
 *
 * @param failures attempts that failed so far, from 1
 * @returns milliseconds: 1 s doubled each time, at most 60 s
 */
export function backoffMs(failures: number): number {
  return Math.min(MINUTE_MS, SECOND_MS * 2 ** Math.min(failures - 1, 6));
}
