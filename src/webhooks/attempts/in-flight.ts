/** Work that the end of the gateway waits for. */
export interface InFlight {
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Keeps work until it has ended, however it ends. */
export function createInFlight(): InFlight {
  const known = new Set<Promise<unknown>>();
  return {
    async track(work) {
      known.add(work);
      try {
        return await work;
      } finally {
        known.delete(work);
      }
    },
    async idle() {
      while (known.size > 0) await Promise.allSettled(known);
    },
  };
}
