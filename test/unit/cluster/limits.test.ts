import { once } from "node:events";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createLimiter } from "../../../src/api/access/limiter.ts";
import { createRateLimit } from "../../../src/api/access/rate-limit.ts";
import { startRedis } from "../../_setup/redis.ts";
import { nobodyYet, talkingNode } from "./nodes.ts";

const PER_MINUTE = 10;
let keys = 0;

describe("what a key may ask of several nodes", () => {
  const server = startRedis({ until: afterAll });

  async function setUp() {
    const { url } = await server;
    const [a, b] = [await talkingNode("a", url, nobodyYet()), await talkingNode("b", url, nobodyYet())];
    const connected: Promise<unknown>[] = [];
    const limits = [a, b].map(({ redis }) =>
      createRateLimit(PER_MINUTE, {
        prefix: redis.prefix,
        connect(options) {
          // On a busy machine the answer of a Redis that is there may take longer than anybody waits for it.
          const client = redis.connect({ ...options, commandTimeout: 3_000 });
          connected.push(once(client, "ready"));
          return client;
        },
      }),
    );
    await Promise.all(connected);
    return { limits, key: `key-${++keys}` };
  }
  const left = async (taken: Promise<Record<string, string>>): Promise<number> =>
    Number((await taken)["ratelimit-remaining"]);

  it("is counted together", async () => {
    const { limits, key } = await setUp();
    const asked = await Promise.allSettled(
      Array.from({ length: 4 * PER_MINUTE }, (_, index) => limits[index % 2]!.take(key)),
    );

    const allowed = asked.filter(({ status }) => status === "fulfilled").length;
    expect(allowed).toBe(PER_MINUTE);
    await expect(limits[1]!.take(key)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  });

  it("is counted by each for itself while Redis is away, stands, or has just been emptied; nobody is refused for it", async () => {
    const { limits, key } = await setUp();
    const redis = await server;
    const both = () => Promise.all(limits.map((limit) => left(limit.take(key))));
    await both();

    onTestFinished(redis.goOn);
    redis.freeze();
    expect(await both()).toEqual([PER_MINUTE - 1, PER_MINUTE - 1]);
    redis.goOn();
    await redis.kill();
    expect(await both()).toEqual([PER_MINUTE - 2, PER_MINUTE - 2]);
    await redis.start();

    // Together again, from the start.
    await expect.poll(async () => Math.abs((await both()).reduce((one, other) => one - other))).toBe(1);
    await redis.command("FLUSHALL");
    expect(await left(limits[0]!.take(key))).toBe(PER_MINUTE - 1);
    expect(await left(limits[1]!.take(key))).toBe(PER_MINUTE - 2);
  });

  it("waits for Redis for a moment only", () => {
    const asked: object[] = [];
    const connect = (options: object) => {
      asked.push(options);
      return {} as never;
    };
    createLimiter("key", 1, { prefix: "p", connect });
    expect(asked).toEqual([{ commandTimeout: 100 }]);
  });
});
