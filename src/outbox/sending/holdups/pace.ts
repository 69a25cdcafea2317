/** A token bucket. Times are milliseconds of the caller's clock. */
export interface Pace {
  /** Takes one token; false when there is none. */
  take(now: number): boolean;
  /** How long until there is one. */
  waitMs(now: number): number;
}

/** Messages that may go at once after a pause. */
export const BURST = 20;

/**
 * @param perMinute tokens that come back in a minute; 0 is no limit
 * @param now when the bucket is full, but for what was taken before
 * @param taken when tokens were taken before, oldest first
 */
export function createPace(perMinute: number, now: number, taken: readonly number[] = []): Pace {
  if (perMinute === 0) return { take: () => true, waitMs: () => 0 };
  const msPerToken = 60_000 / perMinute;
  let tokens = BURST;
  let countedAt = taken[0] ?? now;

  function refill(at: number): void {
    // A clock that was set back must not take tokens away.
    tokens = Math.min(BURST, tokens + Math.max(0, at - countedAt) / msPerToken);
    countedAt = at;
  }

  for (const at of taken) {
    refill(at);
    tokens = Math.max(0, tokens - 1);
  }

  return {
    take(at) {
      refill(at);
      // Sums of thirds and sevenths fall short of 1 by a rounding error when a token is due to the millisecond.
      if (tokens < 1 - 1e-6) return false;
      tokens = Math.max(0, tokens - 1);
      return true;
    },
    waitMs(at) {
      refill(at);
      return tokens >= 1 - 1e-6 ? 0 : Math.max(1, Math.ceil((1 - tokens) * msPerToken));
    },
  };
}
