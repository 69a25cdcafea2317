import { describe, expect, it } from "vitest";
import type { AnyContext } from "../../../src/bot/types.ts";
import { until } from "../outbox/harness.ts";
import type { Store } from "../../../src/store/store.ts";
import { bot, startBots, ANA, DEVICE, type BotHarness } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const MINUTE = 60_000;

const remembering = bot((b) => {
  b.command("in", (ctx) => ctx.after(ctx.match.args[0] as "5m", ctx.match.args[1]!, ctx.match.args[2]));
  b.command("cancel", (ctx) => ctx.cancelTimer(ctx.match.rest));
  for (const key of ["a", "b"])
    b.timer(key, (ctx) => ctx.reply(`${ctx.timer!.key} ${String(ctx.timer!.data)} for ${ctx.from.number}`));
  b.timer("fails", () => {
    throw new Error("no");
  });
});

describe("a timer", () => {
  it("fires once, in the order of their times, with what it was given", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a second");
    await bots.say("/in 3m b first");
    await bots.later(10 * MINUTE);
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([`b first for ${ANA}`, `a second for ${ANA}`]);
  });

  it("is moved by setting it again, and cancelled; other chats have their own", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a old");
    await bots.say("/in 5m b gone");
    await bots.say("/in 5m a other", ANA + 1);
    await bots.say("/in 20m a new");
    await bots.say("/cancel b");
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([`a other for ${ANA + 1}`]);
    await bots.later(15 * MINUTE);
    expect(bots.heard()).toEqual([`a new for ${ANA}`]);
  });

  it("survives a kill, and one that was due while nothing ran fires at the start", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a early");
    await bots.say("/in 50m b late");
    await bots.run.connect(null);
    await bots.kill();
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([`a early for ${ANA}`]);
    await bots.kill();
    await bots.later(60 * MINUTE);
    await bots.kill();
    await bots.later(MINUTE);
    expect(bots.heard()).toEqual([`b late for ${ANA}`]);
  });

  it("that is due while a person has the chat runs afterwards, once, also after a kill", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a waits");
    await bots.ownerTypes("hello, it is me");
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.kill();
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.later(15 * MINUTE);
    expect(bots.heard()).toEqual([`a waits for ${ANA}`]);
  });

  it.each([
    ["by a word", (bots: BotHarness) => bots.ownerTypes("#bot")],
    [
      "by REST",
      async (bots: BotHarness) => void (await bots.run.path.takeOver(DEVICE, [`${ANA}@s.whatsapp.net`], 0)),
    ],
  ])(
    "that waits behind a person runs when the chat is given back %s, and no other does",
    async (_how, giveBack) => {
      const bots = await startBots({ a: remembering });
      await bots.say("/in 5m a waits");
      await bots.say("/in 20m b later");
      await bots.say("/in 20m a other", ANA + 1);
      await bots.ownerTypes("hello, it is me");
      await bots.ownerTypes("me too", ANA + 1);
      await bots.later(10 * MINUTE);
      await bots.kill();
      expect(bots.heard()).toEqual([]);
      await giveBack(bots);
      await bots.later(1_000);
      expect(bots.heard()).toEqual([`a waits for ${ANA}`]);
      await bots.later(10 * MINUTE);
      expect(bots.heard()).toEqual([`b later for ${ANA}`]);
    },
  );

  it("without a route any more, or whose handler fails, does nothing, and the chat goes on", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 1m fails x");
    await bots.say("/in 2m b x");
    await bots.kill({
      a: bot((b) => {
        b.timer("fails", () => Promise.reject(new Error("no")));
        b.on("text", (ctx) => ctx.reply("here"));
      }),
    });
    await bots.later(5 * MINUTE);
    await bots.say("x");
    expect(bots.heard()).toEqual(["here"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
    const [row] = await rawRows(
      bots.run.store,
      "SELECT trail FROM decisions WHERE wa_id LIKE 'timer:%' ORDER BY inbox_id DESC LIMIT 1",
      [],
    );
    expect(JSON.parse(String(row!.trail))).toEqual([
      { by: "bot:a", outcome: "not_asked", detail: "no timer b" },
    ]);
  });

  it("whose row does not open is dropped and keeps none of the others from firing", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 1m a broken");
    await bots.say("/in 2m b whole");
    await bots.run.store.writer.commit([
      { sql: "UPDATE bot_timers SET body = x'00' WHERE key = 'a'", args: [] },
    ]);
    await bots.later(5 * MINUTE);
    expect(bots.heard()).toEqual([`b whole for ${ANA}`]);
    expect(bots.log.text()).toContain("could not decrypt a bot's timer; dropping it");
  });
});

