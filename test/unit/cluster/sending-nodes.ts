import { createClient } from "@libsql/client";
import { afterAll, onTestFinished } from "vitest";
import { createBus } from "../../../src/cluster/bus.ts";
import { createRedis } from "../../../src/cluster/redis.ts";
import { loadConfig } from "../../../src/config.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { partitionOf, type Cluster, type Ownership } from "../../../src/model/nodes/cluster.ts";
import { systemTime } from "../../../src/model/time.ts";
import { applyMigrations } from "../../../src/store/migrations.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { joinPath, type JoinedPath } from "../../_setup/path.ts";
import { startRedis, type RedisServer } from "../../_setup/redis.ts";
import { findSqld, startSqld, type LibsqlServer } from "../../_setup/sqld.ts";
import type { Line } from "../outbox/harness.ts";
import { silentLog, temporaryFolder } from "../store/temporary.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";

/** Null where there is no libSQL server. */
export const sqld = findSqld();

/** A node as far as it takes sends and sends them. The test says which numbers it has. */
export interface SendingNode {
  name: string;
  store: Store;
  path: JoinedPath;
  /** Connects the numbers that it now has. */
  line: Line | null;
  /** Believes that a phone has its numbers. */
  isLinked: boolean;
  /** Kept from hearing and telling the others. */
  isDeaf: boolean;
}

export interface SendingCluster {
  server: LibsqlServer;
  redis: RedisServer;
  node(name: string, options?: { redisUrl?: string; env?: Record<string, string> }): Promise<SendingNode>;
  /** A linked number of one account, of nobody yet. @returns its id */
  number(): Promise<number>;
  /**
   * A node has it from now on, and opens it; whoever had it before closes it first. Null: nobody.
   *
   * @param isLost whoever had it hears of that only when it is another one's. Default false
   */
  give(deviceId: number, node: SendingNode | null, isLost?: boolean): Promise<void>;
}

export const ACCOUNT = "account";
/** Longer than any test. */
const FOREVER_MS = 3_600_000;

/** Call it at the top of a file; the function in each test. One database server and one Redis serve them all. */
export function sendingClusters(): () => Promise<SendingCluster> {
  const opened =
    sqld === null
      ? null
      : Promise.all([startSqld(sqld, { until: afterAll }), startRedis({ until: afterAll })]).then(
          async ([server, redis]) => {
            const client = createClient({ url: server.url, intMode: "number" });
            await applyMigrations(client);
            return { server, redis, client };
          },
        );
  afterAll(async () => (await opened)?.client.close());
  let lastId = 0;
  return async () => {
    const { server, redis, client } = await opened!;
    const owners = new Map<number, SendingNode>();
    const epochs = new Map<number, number>();

    const ownershipOf = (name: string): Ownership => ({
      ...alone().ownership,
      owns: (deviceId) => owners.get(partitionOf(deviceId))?.name === name,
      ownerOf: (deviceId) => owners.get(partitionOf(deviceId))?.name ?? null,
    });

    return {
      server,
      redis,
      async node(name, { redisUrl = redis.url, env = {} } = {}) {
        const config = loadConfig({
          ...NODE_SETTINGS,
          DATA_DIR: temporaryFolder(),
          DATABASE_URL: server.url,
          REDIS_URL: redisUrl,
          NODE_NAME: name,
          PACE_PER_MINUTE: "0",
          LOG_LEVEL: "silent",
          ...env,
        });
        const log = silentLog(config);
        const store = await openStore(config, log);
        const ownership = ownershipOf(name);
        store.serveLeases({
          epochOf: (p) => (owners.get(p)?.name === name ? (epochs.get(p) ?? null) : null),
          refused: () => undefined,
        });
        const { box } = store;
        const shared = createRedis({ url: redisUrl, box, log, time: systemTime });
        const real = createBus({ redis: shared, node: name, box, ownership, time: systemTime, log });
        await real.start();
        const cluster: Cluster = {
          ...alone(),
          node: name,
          ownership,
          bus: {
            ...real,
            tell: (topic, news, to) => void (self.isDeaf || real.tell(topic, news, to)),
            listen: (topic, hear) => real.listen(topic, (news) => void (self.isDeaf || hear(news))),
          },
        };
        const path = joinPath({
          store,
          config,
          log,
          cluster,
          connections: {
            connection: (deviceId) => (ownership.owns(deviceId) ? (self.line?.connection ?? null) : null),
            isLinked: () => self.isLinked,
          },
        });
        const self: SendingNode = { name, store, path, line: null, isLinked: true, isDeaf: false };
        await path.load();
        onTestFinished(async () => {
          await path.sent();
          real.stop();
          shared.close();
          await store.close();
        });
        return self;
      },
      async number() {
        const id = ++lastId;
        await client.execute({
          sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, ?, ?, 'connected', 0, 0)",
          args: [id, ACCOUNT, `49170${String(id).padStart(7, "0")}`],
        });
        return id;
      },
      async give(deviceId, node, isLost = false) {
        const p = partitionOf(deviceId);
        const before = owners.get(p);
        // As when a node gives it away: what is being sent ends, and is written down.
        if (!isLost) await before?.path.close(deviceId);
        owners.delete(p);
        if (isLost) await before?.path.close(deviceId);
        if (node === null) return;
        epochs.set(p, (epochs.get(p) ?? 0) + 1);
        await client.execute({
          sql: `INSERT INTO leases (p, node, epoch, until) VALUES (?, ?, ?, ?)
ON CONFLICT (p) DO UPDATE SET node = excluded.node, epoch = excluded.epoch, until = excluded.until`,
          args: [p, node.name, epochs.get(p)!, Date.now() + FOREVER_MS],
        });
        owners.set(p, node);
        await node.path.open(deviceId);
        if (node.line !== null) await node.path.online(deviceId);
      },
    };
  };
}
