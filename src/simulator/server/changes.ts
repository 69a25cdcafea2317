import { hostTime } from "../time.ts";
import type { Movement } from "./ports.ts";

/** Lets callers wait for something to happen in the simulator. */
export interface Changes extends Movement {
  /** Resolves once `condition` holds; false when the host's time (milliseconds) ran out first. */
  until(condition: () => boolean, timeoutMs: number): Promise<boolean>;
}

/** Waiters check again whenever something changes. Timeouts go by the host's time: the caller's patience is real, whatever the service's clock says. */
export function createChanges(): Changes {
  const listeners = new Set<() => void>();
  return {
    changed() {
      for (const listener of listeners) listener();
    },
    async until(condition, timeoutMs) {
      if (condition()) return true;
      return await new Promise<boolean>((resolve) => {
        const finish = (held: boolean): void => {
          cancel();
          listeners.delete(check);
          resolve(held);
        };
        const check = (): void => {
          if (condition()) finish(true);
        };
        const cancel = hostTime.after(timeoutMs, () => finish(condition()));
        listeners.add(check);
      });
    },
  };
}
