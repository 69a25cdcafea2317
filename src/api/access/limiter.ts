import type { Redis, RedisOptions } from "ioredis";
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterAbstract } from "rate-limiter-flexible";

/** The Redis of several nodes, of which a limiter has a connection of its own. Its commands fail at once while it is away. */
export interface SharedCounts {
  /** What keys begin with. */
  prefix: string;
  connect(options: RedisOptions): Redis;
}

/** Longer no request waits for Redis to count it. */
const SHARED_COUNT_MS = 100;
const WINDOW_SECONDS = 60;

/**
 * Counts per key and minute: in memory, or together with the other nodes. While Redis is away each node counts for itself,
 * beginning at none: nobody is refused for that, and a key may do at most as much at each node as it may do at all.
 *
 * @param name of what is counted
 */
export function createLimiter(
  name: string,
  perMinute: number,
  shared: SharedCounts | null,
): Pick<RateLimiterAbstract, "consume"> {
  const own = new RateLimiterMemory({ points: perMinute, duration: WINDOW_SECONDS });
  if (shared === null) return own;
  return new RateLimiterRedis({
    storeClient: shared.connect({ commandTimeout: SHARED_COUNT_MS }),
    keyPrefix: `${shared.prefix}:limit:${name}`,
    points: perMinute,
    duration: WINDOW_SECONDS,
    rejectIfRedisNotReady: true,
    insuranceLimiter: own,
  });
}
