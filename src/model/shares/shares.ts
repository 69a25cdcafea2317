/** How much is done at once. */
export interface ShareLimits {
  /** In all. */
  all: number;
  /** For one owner. */
  each: number;
  /** In all, those included who have nothing else under way: they do not wait for the others. Default: `all`. */
  most?: number;
}

/**
 * Runs work when it is its turn.
 *
 * @param owner  whose share it takes
 * @param signal ends the waiting, which then throws its reason; work that has begun looks at it itself
 */
export type Shares = <T>(owner: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

interface Share {
  running: number;
  waiting: Set<() => void>;
}

/**
 * Turns for work that holds memory, a processor or a connection. Whoever has least under way is next, and whoever has
 * nothing under way has a place kept: what one asks for delays his own and, but for `most`, nobody else's.
 */
export function createShares({ all, each, most = all }: ShareLimits): Shares {
  // In the order in which they were served last.
  const shares = new Map<string, Share>();
  let running = 0;

  function shareOf(owner: string): Share {
    const share = shares.get(owner) ?? { running: 0, waiting: new Set() };
    shares.set(owner, share);
    return share;
  }

  function next(): { owner: string; share: Share } | null {
    let found: { owner: string; share: Share } | null = null;
    for (const [owner, share] of shares) {
      if (share.waiting.size === 0 || share.running >= each) continue;
      if (running >= (share.running === 0 ? most : all)) continue;
      if (found === null || share.running < found.share.running) found = { owner, share };
    }
    return found;
  }

  function fill(): void {
    for (let place = next(); place !== null; place = next()) {
      const { owner, share } = place;
      const [begin] = share.waiting;
      share.waiting.delete(begin!);
      share.running++;
      running++;
      shares.delete(owner);
      shares.set(owner, share);
      begin!();
    }
  }

  function wait(owner: string, signal: AbortSignal | undefined): Promise<void> {
    const { waiting } = shareOf(owner);
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(begin);
        tidy(owner);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", leave, { once: true });
      waiting.add(begin);
      fill();
    });
  }

  function tidy(owner: string): void {
    const share = shares.get(owner);
    if (share?.running === 0 && share.waiting.size === 0) shares.delete(owner);
  }

  return async (owner, work, signal) => {
    signal?.throwIfAborted();
    await wait(owner, signal);
    try {
      return await work();
    } finally {
      shareOf(owner).running--;
      running--;
      tidy(owner);
      fill();
    }
  };
}
