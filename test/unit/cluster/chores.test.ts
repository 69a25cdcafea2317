import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRedisJobs } from "../../../src/cluster/jobs.ts";
import { systemTime } from "../../../src/model/time.ts";
import { createErasure } from "../../../src/retention/erasure.ts";
import { createRetention } from "../../../src/retention/retention.ts";
import { startRedis, type RedisServer } from "../../_setup/redis.ts";
import { silentLog } from "../store/temporary.ts";
import { rawRows } from "../store/rows.ts";
import { createTestBus, hasSqld, nodesOnOneServer, type TestBus } from "./shared-server.ts";

const open = nodesOnOneServer();
let redis: RedisServer;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  redis = await startRedis({ until: (end) => void ends.push(end) });
});
afterAll(async () => {
  for (const end of ends) await end();
});

let tests = 0;
let bus: TestBus;
beforeEach(() => {
  tests++;
  bus = createTestBus();
});

/** The first one of a bus leads. */
async function node(name: string, redisUrl = redis.url) {
  const opened = await open(`${name}${tests}`, bus);
  const { config, store } = opened;
  const log = silentLog(config);
  const jobs = await createRedisJobs({ redisUrl, prefix: `{chores${tests}}`, log, time: systemTime });
  const base = { config, store, log, cluster: { ...opened.cluster, jobs } };
  let runs = 0;
  const retention = createRetention({
    ...base,
    sentContent: async () => null,
    afterwards: async () => void runs++,
  });
  const erasure = createErasure(base);
  onTestFinished(async () => {
    await Promise.all([retention.stop(), erasure.stop()]);
    await jobs.stop();
  });
  return { ...opened, jobs, retention, erasure, runs: () => runs };
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A decision that is two months old, of a number. */
const old = (deviceId: number, inboxId: number) => ({
  sql: `insert into decisions (inbox_id, device_id, wa_id, chat, at, trail) values (?, ?, ?, 'c', ?, '[]')`,
  args: [inboxId, deviceId, `w${inboxId}`, Date.now() - 60 * DAY_MS],
});

const decisionsOf = async ({ store }: Awaited<ReturnType<typeof node>>, deviceId: number) =>
  rawRows(store, "select inbox_id from decisions where device_id = ?", [deviceId]);

describe.skipIf(!hasSqld)("what is old", () => {
  it("is deleted once for all nodes, and each looks after its own disk", async () => {
    const [leads, other] = [await node("one"), await node("other")];
    await leads.store.writer.commit([old(1, 1), old(1, 2)], { owning: null });
    for (const { config } of [leads, other]) {
      mkdirSync(join(config.dataDir, "media", "in"), { recursive: true });
      const path = join(config.dataDir, "media", "in", "1-999");
      writeFileSync(path, "");
      utimesSync(path, (Date.now() - 2 * HOUR_MS) / 1000, (Date.now() - 2 * HOUR_MS) / 1000);
    }
    await vi.waitFor(async () => expect(await leads.jobs.add("other", "ready")).toBe(true));

    leads.retention.start();
    other.retention.start();

    await vi.waitFor(async () => expect(await decisionsOf(leads, 1)).toEqual([]));
    await vi.waitFor(() => expect(leads.runs() + other.runs()).toBe(1));
    await vi.waitFor(() => {
      for (const { config } of [leads, other])
        expect(readdirSync(join(config.dataDir, "media", "in"))).toEqual([]);
    });
  });

  it("is deleted by the node that leads while Redis is away", async () => {
    const own = await startRedis();
    await own.kill();
    const [leads, other] = [await node("one", own.url), await node("other", own.url)];
    await leads.store.writer.commit([old(2, 11)], { owning: null });

    other.retention.start();
    leads.retention.start();

    await vi.waitFor(async () => expect(await decisionsOf(leads, 2)).toEqual([]));
    await vi.waitFor(() => expect([leads.runs(), other.runs()]).toEqual([1, 0]));
  });
});

describe.skipIf(!hasSqld)("an erased number", () => {
  it.each([true, false])("is deleted by whoever is free, Redis is there: %s", async (there) => {
    const own = await startRedis();
    if (!there) await own.kill();
    const [leads, other] = [await node("one", own.url), await node("other", own.url)];
    const deviceId = there ? 21 : 22;
    await leads.store.writer.commit(
      Array.from({ length: 450 }, (_, index) => old(deviceId, 1_000 * deviceId + index)),
      { owning: null },
    );
    leads.erasure.start();
    other.erasure.start();

    await other.erasure.erase(deviceId);

    await vi.waitFor(async () => expect(await decisionsOf(leads, deviceId)).toEqual([]));
    expect(await rawRows(leads.store, "select id from erased_devices where id = ?", [deviceId])).toHaveLength(
      1,
    );
  });
});
