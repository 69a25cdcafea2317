/** Cancels what was to be done later; does nothing once it has run. */
export type Cancel = () => void;

/** The one source of time in the simulated service. Whatever waits or has a limit is given this, so that tests can move it. */
export interface Time {
  /** Unix milliseconds. */
  now(): number;
  /** Runs something once, after so many milliseconds. */
  after(ms: number, run: () => void): Cancel;
}

/** The host's timers with the caller's clock. They do not keep the process alive; the listening servers do. */
export function timeWithClock(now: () => number): Time {
  return {
    now,
    after(ms, run) {
      const timer = setTimeout(run, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

/** The host's own clock and timers. */
export const hostTime: Time = timeWithClock(Date.now);

/** Resolves after so many milliseconds. */
export const pause = (time: Time, ms: number): Promise<void> =>
  new Promise((resolve) => void time.after(ms, resolve));

/** Lets everything else that is ready run first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
