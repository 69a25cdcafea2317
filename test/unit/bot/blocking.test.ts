import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AnyContext, Routes } from "../../../src/bot/types.ts";
import type { Message } from "../../../src/bot/types.ts";
import { readBot } from "../../../src/bot/routes/define.ts";
import { createBlocking } from "../../../src/bot/handlers/blocking.ts";
import { ANA, bot, startBots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

/** What the time that only grows is ahead of the processor's: a bot that computes for a second, without its second. */
let ahead = 0;
const compute = (ms: number): void => void (ahead += ms);

beforeEach(() => {
  ahead = 0;
  const real = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => real() + ahead);
});
afterEach(() => vi.restoreAllMocks());

const fallback = bot((b: Routes) => b.fallback((ctx) => ctx.reply("next")));
const offGuard = { env: { LOOP_GUARD_PER_MINUTE: "0" } };

/** Where code of a bot runs when a message comes, and what its decision names. */
const places: [string, (b: Routes) => void, string][] = [
  ["a handler", (b) => b.keyword("x", () => compute(1_200)), "keyword:x"],
  [
    "a handler behind a step",
    (b) =>
      b.keyword("x", async (ctx) => {
        await ctx.step("look up", () => 1);
        compute(1_200);
      }),
    "keyword:x",
  ],
  ["a step", (b) => b.keyword("x", (ctx) => ctx.step("add up", () => compute(1_200))), "keyword:x"],
  [
    "a handler that waited for a file in vain",
    (b) =>
      b.keyword("x", async (ctx) => {
        await ctx.file().catch(() => null);
        compute(1_200);
      }),
    "keyword:x",
  ],
  [
    "middleware",
    (b) => {
      b.use((_ctx, next) => (compute(1_200), next()));
      b.keyword("x", (ctx) => ctx.reply("x"));
    },
    "keyword:x",
  ],
  [
    "a function of a route that takes the message",
    (b) => b.on(slowly(true), (ctx) => ctx.reply("x")),
    "on:slow",
  ],
  ["a function of a route that takes it not", (b) => b.on(slowly(false), (ctx) => ctx.reply("x")), "on:slow"],
];

const slowly = (takes: boolean) => ({ slow: () => (compute(1_200), takes) }).slow;

