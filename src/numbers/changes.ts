/** Lets several wait for the next change of something. */
export interface Changes {
  /** Wakes everybody who waits. */
  tell(): void;
  /** Resolves at the next change, or after `ms`. */
  next(ms: number): Promise<void>;
}

export function createChanges(): Changes {
  let waiting: (() => void)[] = [];
  return {
    tell() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    next: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