const HOUR = 60 * MINUTE;
const AT = Date.UTC(2026, 0, 1);

/** One bot whose handler is the test's own. */
const setting = (set: (ctx: AnyContext) => unknown) => ({
  a: bot((b) => {
    b.keyword("set", set);
    b.keyword("bot", (ctx) => ctx.reply("here"));
    for (const key of ["visit", "other"])
      b.timer(key, (ctx) => ctx.reply([ctx.timer.key, ctx.timer.id, ctx.timer.data].join(" ")));
  }),
});

/** A store whose commit with a statement of this kind waits until it is released. */
function slowCommits(isSlow: (sql: string) => boolean) {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let begun = false;
  const wrap = (store: Store): Store => {
    const commit: Store["writer"]["commit"] = async (statements) => {
      if (statements.some(({ sql }) => isSlow(sql))) {
        begun = true;
        await released;
      }
      return store.writer.commit(statements);
    };
    return { ...store, writer: { ...store.writer, commit } };
  };
  return { wrap, release: () => release(), begun: () => until(() => expect(begun).toBe(true)) };
}

describe("a timer whose commit takes long", () => {
  it("runs as soon as it is stored, however soon it is due", async () => {
    const slow = slowCommits((sql) => sql.startsWith("INSERT INTO bot_timers"));
    const bots = await startBots({ a: remembering }, slow);
    await bots.write(bots.message("/in 0s a now"));
    await slow.begun();
    await bots.clock.advance(1_000);
    slow.release();
    await bots.settled();
    await bots.clock.advance(1_000);
    await bots.settled();
    expect(bots.heard()).toEqual([`a now for ${ANA}`]);
  });

  it("runs when the chat is given back while it is being put off", async () => {
    const slow = slowCommits((sql) => sql.includes("held_in) SELECT"));
    const bots = await startBots({ a: remembering }, slow);
    await bots.say("/in 5m a waits");
    await bots.ownerTypes("it is me");
    await bots.clock.advance(6 * MINUTE);
    await slow.begun();
    await bots.run.path.takeOver(DEVICE, [`${ANA}@s.whatsapp.net`], 0);
    slow.release();
    await bots.settled();
    await bots.later(1_000);
    expect(bots.heard()).toEqual([`a waits for ${ANA}`]);
  });
});

describe("which timer it is", () => {
  it("is its key and its id: the same again moves it, or stays when that is wanted; others are others", async () => {
    let round = 0;
    const bots = await startBots(
      setting((ctx) => {
        round++;
        ctx.after(`${5 * round}m`, "visit", `moved ${round}`, { id: 7 });
        ctx.after(`${5 * round}m`, "visit", `kept ${round}`, { id: "8", existing: "keep" });
        ctx.after("5m", "visit", `without ${round}`);
        ctx.after("5m", "other", `other ${round}`, { id: 7 });
      }),
    );
    await bots.say("set");
    await bots.kill();
    await bots.say("set");
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(4);
    await bots.later(6 * MINUTE);
    await bots.later(6 * MINUTE);
    expect(bots.heard().toSorted()).toEqual([
      "other 7 other 2",
      "visit  without 2",
      "visit 7 moved 2",
      "visit 8 kept 1",
    ]);
  });

  it("is what is cancelled, and what one handler sets twice", async () => {
    const bots = await startBots(
      setting((ctx) => {
        ctx.after("1m", "visit", "a", { id: "a" });
        ctx.after("1m", "visit", "b", { id: "b" });
        ctx.after("1m", "visit", "again", { id: "b", existing: "keep" });
        ctx.after("1m", "visit", "none");
        ctx.cancelTimer("visit", "a");
        ctx.cancelTimer("visit");
      }),
    );
    await bots.say("set");
    await bots.later(2 * MINUTE);
    expect(bots.heard()).toEqual(["visit b b"]);
  });

  it("is told in the decision, and stays the same behind a person", async () => {
    const bots = await startBots(setting((ctx) => ctx.after("5m", "visit", "x", { id: "v:1" })));
    await bots.say("set");
    await bots.ownerTypes("it is me");
    await bots.later(10 * MINUTE);
    await bots.kill();
    await bots.later(25 * MINUTE);
    expect(bots.heard()).toEqual(["visit v:1 x"]);
  });
});

