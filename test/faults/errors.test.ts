import { createClient } from "@libsql/client";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { until } from "../_setup/world.ts";
import { ANA, BEN, botsFolder, idsPerText, openShop, send, SHOP } from "./shop.ts";

const GOOD = `export default { priority: 90, routes(b) { b.match(/.*/, (ctx) => ctx.reply("good: " + ctx.text)); } };`;

/** What a bot may do wrong: the handler's body, and what its one record says. */
const WRONGS: [string, string, RegExp][] = [
  ["throws", `throw new Error("no");`, /"msg":"the handler threw/],
  ["throws null", `throw null;`, /"msg":"the handler threw/],
  ["rejects", `return Promise.reject(new Error("no"));`, /"msg":"the handler threw/],
  [
    "runs out of stack",
    `const deeper = () => deeper() + 1; deeper();`,
    /"type":"RangeError".*"msg":"the handler threw/,
  ],
  [
    "leaves a rejection alone",
    `Promise.reject(new Error("secret " + ctx.text)); ctx.next();`,
    /an unhandled rejection/,
  ],
  [
    "rejects with null and leaves it alone",
    `Promise.reject(null); ctx.next();`,
    /"type":"null".*an unhandled rejection/,
  ],
  [
    "throws in a timer",
    `setTimeout(() => { throw new Error("secret " + ctx.text); }, 1); ctx.next();`,
    /an uncaught error/,
  ],
  [
    "throws null in a timer",
    `setTimeout(() => { throw null; }, 1); ctx.next();`,
    /"type":"null".*an uncaught error/,
  ],
  [
    "emits an error that nobody hears",
    `process.nextTick(() => new (process.getBuiltinModule("events"))().emit("error", new Error("secret"))); ctx.next();`,
    /an uncaught error/,
  ],
  ["ends the process", `process.exit(0);`, /refused a call of process\.exit\(\)/],
  [
    "ends the process in a timer",
    `setTimeout(() => process.exit(3), 1); ctx.next();`,
    /refused a call of process\.exit\(\)/,
  ],
];

describe("a bot", () => {
  it(
    "that does what nobody catches leaves one record, without anybody's words, and the next bot answers",
    { timeout: 180_000 },
    async () => {
      const bots = Object.fromEntries(
        WRONGS.map(([, body], n) => [
          `wrong${n}`,
          `export default (b) => b.keyword("do ${n}", (ctx) => { ${body} });`,
        ]),
      );
      const world = await openShop({ env: { BOTS_DIR: botsFolder({ ...bots, good: GOOD }) } });
      const { gateway, sim } = world;
      const { pid } = gateway;

      for (const [n, [what, , record]] of WRONGS.entries()) {
        const before = gateway.output().length;
        await sim.sendText(ANA, SHOP, `do ${n}`);
        await sim.waitForMessage(ANA, { from: SHOP, text: `good: do ${n}` }, 30_000);
        const lines = (): string[] =>
          gateway
            .output()
            .slice(before)
            .split("\n")
            .filter((line) => record.test(line));
        await until(() => lines().length > 0).catch(() => undefined);
        expect({ what, records: lines().length }).toEqual({ what, records: 1 });
      }

      await sim.settle();
      expect(gateway.pid).toBe(pid);
      // A route is named by the words of its author.
      expect(gateway.output().replaceAll(/"route":"[^"]*"/g, "")).not.toMatch(/secret|do \d/);
      expect(await idsPerText(world, ANA)).toEqual(
        Object.fromEntries(WRONGS.map((_, n) => [`good: do ${n}`, 1])),
      );
    },
  );

  it("that ends the process while its file is loaded only disables itself", async () => {
    const world = await openShop({
      env: { BOTS_DIR: botsFolder({ ending: "process.exit(0);", good: GOOD }) },
    });

    await world.sim.sendText(ANA, SHOP, "hello");
    await world.sim.waitForMessage(ANA, { from: SHOP, text: "good: hello" }, 30_000);

    const { body } = await world.gateway.get("/bots", { key: world.key });
    expect(body["data"]).toContainEqual(
      expect.objectContaining({ id: "ending", error: expect.stringContaining("process.exit") }),
    );
  });
});

describe("a route", () => {
  it("whose code fails is answered with 500, one record and its request id, and everything else goes on", async () => {
    const world = await openShop();
    const { gateway, sim, key } = world;
    await until(() => isDone(gateway.dataDir, "ALTER TABLE channels RENAME TO elsewhere"));

    const answer = await gateway.get(`/channels?sender=${SHOP}`, { key });

    expect(answer).toMatchObject({
      status: 500,
      body: { status: false, errors: { code: "INTERNAL_ERROR" } },
    });
    const id = answer.headers.get("x-request-id")!;
    const records = gateway
      .output()
      .split("\n")
      .filter((line) => line.includes(id));
    expect(records).toHaveLength(1);
    expect(records[0]).toContain("request crashed");
    expect((await send(world, ANA, "still here")).body).toMatchObject({ status: true });
    await sim.waitForMessage(ANA, { text: "still here" }, 30_000);
  });
});

describe("a handler that blocks the event loop", () => {
  const BLOCKING = `export default (b) => b.keyword("block", async (ctx) => {
    const until = performance.now() + 7000;
    while (performance.now() < until);
    await ctx.reply("done");
  });`;
  const LATER = `export default (b) => b.keyword("block later", async (ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const until = performance.now() + 7000;
    while (performance.now() < until);
    await ctx.reply("done later");
  });`;

  it(
    "is named, shown by health, and loses or repeats nothing, whoever writes meanwhile",
    { timeout: 180_000 },
    async () => {
      const world = await openShop({ env: { BOTS_DIR: botsFolder({ blocking: BLOCKING, later: LATER }) } });
      const { gateway, sim, key } = world;
      const receiver = await startReceiver(({ body }) => ({ message: `re: ${body["message"]}` }));
      await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
      const stall = async (): Promise<number> =>
        (await gateway.get("/health/ready")).body["longest_stall_ms"] as number;
      expect(await stall()).toBeLessThan(2_000);

      for (const [word, reply] of [
        ["block", "done"],
        ["block later", "done later"],
      ] as const) {
        await sim.sendText(ANA, SHOP, word);
        for (let n = 0; n < 5; n++) await sim.sendText(BEN, SHOP, `${word} ${n}`);
        const sent = send(world, BEN, `after ${word}`);
        await sim.waitForMessage(ANA, { from: SHOP, text: reply }, 60_000);
        await sim.waitForMessage(BEN, { from: SHOP, text: `re: ${word} 4` }, 60_000);
        expect((await sent).body).toMatchObject({ status: true });
      }
      await sim.settle();

      const expected = ["block", "block later"].flatMap((word) => [
        `after ${word}`,
        ...[0, 1, 2, 3, 4].map((n) => `re: ${word} ${n}`),
      ]);
      expect(await idsPerText(world, BEN)).toEqual(Object.fromEntries(expected.map((text) => [text, 1])));
      expect(await idsPerText(world, ANA)).toEqual({ done: 1, "done later": 1 });
      expect(gateway.output()).toMatch(/"bot":"blocking".*"blockedMs":\d{4,}.*blocked the event loop/);
      expect(gateway.output()).toMatch(
        /"stalledMs":\d{4,},"bots":\[[^\]]*"later"[^\]]*\].*event loop was blocked/,
      );
      expect(await stall()).toBeGreaterThan(2_000);
    },
  );
});

describe("the client of WhatsApp", () => {
  /** Its own listeners run in `emit`: from now on the first message stanza finds a broken one. */
  const BREAKING = `
    import { EventEmitter } from "node:events";
    const emit = EventEmitter.prototype.emit;
    let broken = false;
    EventEmitter.prototype.emit = function (name, ...args) {
      if (name === "CB:message" && broken) {
        broken = false;
        throw new TypeError("secret stanza");
      }
      return emit.call(this, name, ...args);
    };
    export default (b) => b.keyword("break", (ctx) => { broken = true; return ctx.reply("broken"); });`;

  it(
    "that throws in a listener leaves one record; the message stays at the server and comes with the next connection",
    { timeout: 180_000 },
    async () => {
      const world = await openShop({ env: { BOTS_DIR: botsFolder({ breaking: BREAKING, good: GOOD }) } });
      const { gateway, sim } = world;
      await sim.sendText(ANA, SHOP, "break");
      await sim.waitForMessage(ANA, { from: SHOP, text: "broken" }, 30_000);

      await sim.sendText(ANA, SHOP, "unlucky");
      await until(() => /an (uncaught error|unhandled rejection)/.test(gateway.output()));
      expect(gateway.output()).not.toContain("secret");
      expect(await sim.pending(SHOP)).toBeGreaterThan(0);
      await sim.faults.dropSocket({ number: SHOP });

      await sim.waitForMessage(ANA, { from: SHOP, text: "good: unlucky" }, 90_000);
      await sim.settle();
      expect(await idsPerText(world, ANA)).toEqual({ broken: 1, "good: unlucky": 1 });
    },
  );

  it(
    "that gets a stanza which ends in the middle loses nothing of what comes after it",
    { timeout: 180_000 },
    async () => {
      const world = await openShop({ env: { BOTS_DIR: botsFolder({ good: GOOD }) } });
      const { gateway, sim } = world;
      const { pid } = gateway;
      for (const [n, how] of (["cut", "close"] as const).entries()) {
        await sim.faults.truncateFrame({ number: SHOP, tag: "message", how });
        await sim.sendText(ANA, SHOP, `cut ${n}`);
        await sim.sendText(ANA, SHOP, `after ${n}`);
        await sim.waitForMessage(ANA, { from: SHOP, text: `good: after ${n}` }, 90_000);
        await sim.waitForMessage(ANA, { from: SHOP, text: `good: cut ${n}` }, 90_000);
        await world.online(SHOP, 60_000);
      }
      await sim.settle();

      expect(gateway.pid).toBe(pid);
      const texts = [0, 1].flatMap((n) => [`good: cut ${n}`, `good: after ${n}`]);
      expect(await idsPerText(world, ANA)).toEqual(Object.fromEntries(texts.map((text) => [text, 1])));
    },
  );
});

/** A connection of its own for each try: one that was told that the database is busy commits nothing any more. */
async function isDone(dataDir: string, sql: string): Promise<boolean> {
  const client = createClient({ url: `file:${join(dataDir, "parley.db")}` });
  try {
    await client.execute(sql);
    return true;
  } finally {
    client.close();
  }
}
