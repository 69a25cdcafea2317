import { Semaphore } from "async-mutex";

/** Runs work when it is its turn. */
export type Turns = <T>(deviceId: number, work: () => Promise<T>) => Promise<T>;

/**
 * Turns for work that holds memory or a processor. Each number has a share of its own, so that one customer's slow server
 * does not keep the files of all others waiting.
 *
 * @param all  at the same time
 * @param each of them, for one number
 */
export function createTurns(all: number, each: number): Turns {
  const total = new Semaphore(all);
  const shares = new Map<number, { gate: Semaphore; users: number }>();
  return async (deviceId, work) => {
    const share = shares.get(deviceId) ?? { gate: new Semaphore(each), users: 0 };
    shares.set(deviceId, share);
    share.users++;
    try {
      return await share.gate.runExclusive(() => total.runExclusive(work));
    } finally {
      if (--share.users === 0) shares.delete(deviceId);
    }
  };
}
