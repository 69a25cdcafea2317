import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openClusterNode } from "../../../src/app/cluster.ts";
import { startRedis } from "../../_setup/redis.ts";
import { findSqld, startSqld } from "../../_setup/sqld.ts";
import { NODE_SETTINGS } from "../store/temporary-config.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { openNodes } from "../../../src/app/nodes.ts";
import { openStore } from "../../../src/store/open.ts";
import { alone } from "../../../src/model/nodes/alone.ts";

const sqld = findSqld();
const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { interval: 50 });

/** Nodes as the app joins them, on one database server and one Redis. */
async function openCluster() {
  const [server, redis] = await Promise.all([startSqld(sqld!), startRedis({ appendOnly: true })]);
  return async (name: string) => {
    const env = { ...NODE_SETTINGS, DATABASE_URL: server.url, REDIS_URL: redis.url, NODE_NAME: name };
    const config = configFor(temporaryFolder(), { ...env, LEASE_SECONDS: "5" });
    const log = silentLog(config);
    const store = await openStore(config, log);
    const node = await openClusterNode(
      { ...config, cluster: config.cluster!, redisUrl: redis.url },
      log,
      store,
    );
    const { list } = openNodes({ store, cluster: node.cluster }, { ids: () => [], lagMs: () => 0 });
    node.portrayed({ deviceIds: () => [1, 2, 3], lagMs: () => 2_500 });
    await node.start();
    let leaving: Promise<void> | null = null;
    const leave = (): Promise<void> => (leaving ??= node.leave());
    onTestFinished(async () => {
      await leave();
      await node.close();
      await store.close();
    });
    const partitions = async (): Promise<[string, number][]> =>
      (await list()).map(({ node: has, partitions: count }) => [has, count]);
    return { ...node, leave, list, partitions };
  };
}

describe.skipIf(sqld === null)("nodes on one database and one Redis", () => {
  it("share the numbers, show one another, and hand everything over when they end", async () => {
    const open = await openCluster();
    const [a, b] = await Promise.all([open("a"), open("b")]);

    await eventually(async () => {
      expect(await a.partitions()).toEqual([
        ["a", 128],
        ["b", 128],
      ]);
    });
    const [first] = await b.list();
    expect(first).toMatchObject({ node: "a", lagMs: 2_500, version: "0.1.0" });
    expect(Date.now() - first!.since).toBeLessThan(60_000);

    await a.handOver();
    await a.leave();

    await eventually(async () => expect(await b.partitions()).toEqual([["b", 256]]));
    await eventually(async () => expect(await b.list()).toMatchObject([{ numbers: 3 }]));
  });
});

describe("a gateway that is alone", () => {
  it("shows itself, with all partitions", async () => {
    const store = await temporaryStore();

    const nodes = openNodes({ store, cluster: alone() }, { ids: () => [1, 2, 3], lagMs: () => 2_500 });

    expect(await nodes.list()).toEqual([
      {
        node: expect.any(String),
        partitions: 256,
        numbers: 3,
        lagMs: 2_500,
        version: "0.1.0",
        since: expect.any(Number),
      },
    ]);
  });
});
