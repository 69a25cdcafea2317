/**
 * Runs `work` alone among everything that names one of the same keys, in the order of the calls.
 *
 * @param keys everything that the work touches; taken all at once, so that two calls cannot block each other
 */
export interface WithLock {
  <T>(keys: string[], work: () => Promise<T>): Promise<T>;
  /** Nobody holds one of them, or waits for it: what is done in this turn of the event loop is done alone. */
  isFree(keys: string[]): boolean;
}

/** Locks by key, of which those that nobody holds cost nothing. */
export function createLocks(): WithLock {
  const tails = new Map<string, Promise<void>>();
  const withLock = async <T>(keys: string[], work: () => Promise<T>): Promise<T> => {
    const before = keys.map((key) => tails.get(key)).filter((tail) => tail !== undefined);
    let release!: () => void;
    const tail = new Promise<void>((resolve) => (release = resolve));
    for (const key of keys) tails.set(key, tail);
    try {
      if (before.length > 0) await Promise.all(before);
      return await work();
    } finally {
      for (const key of keys) if (tails.get(key) === tail) tails.delete(key);
      release();
    }
  };
  return Object.assign(withLock, { isFree: (keys: string[]) => !keys.some((key) => tails.has(key)) });
}

/**
 * By the addresses of sessions and sender keys. Process-wide on purpose: libsignal queues its jobs by the bare address, and
 * two accounts may talk to the same contact.
 */
export const withLock = createLocks();
