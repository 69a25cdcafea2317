import { createClient } from "@libsql/client";
import { Redis } from "ioredis";
import { POLICY } from "../../cluster/redis-policy.ts";
import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { REDIS_OPTIONS } from "../../store/redis.ts";
import { requireDurable } from "../../store/server/durability.ts";
import { bad, good, note, type Finding } from "./finding.ts";

/** Does Redis answer, and does it forget nothing? */
export async function checkRedis({ redisUrl, cluster }: Config): Promise<Finding[]> {
  if (redisUrl === null)
    return cluster === null ? [] : [bad("redis", "REDIS_URL is not set, and several nodes need it.")];
  const redis = new Redis(redisUrl, { ...REDIS_OPTIONS, lazyConnect: true, retryStrategy: () => null });
  // Told below, by the attempt that it ends.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    const findings: Finding[] = [];
    for (const { setting, wanted, otherwise } of POLICY) {
      const [, value] = ((await redis.config("GET", setting).catch(() => [])) as string[]) ?? [];
      if (value === undefined)
        findings.push(
          note("redis", `does not show its ${setting}: ask its provider whether it is ${wanted}`),
        );
      else if (value !== wanted)
        findings.push(note("redis", `${otherwise}: CONFIG SET ${setting} ${wanted}, and CONFIG REWRITE`));
    }
    return findings.length > 0 ? findings : [good("redis", "answers, and keeps what it stores")];
  } catch (error) {
    return [
      bad(
        "redis",
        `REDIS_URL does not answer (${(error as Error).message}): start Redis, or correct REDIS_URL.`,
      ),
    ];
  } finally {
    redis.disconnect();
  }
}

/** Does the libSQL server answer, and does it keep what it acknowledges? Nothing is asked of a file. */
export async function checkServer(config: Config): Promise<Finding[]> {
  if (config.databaseUrl.startsWith("file:")) return [];
  const client = createClient({
    url: config.databaseUrl,
    ...(config.databaseAuthToken !== null && { authToken: config.databaseAuthToken }),
  });
  const quiet = { warn: () => undefined } as unknown as Parameters<typeof requireDurable>[3];
  try {
    await requireDurable(client, { allowWeakDurability: false }, "The libSQL server", quiet);
    return [good("server", "the libSQL server answers and keeps acknowledged commits")];
  } catch (error) {
    return [
      error instanceof StartError
        ? bad("server", error.message)
        : bad(
            "server",
            `the libSQL server of DATABASE_URL does not answer (${(error as Error).message}): start it, or correct DATABASE_URL and DATABASE_AUTH_TOKEN.`,
          ),
    ];
  } finally {
    client.close();
  }
}
