import type { Cancel, Time } from "../../model/time.ts";

/** Timers after which a sender looks again, at most one per reason. */
export interface PumpTimers {
  /** Nothing when one of this reason runs. */
  pumpIn(why: "pace" | "backoff", ms: number): void;
  stop(): void;
}

export function createPumpTimers(time: Pick<Time, "after">, pump: () => void): PumpTimers {
  const timers = new Map<string, Cancel>();
  return {
    pumpIn(why, ms) {
      if (timers.has(why)) return;
      const cancel = time.after(ms, () => {
        timers.delete(why);
        pump();
      });
      timers.set(why, cancel);
    },
    stop() {
      for (const cancel of timers.values()) cancel();
    },
  };
}
