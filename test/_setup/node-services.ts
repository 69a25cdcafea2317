import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { atExit } from "./at-exit.ts";
import { startRedis } from "./redis.ts";
import { findSqld, launchSqld } from "./sqld.ts";

/** `npm run test:cluster`: every gateway that may is a node, on a libSQL server and a Redis of its own. */
export const asNodes = process.env["PARLEY_TEST_CLUSTER"] === "1";

/** What a node stands on, and the settings that lead there. */
export interface NodeServices {
  env: Record<string, string>;
  end(): Promise<void>;
}

/** What is left when the process ends. */
const open = new Set<() => void>();
atExit(() => {
  for (const endNow of open) endNow();
});

const running = new Map<string, Promise<NodeServices>>();

/**
 * Settings that make a gateway a node, with servers that last as long as its data folder: started anew it finds its data. A
 * process of each for every gateway: a namespace of a shared sqld would want a host name of its own, and one Redis has one
 * set of channels.
 *
 * @param dataDir one with a database file stays what it is: alone
 * @param env     settings of the test; one that chooses a database is left alone
 */
export async function nodeSettings(
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Record<string, string>> {
  if (!asNodes || "DATABASE_URL" in env || existsSync(join(dataDir, "parley.db"))) return {};
  let services = running.get(dataDir);
  if (services === undefined) running.set(dataDir, (services = nodeServices()));
  return (await services).env;
}

/** Ends the servers of a data folder; none is fine. */
export async function endServices(dataDir: string): Promise<void> {
  const services = running.get(dataDir);
  running.delete(dataDir);
  await (await services)?.end();
}

/** A libSQL server and a Redis of somebody's own, until `end`. */
export async function nodeServices(): Promise<NodeServices> {
  const binary = findSqld();
  if (binary === null) throw new Error("A node wants a libSQL server: set SQLD to the program of sqld");
  const ends: (() => Promise<void>)[] = [];
  const [sqld, redis] = await Promise.all([
    launchSqld(binary),
    startRedis({ appendOnly: true, until: (end) => void ends.push(end) }),
  ]);
  const end = async (): Promise<void> => {
    open.delete(endNow);
    await Promise.all([sqld.kill().then(sqld.remove), ...ends.map((one) => one())]);
  };
  const endNow = (): void => {
    void end();
    sqld.remove();
  };
  open.add(endNow);
  return {
    env: {
      CLUSTER: "1",
      DATABASE_URL: sqld.url,
      REDIS_URL: redis.url,
      PARLEY_MASTER_KEY: randomBytes(32).toString("base64"),
      PARLEY_ADMIN_TOKEN: randomBytes(24).toString("base64url"),
      // Of a node that was killed its successor has to wait for the lease to end.
      LEASE_SECONDS: "9",
    },
    end,
  };
}
