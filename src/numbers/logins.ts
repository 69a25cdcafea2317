import type { Cancel, Time } from "../model/time.ts";

/** Numbers that wait for their turn to connect. */
export interface Logins {
  /** At the end of the queue. */
  add(deviceIds: readonly number[]): void;
  remove(deviceId: number): void;
  stop(): void;
}

/**
 * One after another: a handshake takes 25 ms of CPU, and hundreds at once would keep everything else waiting.
 *
 * @param everyMs milliseconds between two of them, asked each time
 */
export function createLogins(
  time: Pick<Time, "after">,
  connect: (deviceId: number) => void,
  everyMs: () => number,
): Logins {
  // In the order in which they were added.
  const waiting = new Set<number>();
  let planned: Cancel | null = null;

  function next(): void {
    planned = null;
    const [first] = waiting;
    if (first === undefined) return;
    waiting.delete(first);
    connect(first);
    planned = time.after(everyMs(), next);
  }

  return {
    add(deviceIds) {
      for (const id of deviceIds) waiting.add(id);
      if (waiting.size > 0) planned ??= time.after(0, next);
    },
    remove: (deviceId) => void waiting.delete(deviceId),
    stop() {
      planned?.();
      planned = null;
      waiting.clear();
    },
  };
}
