import { Redis, type RedisOptions } from "ioredis";
import type { Logger } from "../log.ts";

/** Longest wait between two attempts to connect again. */
const LONGEST_PAUSE_MS = 5_000;

/**
 * What every connection to Redis has in common: nothing waits for one that is away, nothing is said twice after an outage,
 * and one that has become a replica is left.
 */
export const REDIS_OPTIONS = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 5_000,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) => Math.min(100 * attempt, LONGEST_PAUSE_MS),
  reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

/** Says once that Redis is away, and once that it is back, for as many connections as are shown to it. */
export interface RedisWatch {
  watch(connection: Redis): void;
  readonly isAway: boolean;
}

/** @param costs what goes on without it, for people: `continuing without the shared cache` */
export function createRedisWatch(log: Logger, costs: string): RedisWatch {
  const away = new Set<Redis>();
  return {
    watch(connection) {
      connection.on("error", (error: Error) => {
        if (away.size === 0) log.warn({ err: error }, `Redis is unavailable; ${costs}`);
        away.add(connection);
      });
      connection.on("ready", () => {
        if (away.delete(connection) && away.size === 0) log.info("Redis is back");
      });
      // One that is closed for good comes back no more, and holds nobody up.
      connection.on("end", () => void away.delete(connection));
    },
    get isAway() {
      return away.size > 0;
    },
  };
}
