import { describe, expect, it } from "vitest";
import { z } from "zod";
import { lookAhead } from "../../../src/bot/forecast/look-ahead.ts";
import { sentencesOf } from "../../../src/bot/forecast/sentences.ts";
import type { ConversationForecast, Forecast } from "../../../src/bot/forecast/types.ts";
import type { FlowContext, FlowOptions, Routes } from "../../../src/bot/index.ts";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import { rawRows } from "../store/rows.ts";
import { bot, startBots, type BotHarness, type Bots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

interface Ahead {
  forecast: Forecast;
  each: ConversationForecast[];
  lines: string[];
}

/** What `bots check` says of other code before it runs; that nothing is changed by looking is checked each time. */
async function ahead({ run }: BotHarness, next: Bots | Parameters<typeof createRegistry>[0]): Promise<Ahead> {
  const sources = Array.isArray(next)
    ? next
    : Object.entries(next).map(([id, exported]) => ({ id, file: id, exported }));
  const registry = createRegistry(sources, listeningLog().log);
  const each: ConversationForecast[] = [];
  const tables = ["bot_dialogues", "bot_timers", "bot_sessions", "bot_bindings", "outbox", "bot_steps"];
  const all = async () =>
    JSON.stringify(await Promise.all(tables.map((name) => rawRows(run.store, `SELECT * FROM ${name}`, []))));
  const before = await all();
  const forecast = await lookAhead(
    run.store,
    { registry, locales: new Map() },
    { onEach: (one) => void each.push(one) },
  );
  expect(await all()).toBe(before);
  return { forecast, each, lines: sentencesOf(forecast).map(({ text }) => text) };
}

type Body = (f: FlowContext) => unknown;
const flowBot =
  (body: Body, options: FlowOptions = {}) =>
  (b: Routes): void => {
    const flow = b.flow("booking", options, body as never);
    b.keyword("book", (ctx) => ctx.start(flow));
  };
const effects: string[] = [];
const two: Body = async (f) => {
  const name = await f.text("name", "Name?");
  const size = await f.choice("size", "Size?", { s: "Small", l: "Large" });
  f.say(`${name} ${size}`);
};
const step =
  (key: string, was?: string): Body =>
  async (f) => {
    await f.step(key, () => void effects.push(key), { ...(was && { was }) });
    await f.text("name", "Name?");
    f.say("Thanks.");
  };

/** What is said before the deploy of a flow in which `texts` have been written. */
async function flowAhead(old: Body, texts: string[], now: Body, options: FlowOptions = {}) {
  const bots = await startBots({ clinic: flowBot(old) });
  for (const text of ["book", ...texts]) await bots.say(text);
  effects.length = 0;
  const said = await ahead(bots, { clinic: flowBot(now, options) });
  expect(effects).toEqual([]);
  return said.each.map(({ outcome, key }) => (key === null ? outcome : `${outcome} ${key}`)).join();
}

describe("what becomes of an open flow is said before the deploy", () => {
  const full: Body = async (f) => {
    await f.text("name", "Full name?", { pattern: /\s/ });
    await f.choice("size", "Size?", { s: "Small", l: "Large" });
  };
  const added: Body = async (f) => {
    await f.text("name", "Name?");
    await f.text("colour", "Colour?");
    await f.choice("size", "Size?", { s: "Small" });
  };
  const renamed: Body = async (f) => {
    await f.text("full-name", "Name?", { was: "name" });
    await f.choice("size", "Size?", { s: "Small", l: "Large" });
  };
  const waiting: Body = async (f) => {
    await f.text("name", "Name?");
    await f.until("1h");
    await f.choice("size", "Size?", { s: "Small" });
  };
  const throwing: Body = () => {
    throw new TypeError("oh");
  };

  it.each([
    ["the same code", two, "goes_on"],
    ["an answer that fits no more", full, "asked_again name"],
    ["a question in between", added, "asked_new colour"],
    ["a question that says what it was", renamed, "goes_on"],
    ["something said before the questions", (f: FlowContext) => (f.say("Hello"), two(f)), "goes_on"],
    [
      "a question that is gone, and another after it",
      (f: FlowContext) => f.text("why", "Why?"),
      "asked_new why",
    ],
    ["a pause in between", waiting, "waits until"],
    [
      "a step in between",
      async (f: FlowContext) => (await f.text("name", "?"), f.step("charge", () => 1)),
      "does charge",
    ],
    [
      "something asked elsewhere, outside of a step",
      (f: FlowContext) => f.fetch("https://example.com"),
      "does fetch",
    ],
    ["code that starts over", (f: FlowContext) => f.again(undefined as never), "restarts"],
    ["code that ends earlier", () => undefined, "ends"],
    ["code that throws", throwing, "fails"],
  ] as [string, Body, string][])("with %s", async (_what, now, expected) => {
    expect(await flowAhead(two, ["Ana"], now)).toBe(expected);
  });

  it("with a step of another name, as its author wants it", async () => {
    const pay = (options: FlowOptions = {}) => flowAhead(step("pay"), [], step("charge"), options);
    expect(await pay()).toBe("ends");
    expect(await pay({ onChange: "end" })).toBe("ends");
    expect(await pay({ onChange: "restart" })).toBe("restarts");
    expect(await pay({ onChange: () => null })).toBe("ends");
    expect(await pay({ onChange: (journal) => journal.map((one) => ({ ...one, key: "charge" })) })).toBe(
      "migrates name",
    );
    expect(
      await pay({
        onChange: () => {
          throw new Error("no");
        },
      }),
    ).toBe("fails");
    expect(await flowAhead(step("pay"), [], step("charge", "pay"))).toBe("goes_on");
  });

  it("while it sleeps, is tried again, or goes on beside the chat", async () => {
    const bots = await startBots({
      clinic: (b: Routes) => {
        const visit = b.flow("visit", async (f) => {
          await f.until({ at: "2h", signal: "moved" });
          await f.confirm("coming", "Coming?");
        });
        const book = b.flow("book", async (f) => {
          f.spawn(visit, "v", undefined);
          await f.step("call", () => Promise.reject(new Error("away")), { tries: 3 });
        });
        b.keyword("book", (ctx) => ctx.start(book));
      },
    });
    await bots.say("book");
    await bots.settled();
    const now: Bots = {
      clinic: (b: Routes) => {
        b.flow("call", { was: "visit" }, async (f) => {
          await f.until({ at: "2h", signal: "moved" });
        });
        b.flow("book", async (f) => {
          await f.text("why", "Why?");
        });
      },
    };
    expect((await ahead(bots, { clinic: now["clinic"]! })).each).toMatchObject([
      { bot: "clinic", dialogue: "book", outcome: "asked_new", key: "why" },
      { bot: "clinic", dialogue: "call", outcome: "goes_on" },
    ]);
  });
});

describe("what becomes of forms and menus", () => {
  const deskOf =
    (
      fields: (b: Routes) => Record<string, unknown>,
      options: Record<string, { label: string; reply: string }>,
    ) =>
    (b: Routes): void => {
      const lead = b.form("lead", fields(b) as never, () => undefined);
      const menu = b.menu("main", { text: "What?", options });
      b.keyword("lead", (ctx) => ctx.start(lead));
      b.keyword("menu", (ctx) => ctx.start(menu));
    };
  const hours = { label: "Hours", reply: "9-18" };
  const old = deskOf(
    (b) => ({
      name: b.fields.text("Name?"),
      born: b.fields.text("Born?"),
      size: b.fields.choice("Size?", ["s", "l"]),
    }),
    { hours, prices: { label: "Prices", reply: "10" } },
  );

  it("is as exact, and said as people say it", async () => {
    const bots = await startBots({ desk: old });
    const write = async (from: number, ...texts: string[]) => {
      for (const text of texts) await bots.say(text, from);
    };
    await write(1, "menu");
    await write(2, "lead");
    await write(3, "lead", "Ana");
    await write(4, "lead", "Ana", "1990");
    await write(5, "lead", "Ana", "in May");
    const now = deskOf(
      (b) => ({
        born: b.fields.text("Born?", { pattern: /^\d+$/ }),
        size: b.fields.choice("Size?", ["xs", "s"]),
        note: b.fields.text("Note?"),
      }),
      { hours },
    );
    const { each, lines, forecast } = await ahead(bots, { desk: now });
    const byChat = Object.fromEntries(each.map(({ scope, outcome, key }) => [scope[0], key ?? outcome]));
    expect(byChat).toEqual({ 1: "goes_on", 2: "born", 3: "goes_on", 4: "goes_on", 5: "born" });
    expect(lines).toEqual([
      'desk: 5 open, 3 go on, 1 is asked "born" first, 1 is asked "born" again, 2 were shown "l", which is gone, 1 was shown "prices", which is gone',
      'desk/lead: 4 open, 2 go on, 1 is asked "born" first, 1 is asked "born" again, 2 were shown "l", which is gone',
      'desk/main: 1 open, 1 goes on, 1 was shown "prices", which is gone',
    ]);
    expect(forecast).toMatchObject({ lost: 0, misfits: 1 });
  });

  it("is complete when nothing is left to ask, and ends when the bot has the dialogue no more", async () => {
    const bots = await startBots({ desk: old });
    await bots.say("lead");
    await bots.say("Ana");
    await bots.say("menu", 2);
    const { lines, forecast } = await ahead(bots, {
      desk: (b: Routes) => {
        b.form("lead", { name: b.fields.text("Name?") }, () => undefined);
      },
    });
    expect(lines).toEqual([
      "desk: 2 open, 1 is complete with the next message, 1 ends",
      "desk/lead: 1 open, 1 is complete with the next message",
      'desk/main: 1 open, the bot has no "main" any more: 1 ends',
    ]);
    expect(forecast.lost).toBe(1);
  });
});

describe("what becomes of everything else that is stored", () => {
  const shop = (session: object | null, more: (b: Routes) => void = () => undefined, options: object = {}) =>
    bot(
      (b) => {
        b.prefix("keep", (ctx) => void (ctx.session = JSON.parse(ctx.text.slice(5)) as never));
        more(b);
      },
      { ...(session && { session }), ...options } as never,
    );
  const remind = (b: Routes): void => {
    b.timer("remind", (ctx) => ctx.reply("!"));
    b.keyword("later", (ctx) => ctx.after("1h", "remind"));
  };
  const schema = z.object({ n: z.number(), extra: z.string() });

  it("is counted: sessions, timers, settings", async () => {
    const bots = await startBots(
      { shop: shop({ initial: () => ({}) }, remind) },
      { config: { chair: "two" } },
    );
    await bots.say('keep {"a":1}', 1);
    await bots.say('keep {"n":2,"extra":"x"}', 2);
    await bots.say('keep {"n":"many"}', 3);
    await bots.say("later", 4);
    const initial = () => ({ n: 0, extra: "" });
    const config = z.object({ chair: z.number() });
    const { lines, forecast } = await ahead(bots, { shop: shop({ schema, initial }, undefined, { config }) });
    expect(lines).toEqual([
      'shop: 3 sessions, 1 gets initial() beneath it, 1 does not fit (n); 1 timer, 1 has no b.timer("remind") any more; its settings do not fit at 1 number: it is off there',
    ]);
    expect(forecast).toMatchObject({ lost: 2, misfits: 3, unreadable: 0 });
    const migrate = () => initial();
    expect((await ahead(bots, { shop: shop({ schema, initial, migrate }, remind) })).lines).toEqual([
      "shop: 3 sessions, 1 gets initial() beneath it, 1 goes through migrate",
    ]);
  });

  it("moves with a bot that says what it was, and is lost with one that is gone; what is broken waits", async () => {
    const bots = await startBots({
      shop: shop({ initial: () => ({}) }, (b) => (remind(b), flowBot(two)(b))),
    });
    await bots.say('keep {"a":1}');
    await bots.say("later");
    await bots.say("book");
    const next = shop({ initial: () => ({}) }, (b) => (remind(b), flowBot(two)(b)), { was: "shop" });
    expect((await ahead(bots, { store: next })).lines).toEqual(["store: 1 open, 1 goes on; 1 session"]);
    const gone = await ahead(bots, { other: shop(null) });
    expect(gone.lines).toEqual([
      'shop: no bot has this id any more (a renamed bot needs `was: "shop"`); 1 open, no bot continues it; 1 session; 1 timer; bound at 1 number',
    ]);
    expect(gone.forecast.lost).toBe(4);
    const broken = await ahead(bots, [{ id: "shop", file: "shop", failure: "SyntaxError" }]);
    expect(broken.lines).toEqual([
      "shop: its file cannot be loaded; 1 open, 1 waits: the bot does not run there; 1 session",
    ]);
    expect(broken.forecast).toMatchObject({ lost: 0, misfits: 1 });
  });

  it("counts a row that does not open, and goes on with the next", async () => {
    const bots = await startBots({ shop: shop({ initial: () => ({}) }) });
    await bots.say('keep {"a":1}', 1);
    await bots.say('keep {"a":1}', 2);
    await bots.run.store.writer.commit([
      { sql: "UPDATE bot_sessions SET value = x'00' WHERE scope LIKE '1@%'", args: [] },
    ]);
    expect((await ahead(bots, { shop: shop({ initial: () => ({}) }) })).lines).toEqual([
      "shop: 1 session",
      "1 rows cannot be decrypted: see `parley doctor`",
    ]);
  });
});
