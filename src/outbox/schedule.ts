/** Runs something later; the returned function calls it off. Tests hand in a clock of their own. */
export type Schedule = (ms: number, run: () => void) => () => void;

/** Timers that do not keep the process alive: what waits for one is in the database. */
export const scheduleByTimer: Schedule = (ms, run) => {
  const timer = setTimeout(run, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/**
 * How long to wait before the next attempt.
 *
 * @param failures attempts that failed so far, from 1
 * @returns milliseconds: 1 s doubled each time, at most 60 s
 */
export function backoffMs(failures: number): number {
  return Math.min(60_000, 1_000 * 2 ** Math.min(failures - 1, 6));
}
