import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRedisJobs, type RedisJobs } from "../../../src/cluster/jobs.ts";
import { systemTime } from "../../../src/model/time.ts";
import { startRedis, type RedisServer } from "../../_setup/redis.ts";
import { listeningLog } from "../bot/messages.ts";

let redis: RedisServer;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  redis = await startRedis({ until: (end) => void ends.push(end) });
});
afterAll(async () => {
  for (const end of ends) await end();
});

const KIND = "look";
let installations = 0;

/** Processes of one installation, whose keys are no other test's. */
function installation({ url = redis.url } = {}) {
  const prefix = `{test${++installations}}`;
  return {
    prefix,
    async node() {
      const { log, lines } = listeningLog();
      const jobs = await createRedisJobs({ redisUrl: url, prefix, log, time: systemTime });
      onTestFinished(jobs.stop);
      return { jobs, lines };
    },
  };
}

const added = (jobs: RedisJobs, id: string, delayMs = 0) =>
  vi.waitFor(async () => expect(await jobs.add(KIND, id, { delayMs })).toBe(true));

/** Handles what comes, and remembers it. */
function handled(jobs: RedisJobs): string[] {
  const ids: string[] = [];
  jobs.work(KIND, async (id) => void ids.push(id), { concurrency: 4 });
  return ids;
}

describe("jobs", () => {
  it("are handled once, by whoever is free, and leave nothing behind", async () => {
    const { prefix, node } = installation();
    const [one, other] = [await node(), await node()];
    const ids = [handled(one.jobs), handled(other.jobs)];

    await Promise.all(Array.from({ length: 20 }, (_, index) => added(one.jobs, `${index}`)));

    await vi.waitFor(() => expect(ids.flat()).toHaveLength(20));
    expect(new Set(ids.flat()).size).toBe(20);
    await vi.waitFor(async () => expect(await redis.command("KEYS", `${prefix}:${KIND}:id-*`)).toEqual([]));
  });

  it("add nothing while one of the same id waits", async () => {
    const { node } = installation();
    const { jobs } = await node();
    for (let times = 0; times < 3; times++) await added(jobs, "7", 300);

    const ids = handled(jobs);
    await added(jobs, "last", 600);

    await vi.waitFor(() => expect(ids).toContain("last"));
    expect(ids).toEqual(["7", "last"]);
  });

  it("that fail may come again", async () => {
    const { node } = installation();
    const { jobs, lines } = await node();
    let times = 0;
    jobs.work(KIND, () => (++times === 1 ? Promise.reject(new Error("no")) : Promise.resolve()), {
      concurrency: 1,
    });

    await added(jobs, "7");
    await vi.waitFor(() => expect(lines.join()).toContain("a job failed"));
    await vi.waitFor(async () => {
      await added(jobs, "7");
      // More often, when it was added again before anybody looked.
      expect(times).toBeGreaterThanOrEqual(2);
    });
  });

  it("are nobody's while Redis is away or frozen, and go on when it is back or was emptied", async () => {
    const own = await startRedis();
    const { node } = installation({ url: own.url });
    const { jobs, lines } = await node();
    const ids = handled(jobs);
    await added(jobs, "before");
    await vi.waitFor(() => expect(ids).toEqual(["before"]));

    await own.kill();
    await vi.waitFor(async () => expect(await jobs.add(KIND, "lost")).toBe(false));
    await own.start();
    await added(jobs, "after");
    await vi.waitFor(() => expect(ids).toEqual(["before", "after"]));

    own.freeze();
    expect(await jobs.add(KIND, "frozen")).toBe(false);
    own.goOn();
    await added(jobs, "thawed");
    await own.command("FLUSHALL");
    await added(jobs, "emptied");
    await vi.waitFor(() => expect(ids).toContain("emptied"));
    expect(lines.filter((line) => line.includes("takes no jobs")).length).toBeGreaterThan(0);
  });

  it("may begin while Redis is not there yet", async () => {
    const own = await startRedis();
    await own.kill();
    const { node } = installation({ url: own.url });
    const { jobs } = await node();
    const ids = handled(jobs);
    expect(await jobs.add(KIND, "early")).toBe(false);

    await own.start();

    await added(jobs, "late");
    await vi.waitFor(() => expect(ids).toEqual(["late"]));
  });

  it("are refused by a Redis that is full, and nobody throws", async () => {
    const own = await startRedis();
    const { node } = installation({ url: own.url });
    const { jobs } = await node();
    await added(jobs, "first");
    await own.command("CONFIG", "SET", "maxmemory", "1mb");

    expect(await jobs.add(KIND, "second")).toBe(false);
  });
});

describe("the settings of Redis at the start", () => {
  it("are named with a cure that can be run when they make it forget jobs", async () => {
    const own = await startRedis({ policy: "allkeys-lru" });
    const { lines } = await installation({ url: own.url }).node();

    await vi.waitFor(() => {
      expect(lines.join()).toContain("CONFIG SET maxmemory-policy noeviction");
      expect(lines.join()).toContain("CONFIG SET appendonly yes");
    });
  });

  it("are not spoken of when all is well", async () => {
    const own = await startRedis({ appendOnly: true });
    const { jobs, lines } = await installation({ url: own.url }).node();
    await added(jobs, "7");
    expect(lines).toEqual([]);
  });

  it("are said to be unknown where a managed Redis does not show them", async () => {
    const own = await startRedis({ appendOnly: true });
    await own.command("ACL", "SETUSER", "parley", "on", ">secret", "~*", "&*", "+@all", "-config");
    const url = own.url.replace("redis://", "redis://parley:secret@");
    const { lines } = await installation({ url }).node();

    await vi.waitFor(() => expect(lines.join()).toContain("it refuses CONFIG GET"));
    expect(lines.join()).not.toContain("secret");
  });
});
