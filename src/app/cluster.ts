import { randomUUID } from "node:crypto";
import { createBus } from "../cluster/bus.ts";
import { createRedisJobs } from "../cluster/jobs.ts";
import { createLeaseTable } from "../cluster/lease-table.ts";
import { createMember, type Portrait } from "../cluster/member.ts";
import { createRedis, type SharedRedis } from "../cluster/redis.ts";
import type { ClusterSettings, Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import type { Store } from "../store/store.ts";
import { asStartError } from "../store/file/damage.ts";
import { BatchFailed } from "../store/engine.ts";
import { connectToServer } from "../store/server/client.ts";
import packageJson from "../../package.json" with { type: "json" };

/** This process as one of several, and its beginning and end. */
export interface ClusterNode {
  cluster: Cluster;
  redis: SharedRedis;
  /** What the node says of itself from now on. */
  portrayed(portrait: Portrait): void;
  /** Takes numbers, when whoever works for them follows their ownership. */
  start(): Promise<void>;
  /** Gives its numbers to the other nodes, and serves those that it still has meanwhile. */
  handOver(): Promise<void>;
  /** When every connection is closed: lets go of what is left, and of the name. */
  leave(): Promise<void>;
  /** When nobody tells or asks any more. */
  close(): Promise<void>;
}

/** Part of a lease after which the answer of the database is of no use. */
const REQUEST = 5 / 6;
/** Until then what has not been given away at the pace of logins goes at once. */
const HAND_OVER_MS = 12_000;
/** A balancer has noticed by then that this node is not ready any more, and requests may be refused. */
const NOTICED_MS = 3_000;

/**
 * Takes the node's name, and hears the others from now on. Loaded by those only that are one of several.
 *
 * @throws {StartError} when a process that runs has the name
 */
export async function openClusterNode(
  config: Config & { cluster: ClusterSettings; redisUrl: string },
  log: Logger,
  store: Store,
): Promise<ClusterNode> {
  const { node, leaseMs } = config.cluster;
  const { time, box } = store;
  const server = connectToServer({
    url: config.databaseUrl,
    authToken: config.databaseAuthToken,
    time,
    requestMs: Math.floor(leaseMs * REQUEST),
  });
  const table = createLeaseTable({ server, node, incarnation: randomUUID(), leaseMs });
  const member = createMember({
    node,
    url: config.cluster.url,
    version: packageJson.version,
    leaseMs,
    table,
    time,
    log,
    // As if an operator had ended it: what is under way ends in order.
    onNameTaken: () => process.kill(process.pid, "SIGTERM"),
  });
  store.serveLeases(member.holder);
  const redis = createRedis({ url: config.redisUrl, box, log, time });
  const { ownership } = member;
  const bus = createBus({ redis, node, box, ownership, time, log });
  const jobs = await createRedisJobs({ redisUrl: config.redisUrl, prefix: redis.prefix, log, time });
  const end = async (): Promise<void> => {
    bus.stop();
    await jobs.stop();
    redis.close();
    server.close();
  };
  try {
    await member.enter(bus);
    await bus.start();
  } catch (error) {
    await end();
    throw error instanceof BatchFailed ? asStartError(error, "The database of DATABASE_URL") : error;
  }
  return {
    cluster: { node, bus, ownership, jobs },
    redis,
    portrayed: member.portrayed,
    start: member.start,
    async handOver() {
      const noticed = ownership.nodes() > 1 ? time.pause(NOTICED_MS) : null;
      await member.handOver(HAND_OVER_MS);
      await noticed;
    },
    leave: member.stop,
    close: end,
  };
}
