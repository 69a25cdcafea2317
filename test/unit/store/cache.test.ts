import { performance } from "node:perf_hooks";
import { Redis } from "ioredis";
import type { Storage } from "unstorage";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createLogger } from "../../../src/log.ts";
import { createCache } from "../../../src/store/cache.ts";
import { configFor, temporaryFolder } from "./temporary.ts";
import { startRedis } from "../../_setup/redis.ts";

function openCache(url: string | null): { cache: Storage; lines: string[] } {
  const lines: string[] = [];
  const config = { ...configFor(temporaryFolder()), logLevel: "info" as const };
  const cache = createCache(url, createLogger(config, { write: (line) => lines.push(line) }));
  onTestFinished(() => cache.dispose());
  return { cache, lines };
}

/** Redis connects in the background; until then it is a cache that knows nothing. */
const works = (cache: Storage): Promise<void> =>
  vi.waitFor(
    async () => {
      await cache.setItem("probe", "1");
      expect(await cache.hasItem("probe")).toBe(true);
    },
    { interval: 20 },
  );

describe.each(["memory", "redis"])("the cache in %s", (kind) => {
  const url = async (): Promise<string | null> => (kind === "redis" ? (await startRedis()).url : null);

  it("gives back JSON and bytes, lists keys, and forgets", async () => {
    const { cache } = openCache(await url());
    await works(cache);

    await cache.setItem("groups:1", [{ id: "1@g.us", name: "Ünï" }], { ttl: 60 });
    await cache.setItemRaw("qr:1", Buffer.from([0, 255, 7]));

    expect(await cache.getItem("groups:1")).toEqual([{ id: "1@g.us", name: "Ünï" }]);
    expect(Buffer.from((await cache.getItemRaw("qr:1")) as Uint8Array)).toEqual(Buffer.from([0, 255, 7]));
    expect(await cache.getKeys("groups")).toEqual(["groups:1"]);
    await cache.removeItem("groups:1");
    expect(await cache.getItem("groups:1")).toBeNull();
    expect(await cache.getItem("unknown")).toBeNull();
  });

  it("forgets what is older than its ttl, in seconds", async () => {
    const { cache } = openCache(await url());
    await works(cache);

    await cache.setItem("short", "x", { ttl: 1 });
    await cache.setItem("long", "x", { ttl: 60 });

    expect(await cache.getItem("short")).toBe("x");
    await vi.waitFor(async () => expect(await cache.getItem("short")).toBeNull(), { interval: 50 });
    expect(await cache.getItem("long")).toBe("x");
  });
});

describe("a cache in memory", () => {
  it("holds a bounded number of entries", async () => {
    const { cache } = openCache(null);

    for (let index = 0; index < 10_100; index++) await cache.setItem(`k:${index}`, "x");

    expect((await cache.getKeys()).length).toBe(10_000);
    expect(await cache.getItem("k:0")).toBeNull();
  });
});

describe("a cache in a Redis that goes away", () => {
  it("misses at once instead of failing, says so once, and works again when Redis is back", async () => {
    const redis = await startRedis();
    const { cache, lines } = openCache(redis.url);
    await works(cache);
    await cache.setItem("kept", "x");

    await redis.kill();
    const start = performance.now();
    expect(await cache.getItem("kept")).toBeNull();
    expect(await cache.hasItem("kept")).toBe(false);
    expect(await cache.getKeys()).toEqual([]);
    expect(await cache.getItems(["kept", "other"])).toEqual([
      { key: "kept", value: null },
      { key: "other", value: null },
    ]);
    await cache.setItem("lost", "x");
    await cache.removeItem("kept");
    await cache.clear();
    expect(performance.now() - start).toBeLessThan(20_000);
    await vi.waitFor(() => expect(lines.join("")).toContain("Redis is unavailable"));

    await redis.start();
    await works(cache);
    expect(lines.filter((line) => line.includes("Redis is unavailable"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("Redis is back"))).toHaveLength(1);
  });

  it("never reaches one that was away from the start, and ends all the same", async () => {
    const { cache } = openCache("redis://127.0.0.1:1");

    expect(await cache.getItem("x")).toBeNull();
    await cache.setItem("x", "y");
  });
});

describe("a cache in a Redis that holds something else", () => {
  const JUNK: [string, (redis: Redis, key: string) => Promise<unknown>][] = [
    ["text of another program", (redis, key) => redis.set(key, "hello")],
    ["JSON of another shape", (redis, key) => redis.set(key, '{"state":"connected"}')],
    ["half a JSON text", (redis, key) => redis.set(key, '{"sta')],
    ["nothing", (redis, key) => redis.set(key, "")],
    ["bytes that are no text", (redis, key) => redis.set(key, Buffer.from([0xff, 0, 0xfe, 0x80, 7]))],
    ["a list", (redis, key) => redis.rpush(key, "a", "b")],
    ["a hash", (redis, key) => redis.hset(key, "a", "b")],
    [
      "a value of our own that was cut off",
      async (redis, key) => redis.set(key, (await ours(redis)).slice(0, -2)),
    ],
    ["a value of our own from another key", async (redis, key) => redis.set(key, await ours(redis))],
  ];
  const ours = async (redis: Redis): Promise<string> => (await redis.get("parley:kept")) ?? "";

  it.each(JUNK)("misses: %s", async (_what, write) => {
    const server = await startRedis();
    const { cache } = openCache(server.url);
    await works(cache);
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    await cache.setItem("kept", { state: "connected" });
    await redis.del("parley:junk");
    await write(redis, "parley:junk");

    expect(await cache.getItem("junk")).toBeNull();
    expect(await cache.getItemRaw("junk")).toBeNull();
    expect(await cache.getItems(["junk", "kept"])).toEqual([
      { key: "junk", value: null },
      { key: "kept", value: { state: "connected" } },
    ]);
    await cache.setItem("junk", ["good again"]);
    expect(await cache.getItem("junk")).toEqual(["good again"]);
  });

  it("misses after FLUSHALL, and goes on", async () => {
    const server = await startRedis();
    const { cache } = openCache(server.url);
    await works(cache);
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    await cache.setItem("kept", "x");

    await redis.flushall();

    expect(await cache.getItem("kept")).toBeNull();
    await cache.setItem("kept", "y");
    expect(await cache.getItem("kept")).toBe("y");
  });
});
