import { RateLimiterRes } from "rate-limiter-flexible";
import { GatewayError } from "../../model/errors/errors.ts";
import { createLimiter, type SharedCounts } from "./limiter.ts";

/** Requests per API key and minute. */
export interface RateLimit {
  /**
   * Counts one request of this key.
   * @returns the headers that tell the caller where it stands; none when there is no limit
   * @throws RATE_LIMITED, with the same headers
   */
  take(keyId: string): Promise<Record<string, string>>;
}

/**
 * @param perMinute 0 is no limit
 * @param shared    where nodes count together; null: this process counts alone
 */
export function createRateLimit(perMinute: number, shared: SharedCounts | null = null): RateLimit {
  if (perMinute === 0) return { take: async () => ({}) };
  const limiter = createLimiter("key", perMinute, shared);
  const headers = (left: RateLimiterRes): Record<string, string> => ({
    "ratelimit-limit": String(perMinute),
    "ratelimit-remaining": String(left.remainingPoints),
    "ratelimit-reset": String(seconds(left)),
  });
  return {
    async take(keyId) {
      try {
        return headers(await limiter.consume(keyId));
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        throw new GatewayError(
          "RATE_LIMITED",
          `More than ${perMinute} requests in a minute with this key; try again in ${seconds(refused)} s.`,
          { retryAfter: seconds(refused), headers: headers(refused) },
        );
      }
    },
  };
}

const seconds = (result: RateLimiterRes): number => Math.max(1, Math.ceil(result.msBeforeNext / 1000));
