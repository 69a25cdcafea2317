import type { Time } from "../model/time.ts";

/** Lets several wait for the next change of something. */
export interface Changes {
  /** Wakes everybody who waits. */
  tell(): void;
  /** Resolves at the next change, or after `ms`. */
  next(ms: number): Promise<void>;
}

/** @param time its timers limit the waiting */
export function createChanges(time: Pick<Time, "after">): Changes {
  let waiting: (() => void)[] = [];
  return {
    tell() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    next: (ms) =>
      new Promise((resolve) => {
        const cancel = time.after(ms, resolve);
        waiting.push(() => {
          cancel();
          resolve();
        });
      }),
  };
}