describe("a bot that blocks the event loop", () => {
  it.each(places)(
    "in %s, is named in the log, the list of bots and the decision, and left out after three times",
    async (_what, routes, route) => {
      const bots = await startBots({ a: bot(routes), z: fallback }, offGuard);
      for (let times = 1; times <= 3; times++) {
        const { trail } = await bots.say("x");
        expect(trail.find(({ by }) => by === "bot:a")).toMatchObject({
          route,
          detail: expect.stringMatching(/blocked everybody for 1\d\d\d ms/),
        });
        expect(bots.run.path.blocking.of("a")).toMatchObject({
          times,
          route,
          longest_ms: expect.any(Number),
        });
      }
      expect(bots.log.lines.filter((line) => /"bot":"a".*blocked the event loop/.test(line))).toHaveLength(3);
      expect(bots.log.lines.filter((line) => /"bot":"a".*keeps blocking/.test(line))).toHaveLength(1);
      bots.heard();

      expect(await bots.say("x")).toMatchObject({
        by: "bot:z",
        trail: [{ by: "bot:a", outcome: "not_asked", detail: "blocks_everybody" }, { by: "bot:z" }],
      });
      expect(bots.heard()).toEqual(["next"]);
      const { blocked } = bots.run.path.bindings.list(1).find(({ id }) => id === "a")!;
      expect(blocked).toMatchObject({ times: 3, left_out_until: expect.stringMatching(/^\d{4}-.*Z$/) });

      compute(61_000);
      await bots.say("x");
      expect(bots.run.path.blocking.of("a")).toMatchObject({ times: 4, left_out_until: expect.any(String) });
    },
  );

  it("is left out for as many numbers as it has, and observers of it see nothing meanwhile", async () => {
    let seen = 0;
    const a = bot((b) => {
      b.tap(() => {
        seen++;
        compute(1_500);
      });
    });
    const bots = await startBots({ a, z: fallback }, offGuard);
    for (let n = 0; n < 5; n++) await bots.say("x", ANA + n);
    expect(seen).toBe(3);
    expect(bots.heard()).toEqual(Array(5).fill("next"));
  });

  it("may take a second on its own: others are served while it waits", async () => {
    const patient = async (ctx: AnyContext): Promise<void> => {
      await ctx.step("wait", async () => {
        await new Promise((resolve) => setImmediate(resolve));
        compute(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      });
      ctx.reply("late");
    };
    const bots = await startBots({ a: bot((b) => b.keyword("x", patient)) });
    await bots.say("x");
    expect(bots.run.path.blocking.of("a")).toBeNull();
  });
});

describe("how long a bot is left out", () => {
  const place = { bot: "a", route: "keyword:x", device: 1, message: "m" };
  function start() {
    let now = 0;
    const blocking = createBlocking(listeningLog().log, { now: () => now, monotonic: () => now });
    return { blocking, pass: (ms: number) => void (now += ms), block: () => blocking.noteTime(place, 1_000) };
  }

  it("is a minute, then twice as long each time, at most an hour", () => {
    const { blocking, block, pass } = start();
    block();
    block();
    expect(blocking.isLeftOut("a")).toBe(false);
    for (const minutes of [1, 2, 4, 8, 16]) {
      block();
      pass(minutes * 60_000 - 1);
      expect(blocking.isLeftOut("a")).toBe(true);
      pass(1);
      expect(blocking.isLeftOut("a")).toBe(false);
    }
  });

  it("counts what happens within an hour, and shorter blocks not at all", () => {
    const { blocking, block, pass } = start();
    for (let n = 0; n < 10; n++) {
      block();
      pass(31 * 60_000);
    }
    expect(blocking.isLeftOut("a")).toBe(false);
    expect(blocking.of("a")).toMatchObject({ times: 10, left_out_until: null });
    expect(blocking.noteTime({ ...place, bot: "b" }, 999)).toBe(false);
    expect(blocking.of("b")).toBeNull();
  });

  it("ends when the bots are loaded again", () => {
    const { blocking, block } = start();
    for (let n = 0; n < 3; n++) block();
    blocking.forget();
    expect(blocking.isLeftOut("a")).toBe(false);
    expect(blocking.of("a")).toBeNull();
  });
});

describe("hostile text", () => {
  const LONG = "a".repeat(65_536);

  it("reaches expressions and functions of routes cut at 4,096 characters, and handlers whole", async () => {
    const seen: number[] = [];
    const measure = (message: Message): boolean => {
      seen.push(message.text.length, message.quoted?.text.length ?? 0);
      return false;
    };
    const a = bot((b) => {
      b.on(measure, () => null);
      b.match(/^a+$/, (ctx) =>
        ctx.reply(`${ctx.match[0].length} of ${ctx.text.length} and ${ctx.message.text.length}`),
      );
    });
    const bots = await startBots({ a });
    await bots.say({ text: LONG, quoted: { id: "Q", from: "x", text: LONG } as never });
    expect(seen).toEqual([4_096, 4_096]);
    expect(bots.heard()).toEqual(["4096 of 65536 and 65536"]);
  });

  it("reaches them as far as the bot says", async () => {
    const a = bot((b) => b.match(/^a+$/, (ctx) => ctx.reply(`${ctx.match[0].length}`)), { maxText: 65_536 });
    const few = bot((b) => b.match(/^a+$/, (ctx) => ctx.reply(`${ctx.match[0].length}`)), { maxText: 10 });
    const bots = await startBots({ a });
    await bots.say(LONG);
    await bots.kill({ few });
    await bots.say(LONG);
    expect(bots.heard()).toEqual(["65536", "10"]);
  });

  it.each([0, -1, 1.5, 65_537, "many"])("cannot be let in by maxText: %s", (maxText) => {
    expect(() =>
      readBot(
        "a",
        bot(() => null, { maxText: maxText as number }),
      ),
    ).toThrow("maxText");
  });

  it("is cut between signs, not within one", async () => {
    const a = bot((b) => b.match(/^[^]*$/, (ctx) => ctx.reply(`${ctx.match[0].length}`)), { maxText: 5 });
    const bots = await startBots({ a });
    await bots.say("aaaa😀😀");
    expect(bots.heard()).toEqual(["4"]);
  });

  it("is the same message for all of its routes when it is short", async () => {
    const seen = new Set<Message>();
    const a = bot((b) => {
      b.on(
        (message) => (seen.add(message), false),
        () => null,
      );
      b.on(
        (message) => (seen.add(message), true),
        (ctx) => void seen.add(ctx.message),
      );
    });
    const bots = await startBots({ a });
    await bots.say("short");
    expect(seen.size).toBe(1);
  });
});