describe("a timer at a time of the calendar", () => {
  const at = (ms: number, options: object) =>
    setting((ctx) => void ctx.at(new Date(ctx.now() + ms), "visit", "x", { id: 1, ...options }));

  it("runs then, over kills", async () => {
    const bots = await startBots(at(HOUR, {}));
    await bots.say("set");
    await bots.kill();
    await bots.later(HOUR - MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.later(2 * MINUTE);
    expect(bots.heard()).toEqual(["visit 1 x"]);
  });

  it.each([
    ["at once", {}, ["visit 1 x"]],
    ["at once", { past: "now" }, ["visit 1 x"]],
    ["not at all", { past: "skip" }, []],
  ])("that is over runs %s with %o", async (_how, options, heard) => {
    const bots = await startBots(at(-HOUR, options));
    await bots.say("set");
    await bots.later(MINUTE);
    expect(bots.heard()).toEqual(heard);
  });

  it("that is skipped takes the place of the one that was set before, unless that is to stay", async () => {
    const results: unknown[] = [];
    const set = (options: object) => (ctx: AnyContext) => {
      ctx.after("5m", "visit", "before", { id: 1, existing: "keep" });
      results.push(ctx.at(new Date(ctx.now() - HOUR), "visit", "x", { id: 1, past: "skip", ...options }));
    };
    const moved = await startBots(setting(set({})));
    const stays = await startBots(setting(set({ existing: "keep" })));
    for (const bots of [moved, stays]) {
      await bots.say("set");
      await bots.later(6 * MINUTE);
    }
    expect(moved.heard()).toEqual([]);
    expect(stays.heard()).toEqual(["visit 1 before"]);
    expect(results).toEqual([false, false]);
  });
});

describe("a timer before now", () => {
  const after = (delay: unknown, options: object, results: unknown[] = []) =>
    setting((ctx) => {
      results.push(ctx.after(delay as "5m", "visit", "x", options));
      ctx.reply("set");
    });

  it.each([
    ["at once", -5, {}, [true], ["set", "visit  x"]],
    ["at once", "-5m", { past: "now" }, [true], ["set", "visit  x"]],
    ["not at all", -5, { past: "skip" }, [false], ["set"]],
    ["not at all", "-1.5h", { past: "skip" }, [false], ["set"]],
    ["not at all", "1m", { expire: -1 }, [true], ["set"]],
    ["not at all", "1m", { expire: "-10s" }, [true], ["set"]],
  ])("runs %s, and ends no handler: %o %o", async (_how, delay, options, expected, heard) => {
    const results: unknown[] = [];
    const bots = await startBots(after(delay, options, results));
    await bots.say("set");
    await bots.later(2 * MINUTE);
    expect(results).toEqual(expected);
    expect(bots.heard()).toEqual(heard);
  });

  it.each([Number.NaN, Infinity, -Infinity, "soon", "--5m", "-"])("but %o is no time", async (delay) => {
    const bots = await startBots(after(delay, {}));
    await bots.say("set");
    expect(bots.heard()).not.toContain("set");
  });
});

describe("a timer that expires", () => {
  /** Due in 50 minutes, worth nothing after an hour. */
  const before = (expire: (now: number) => unknown) =>
    setting((ctx) =>
      ctx.after("50m", "visit", "See you in ten minutes", { expire: expire(ctx.now()) as never }),
    );
  const asDate = before((now) => new Date(now + HOUR));
  const asDuration = before(() => "10m");
  const trail = async (bots: BotHarness): Promise<string> => {
    const rows = await rawRows(
      bots.run.store,
      "SELECT trail FROM decisions WHERE wa_id LIKE 'timer:%' ORDER BY inbox_id",
      [],
    );
    return rows.map((row) => String(row.trail)).join();
  };

  it.each([
    ["date", asDate],
    ["duration", asDuration],
  ])("runs in its time (%s)", async (_kind, first) => {
    const bots = await startBots(first);
    await bots.say("set");
    await bots.later(55 * MINUTE);
    expect(bots.heard()).toEqual(["visit  See you in ten minutes"]);
  });

  it("is not told after the appointment because a person had the chat", async () => {
    const bots = await startBots(asDate);
    await bots.say("set");
    await bots.later(45 * MINUTE);
    await bots.ownerTypes("it is me");
    await bots.later(10 * MINUTE);
    await bots.kill();
    await bots.later(3 * HOUR);
    expect(bots.heard()).toEqual([]);
    expect(await trail(bots)).toContain('"detail":"expired"');
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });

  it("is not told after the appointment because the gateway was away", async () => {
    const bots = await startBots(asDuration);
    await bots.say("set");
    await bots.run.connect(null);
    await bots.run.end();
    await bots.clock.advance(2 * HOUR);
    await bots.kill();
    await bots.later(MINUTE);
    expect(bots.heard()).toEqual([]);
    expect(await trail(bots)).toContain('"detail":"expired"');
  });

  it("is not told after the appointment because the number was offline", async () => {
    const bots = await startBots(asDate);
    await bots.say("set");
    bots.run.connect(null);
    await bots.clock.advance(51 * MINUTE);
    await until(async () =>
      expect(await bots.rows("SELECT count(*) AS n FROM outbox WHERE state = 'queued'")).toBe(1),
    );
    await bots.clock.advance(HOUR);
    bots.run.connect(bots.line);
    await bots.run.path.online(DEVICE);
    await bots.settled();
    expect(bots.heard()).toEqual([]);
    expect(await bots.rows("SELECT count(*) AS n FROM outbox WHERE state = 'expired'")).toBe(1);
  });
});

describe("mistakes with a timer", () => {
  it.each<[string, (ctx: AnyContext) => unknown, RegExp]>([
    [
      "a slip in an option",
      (ctx) => ctx.after("1m", "visit", null, { expires: "1m" } as never),
      /no option "expires". Did you mean "expire"/,
    ],
    ["a date that is none", (ctx) => ctx.at(new Date("soon"), "visit"), /is a Date/],
    ["a number for a date", (ctx) => ctx.at(AT as never, "visit"), /is a Date/],
    [
      "another word",
      (ctx) => ctx.at(new Date(AT), "visit", null, { past: "drop" as never }),
      /"now" or "skip"/,
    ],
    ["an id that is none", (ctx) => ctx.after("1m", "visit", null, { id: "" }), /an id must have 1 to 64/],
    ["an id that is a list", (ctx) => ctx.cancelTimer("visit", ["a"] as never), /an id must have 1 to 64/],
    ["no such timer", (ctx) => ctx.at(new Date(AT), "ghost"), /the bot has no timer "ghost"/],
    [
      "an expiry that is none",
      (ctx) => ctx.after("1m", "visit", null, { expire: "soon" as never }),
      /is not a duration/,
    ],
  ])("%s", async (_what, set, message) => {
    const bots = await startBots(setting(set));
    await bots.say("set");
    expect(bots.log.text().replaceAll(String.raw`\"`, `"`)).toMatch(message);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });
});

describe("a flow that sleeps", () => {
  const sleeping = (expire?: "10m") => ({
    a: bot((b) => {
      const flow = b.flow("visit", async (f) => {
        const { late } = await f.until({ at: "1h", ...(expire && { expire }) });
        f.say(late ? "too late" : "See you");
      });
      b.keyword("set", (ctx) => ctx.start(flow));
    }),
  });

  it("goes on when the person who had the chat has left it", async () => {
    const bots = await startBots(sleeping());
    await bots.say("set");
    await bots.later(50 * MINUTE);
    await bots.ownerTypes("it is me");
    await bots.later(3 * HOUR);
    expect(bots.heard()).toEqual(["See you"]);
  });

  it("knows when it has slept too long", async () => {
    const bots = await startBots(sleeping("10m"));
    await bots.say("set");
    await bots.later(50 * MINUTE);
    await bots.ownerTypes("it is me", ANA);
    await bots.later(3 * HOUR);
    expect(bots.heard()).toEqual(["too late"]);
  });
});
