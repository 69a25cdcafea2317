import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../_setup/world.ts";
import { startRedis, type RedisServer } from "../_setup/redis.ts";
import { ANA, BEN, botsFolder, idsPerText, openShop, send, SHOP } from "./shop.ts";

const ECHO = `export default (b) => b.match(/.*/, (ctx) => ctx.reply("echo: " + ctx.text));`;

/** What may become of the shared cache while the gateway runs. */
const FATES: [string, (redis: Redis, server: RedisServer) => Promise<unknown>][] = [
  ["emptied", (redis) => redis.flushall()],
  ["full of text", (redis) => overwrite(redis, (key) => redis.set(key, "garbage"))],
  ["full of JSON of another shape", (redis) => overwrite(redis, (key) => redis.set(key, '{"a":[1]}'))],
  ["full of bytes", (redis) => overwrite(redis, (key) => redis.set(key, Buffer.from([0xff, 0, 0x80])))],
  ["full of lists", (redis) => overwrite(redis, (key) => redis.rpush(key, "a"))],
  [
    "half written",
    (redis) => overwrite(redis, (key, value) => redis.set(key, value.subarray(0, value.length >> 1))),
  ],
  ["killed", (_redis, server) => server.kill()],
  ["started anew", (_redis, server) => server.start()],
];

/** Under the keys that Parley has used before: another program may have had them meanwhile. */
const names = new Set<string>();

async function overwrite(
  redis: Redis,
  write: (key: string, value: Buffer) => Promise<unknown>,
): Promise<void> {
  expect(names.size).toBeGreaterThan(1);
  for (const key of names) {
    const value = await redis.getBuffer(key).catch(() => null);
    await redis.del(key);
    await write(key, value ?? Buffer.from("nothing"));
  }
}

it(
  "a shared cache that is lost or full of junk costs nothing but its answers",
  { timeout: 240_000 },
  async () => {
    const server = await startRedis();
    const world = await openShop({ env: { REDIS_URL: server.url, BOTS_DIR: botsFolder({ echo: ECHO }) } });
    const { gateway, sim, key } = world;
    await sim.addGroup({ subject: "Guests", members: [SHOP, ANA] });
    const redis = new Redis(server.url);
    redis.on("error", () => undefined);
    onTestFinished(() => redis.disconnect());
    const groups = async (): Promise<string[]> => {
      const answer = await gateway.post("/groups", { sender: SHOP }, { key });
      expect(answer.status).toBe(200);
      return answer.body["data"].map(({ name }: { name: string }) => name);
    };
    await until(async () => (await groups()).length === 1);
    await until(async () => {
      for (const name of await redis.keys("parley:*")) names.add(name);
      return names.size > 1;
    });

    for (const [n, [what, befall]] of FATES.entries()) {
      await befall(redis, server);
      expect({ what, groups: await groups() }).toEqual({ what, groups: ["Guests"] });
      expect((await gateway.get(`/devices/${SHOP}`, { key })).body["data"].state).toBe("connected");
      await sim.sendText(ANA, SHOP, `${n}`);
      await sim.waitForMessage(ANA, { from: SHOP, text: `echo: ${n}` }, 30_000);
      expect((await send(world, BEN, `${n}`)).body).toMatchObject({ status: true });
    }
    await sim.settle();

    const each = (prefix: string) => Object.fromEntries(FATES.map((_, n) => [`${prefix}${n}`, 1]));
    expect(await idsPerText(world, ANA)).toEqual(each("echo: "));
    expect(await idsPerText(world, BEN)).toEqual(each(""));
    expect(gateway.output()).not.toMatch(/request crashed|uncaught error|unhandled rejection/);
  },
);
