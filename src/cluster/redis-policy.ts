import type { Redis } from "ioredis";
import type { Logger } from "../log.ts";

/** How Redis must be set so that it forgets no jobs, and what cures it. */
export const POLICY = [
  {
    setting: "maxmemory-policy",
    wanted: "noeviction",
    otherwise: "Redis drops keys, jobs included, when its memory is full",
  },
  {
    setting: "appendonly",
    wanted: "yes",
    otherwise: "Redis loses its latest writes, jobs included, when it ends suddenly",
  },
] as const;

/**
 * Says what of Redis' settings makes it forget jobs. Nothing is lost by that, since the rows are the truth; work that it
 * forgets waits until somebody sweeps. Never rejects.
 */
export async function checkRedisPolicy(redis: Pick<Redis, "config">, log: Logger): Promise<void> {
  for (const { setting, wanted, otherwise } of POLICY) {
    try {
      const [, value] = (await redis.config("GET", setting)) as string[];
      if (value === wanted) continue;
      const cure = `CONFIG SET ${setting} ${wanted}`;
      log.warn(
        { setting, value: value ?? null, wanted, cure },
        `${otherwise}: run ${cure}, and CONFIG REWRITE`,
      );
    } catch (error) {
      const how = `ask its provider whether ${setting} is ${wanted}`;
      log.warn(
        { err: error, setting, wanted },
        `Redis does not show its settings (it refuses CONFIG GET): ${how}`,
      );
    }
  }
}
