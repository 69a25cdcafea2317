import { createTime, type Time } from "../../model/time.ts";

/** Time that stands still until a test moves it. Unix milliseconds. */
export interface Clock {
  now(): number;
  /** Never backwards. */
  moveTo(at: number): void;
}

/** A clock that stands at `start`, Unix milliseconds. */
export function createClock(start: number): Clock {
  let now = start;
  return { now: () => now, moveTo: (at) => void (now = Math.max(now, at)) };
}

/** What one run wants done later: it ends with the run. */
export interface Waits {
  time: Time;
  /** When the next of them is due, or null. */
  nextAt(): number | null;
  /** Runs those whose time has come; false when there was none. */
  fireDue(): boolean;
}

/** Waits on one clock. They end with the run because nobody asks for them any more. */
export function createWaits(clock: Clock): Waits {
  const waits = new Set<{ at: number; run: () => void }>();
  const after: Time["after"] = (ms, run) => {
    const wait = { at: clock.now() + ms, run };
    waits.add(wait);
    return () => waits.delete(wait);
  };
  return {
    time: {
      ...createTime({ now: clock.now, monotonic: clock.now, after }),
      // Who looks again and again does so for what may be late. Nothing is late here, and a week has many half minutes.
      every: () => () => undefined,
    },
    nextAt: () => (waits.size === 0 ? null : Math.min(...[...waits].map(({ at }) => at))),
    fireDue() {
      const due = [...waits].filter(({ at }) => at <= clock.now()).sort((a, b) => a.at - b.at);
      for (const wait of due) if (waits.delete(wait)) wait.run();
      return due.length > 0;
    },
  };
}
