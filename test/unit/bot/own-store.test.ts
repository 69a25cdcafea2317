import { describe, expect, it } from "vitest";
import { readBot } from "../../../src/bot/routes/define.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { crashEverywhere } from "../../../src/testing/index.ts";
import { onHi, startBots } from "./harness.ts";

const BEN = 4915002;
const ROWS = "SELECT count(*) AS n FROM bot_store";

/** Counts everybody's words under one key. */
const counting = (b: Routes): void => {
  b.keyword("count", async (ctx) => {
    const before = (await ctx.store.get<number>("all")) ?? 0;
    ctx.store.set("all", before + 1);
    ctx.reply(`${before + 1}`);
  });
};

describe("ctx.store", () => {
  it("is the bot's own on this number, whoever writes, and outlives a kill", async () => {
    const bots = await startBots({ one: counting, other: { priority: 60, routes: counting } });
    await bots.say("count");
    await bots.kill();
    await bots.say("count", BEN);

    expect(bots.heard()).toEqual(["1", "2"]);
    expect(await bots.rows(ROWS)).toBe(1);
    expect(
      await bots.rows("SELECT count(*) AS n FROM bot_store WHERE bot_id = 'one' AND device_id = 1"),
    ).toBe(1);
  });

  it("gives what was written in the same turn, keeps it with the turn, and drops it with one that fails or passes", async () => {
    const bots = await startBots({
      shop: (b) => {
        b.keyword("write", async (ctx) => {
          ctx.store.set("cart/tea", { count: 2 });
          ctx.store.set("cart/milk", { count: 1 });
          ctx.store.set("other", 1);
          ctx.store.delete("cart/milk");
          ctx.reply(JSON.stringify([await ctx.store.get("cart/tea"), await ctx.store.list("cart/")]));
        });
        b.keyword("fail", (ctx) => {
          ctx.store.set("cart/tea", "lost");
          throw new Error("no");
        });
        b.keyword("pass", (ctx) => {
          ctx.store.set("cart/tea", "lost");
          ctx.next();
        });
        b.keyword("read", async (ctx) => {
          ctx.reply(JSON.stringify([await ctx.store.get("cart/milk"), await ctx.store.list("cart/")]));
        });
      },
    });
    for (const text of ["write", "fail", "pass", "read"]) await bots.say(text);
    const kept = '[{"key":"cart/tea","value":{"count":2}}]';
    expect(bots.heard()).toEqual([`[{"count":2},${kept}]`, `[null,${kept}]`]);
  });

  it("lists by what keys begin with, in their order, as many as asked for", async () => {
    const bots = await startBots({
      shop: (b) => {
        b.keyword("fill", (ctx) => {
          for (const key of ["b/2", "a", "b/1", "b/3", "b", "c", "b/\u{10FFFF}", "b0"])
            ctx.store.set(key, key);
        });
        b.keyword("list", async (ctx) => {
          const keys = (found: { key: string }[]) => found.map(({ key }) => key).join(" ");
          ctx.reply(keys(await ctx.store.list("b/")));
          ctx.reply(keys(await ctx.store.list("b/", { limit: 2 })));
          ctx.reply(keys(await ctx.store.list()));
        });
      },
    });
    await bots.say("fill");
    await bots.say("list");
    expect(bots.heard()).toEqual([
      "b/1 b/2 b/3 b/\u{10FFFF}",
      "b/1 b/2",
      "a b b/1 b/2 b/3 b/\u{10FFFF} b0 c",
    ]);
  });

  it("forgets what has a time when that is over, and clears it away", async () => {
    const bots = await startBots({
      shop: (b) => {
        b.keyword("write", (ctx) => ctx.store.set("day", 1, { ttl: "1h" }));
        b.keyword("read", async (ctx) =>
          ctx.reply(JSON.stringify([await ctx.store.get("day"), await ctx.store.list()])),
        );
      },
    });
    await bots.say("write");
    await bots.say("read");
    expect(bots.heard()).toEqual(['[1,[{"key":"day","value":1}]]']);
    await bots.clock.advance(3_600_001);
    await bots.say("read");
    expect(bots.heard()).toEqual(["[null,[]]"]);
    await bots.later(60_000);
    expect(await bots.rows(ROWS)).toBe(0);
  });

  it("loses nothing when many chats change one key at the same time", async () => {
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let waiting = 0;
    const bots = await startBots({
      shop: (b) =>
        b.keyword("count", async (ctx) => {
          const before = (await ctx.store.get<number>("all")) ?? 0;
          if (++waiting === 8) open();
          await gate;
          ctx.store.set("all", before + 1);
          ctx.reply(`${before + 1}`);
        }),
    });
    await bots.write(...Array.from({ length: 8 }, (_, index) => bots.message("count", 4915100 + index)));
    await bots.settled();
    expect(
      bots
        .heard()
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it.each<[string, (ctx: never) => unknown, RegExp]>([
    [
      "a key that is none",
      (ctx: { store: never }) => (ctx.store as Store).set("", 1),
      /a key of 1 to 200 characters/,
    ],
    [
      "a long key",
      (ctx: { store: never }) => (ctx.store as Store).get("x".repeat(201)),
      /a key of 1 to 200 characters/,
    ],
    ["nothing", (ctx: { store: never }) => (ctx.store as Store).set("a", undefined), /ctx\.store\.delete/],
    [
      "a Map",
      (ctx: { store: never }) => (ctx.store as Store).set("a", { b: new Map() }),
      /b is a Map: use an object/,
    ],
    ["much", (ctx: { store: never }) => (ctx.store as Store).set("a", "x".repeat(16_384)), /16384 bytes/],
    [
      "many keys",
      (ctx: { store: never }) => Array.from({ length: 101 }, (_, i) => (ctx.store as Store).set(`${i}`, 1)),
      /at most 100 keys/,
    ],
    [
      "a write inside of a step",
      (ctx: { store: never; step: (key: string, work: () => unknown) => unknown }) =>
        ctx.step("out", () => (ctx.store as Store).set("a", 1)),
      /after the step/,
    ],
  ])("refuses %s, and says how it is done", async (_, call, problem) => {
    let error: unknown;
    const bots = await startBots({
      shop: onHi(async (ctx) => {
        try {
          await call(ctx as never);
        } catch (thrown) {
          error = thrown;
          throw thrown;
        }
      }),
    });
    await bots.say("hi");
    expect(String(error)).toMatch(problem);
    expect(await bots.rows(ROWS)).toBe(0);
  });

  it("holds so many keys of a bot, and says so", async () => {
    const bots = await startBots({
      shop: onHi((ctx) => {
        for (let index = 0; index < 100; index++) ctx.store.set(`${ctx.message.id}${index}`, 1);
      }),
    });
    await bots.run.store.writer.commit([
      {
        sql: `INSERT INTO bot_store (device_id, bot_id, key, value, revision)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99901) SELECT 1, 'shop', 'k' || i, x'00', i FROM n`,
        args: [],
      },
    ]);
    expect(await bots.say("hi")).toMatchObject({ trail: [{ outcome: "failed", detail: "StoreFull" }] });
    await bots.run.store.writer.commit([
      { sql: "DELETE FROM bot_store WHERE key = 'k1' OR key = 'k2'", args: [] },
    ]);
    expect(await bots.say("hi")).toMatchObject({ by: "bot:shop" });
  });

  it("goes along with a bot that is renamed", async () => {
    const bots = await startBots({ counter: counting });
    await bots.say("count");
    await bots.kill({ "desk/counter": { was: "counter", routes: counting } });
    await bots.say("count");
    expect(bots.heard()).toEqual(["1", "2"]);
    expect(await bots.rows(`${ROWS} WHERE bot_id = 'counter'`)).toBe(0);
  });

  it("is committed with the message: no kill doubles or loses a write", async () => {
    const bot = readBot("count", {
      routes: (b: Routes) => {
        b.timer("later", async (ctx) => {
          const count = (await ctx.store.get<number>("n")) ?? 0;
          ctx.store.set("n", count + 1);
          ctx.reply(`then ${count + 1}`);
        });
        b.keyword("count", async (ctx) => {
          const count = (await ctx.store.get<number>("n")) ?? 0;
          ctx.store.set("n", count + 1);
          ctx.reply(`${count + 1}`);
          ctx.after("1m", "later");
        });
      },
    });
    expect(bot.warnings).toEqual([]);
    const report = await crashEverywhere(
      [
        {
          routes: (b) =>
            bot.bot.routes.forEach(({ kind, word, handler }) => {
              if (kind === "timer") b.timer(word!, handler as never);
              else b.keyword(word!, handler as never);
            }),
        },
      ],
      async (chat) => {
        await chat.user("count");
        await chat.user("count");
        await chat.advance("2m");
        await chat.user("count");
        await chat.expect("1");
        await chat.expect("2");
        await chat.expect("then 3");
        await chat.expect("4");
      },
    );
    expect(report.commits).toBeGreaterThan(6);
  });
});

interface Store {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): void;
}

describe("f.store", () => {
  const flow = (b: Routes): void => {
    const order = b.flow("order", async (f) => {
      const before = (await f.store.get<number>("n")) ?? 0;
      f.store.set("n", before + 1);
      const own = await f.store.get<number>("n");
      const name = await f.text("name", `${before} ${own}?`);
      const after = await f.store.get<number>("n");
      f.store.delete("n");
      f.say(`${name} ${before} ${after} ${await f.store.get("n")} ${(await f.store.list("")).length}`);
    });
    b.keyword("order", (ctx) => ctx.start(order));
    b.keyword("set", (ctx) => ctx.store.set("n", 9));
  };

  it("gives again what it gave, writes once, and sees what is written meanwhile", async () => {
    const bots = await startBots({ shop: flow });
    await bots.say("order");
    expect(bots.heard()).toEqual(["0 1?"]);
    await bots.kill();
    await bots.say("set", BEN);
    await bots.say("Ana");
    expect(bots.heard()).toEqual(["Ana 0 9 null 0"]);
    expect(await bots.rows(ROWS)).toBe(0);
  });

  it("is not changed by a turn that throws", async () => {
    const bots = await startBots({
      shop: (b) => {
        const bad = b.flow("bad", async (f) => {
          f.store.set("n", 1);
          throw new Error("no");
        });
        b.keyword("bad", (ctx) => ctx.start(bad));
      },
    });
    await bots.say("bad");
    expect(await bots.rows(ROWS)).toBe(0);
  });

  it("is no part of a step, and the error says so", async () => {
    let error: unknown;
    const bots = await startBots({
      shop: (b) => {
        const bad = b.flow("bad", async (f) => {
          await f.step("out", () => f.store.set("n", 1)).catch((thrown: unknown) => (error = thrown));
        });
        b.keyword("bad", (ctx) => ctx.start(bad));
      },
    });
    await bots.say("bad");
    expect(String(error)).toMatch(/f\.store .*inside f\.step/);
    expect(await bots.rows(ROWS)).toBe(0);
  });

  it("is the same whatever is killed", async () => {
    const { runs } = await crashEverywhere([{ routes: flow }], async (chat) => {
      await chat.user("order");
      await chat.user("Ana");
      await chat.expect("0 1?");
      await chat.expect("Ana 0 1 null 0");
    });
    expect(runs).toBeGreaterThan(5);
  });
});
