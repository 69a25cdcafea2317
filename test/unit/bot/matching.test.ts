import { describe, expect, it, vi } from "vitest";
import { findConflicts } from "../../../src/bot/routes/conflicts.ts";
import { readBot } from "../../../src/bot/routes/define.ts";
import type { Routes } from "../../../src/bot/types.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { ANA, bot, startBots, tableOf } from "./harness.ts";

const said = (name: string) => (ctx: { match: unknown; reply(text: string): void }) =>
  ctx.reply(`${name} ${JSON.stringify(ctx.match)}`);

describe("routes", () => {
  it("take whole words, beginnings, commands, expressions, files and what else they were made for", async () => {
    const bots = await startBots({
      a: bot((b) => {
        b.keyword(["menu", "carta"], said("keyword"));
        b.command("order", said("command"));
        b.word("refund", said("word"));
        b.prefix("book a table", said("prefix"));
        b.match(/^#(\d+)$/, (ctx) => ctx.reply(`match ${ctx.match[1]}`));
        b.on("media:image", (ctx) => ctx.reply(`image ${ctx.message.media.mimetype}`));
        b.on(["media:voice", "location"], said("voice or place"));
        b.on("reaction", (ctx) => ctx.reply(`reaction ${ctx.message.reaction.emoji}`));
        b.on("edit", (ctx) => ctx.reply(`edit of ${ctx.message.targetId}`));
        b.on("poll:vote", (ctx) => ctx.reply(`vote ${ctx.message.poll.selected?.join()}`));
        b.on("quoted", (ctx) => ctx.reply(`answer to ${ctx.message.quoted.text}`));
        b.on((message) => message.text.endsWith("!!"), said("predicate"));
        b.fallback(said("fallback"));
      }),
    });
    const media = (kind: "image" | "voice", mimetype: string) => ({ kind, mimetype, fileName: "", size: 1 });
    const poll = { id: "P", name: "?", options: ["a", "b"], vote: { selected: ["b"], at: 1 } };
    const cases: [string | Partial<Incoming>, string][] = [
      ["¡Carta! 👋", "keyword null"],
      ["the menu", "fallback null"],
      [
        "/ORDER 2 large  pizzas",
        'command {"command":"ORDER","rest":"2 large  pizzas","args":["2","large","pizzas"]}',
      ],
      ["order 2", "fallback null"],
      ["I want a REFUND, now", "word null"],
      ["refunded", "fallback null"],
      ["Book a table: for two", 'prefix "for two"'],
      ["book a tablecloth", "fallback null"],
      ["#42", "match 42"],
      [{ type: "image", media: media("image", "image/png") }, "image image/png"],
      [{ type: "voice", media: media("voice", "audio/ogg") }, "voice or place null"],
      [{ type: "reaction", reaction: { id: "X", emoji: "👍" } }, "reaction 👍"],
      [{ type: "edit", targetId: "T1", text: "menu" }, "edit of T1"],
      [{ type: "poll_vote", poll }, "vote b"],
      [
        { type: "text", text: "this one", quoted: { id: "Q", from: "x", text: "which?" } },
        "answer to which?",
      ],
      ["help!!", "predicate null"],
      [
        { type: "sticker", media: { kind: "sticker", mimetype: "image/webp", fileName: "", size: 1 } },
        "fallback null",
      ],
    ];
    for (const [index, [message]] of cases.entries()) await bots.say(message, ANA + index);
    expect(bots.heard()).toEqual(cases.map(([, answer]) => answer));
    expect(await bots.say({ type: "revoke", targetId: "T1" })).toMatchObject({ by: null });
  });

  it("run within middleware, which may keep a route from running and hand it something", async () => {
    const bots = await startBots({
      a: bot((b) => {
        b.use(async (ctx, next) => {
          ctx.vars["who"] = "you";
          if (ctx.text === "blocked") return ctx.reply("no");
          await next();
          return ctx.reply("after");
        });
        b.on("text", (ctx) => ctx.reply(`route ${String(ctx.vars["who"])}`));
      }),
    });
    await bots.say("x");
    await bots.say("blocked");
    expect(bots.heard()).toEqual(["route you", "after", "no"]);
  });

  it("are seen by taps, which answer nothing, whoever answers", async () => {
    const seen: string[] = [];
    const bots = await startBots({
      a: bot((b) =>
        b.tap((observed) => void seen.push(observed.text, ...("reply" in observed ? ["reply"] : []))),
      ),
      b: bot((b) => b.tap(() => Promise.reject(new Error("tap broke")))),
      c: bot((b) => b.keyword("x", (ctx) => ctx.reply("c"))),
    });
    expect(await bots.say("x")).toMatchObject({ by: "bot:c" });
    await bots.say("unanswered");
    expect(seen).toEqual(["x", "unanswered"]);
    await vi.waitFor(() => expect(bots.log.text()).toContain("tap broke"));
  });

  it("of interrupts are heard before a dialogue and before a webhook that holds the chat", async () => {
    const bots = await startBots({
      a: bot((b) => {
        const f = b.form("f", { x: b.fields.text("X?") }, () => null, { cancel: false });
        b.keyword("go", (ctx) => ctx.start(f));
        b.interrupt("stop", (ctx) => ctx.leave("stopped"));
        b.interrupt("help", (ctx) => ctx.reply("help text"));
      }),
    });
    await bots.say("go");
    expect(await bots.say("Help!")).toMatchObject({ route: "interrupt:help" });
    await bots.say("STOP");
    expect((await bots.say("anything")).by).toBeNull();
    expect(bots.heard()).toEqual(["X?", "help text", "stopped"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });
});

describe("one answerer", () => {
  it("answers each message of a chat in order, chats side by side, nobody twice", async () => {
    let running = 0;
    let together = 0;
    const open: (() => void)[] = [];
    const bots = await startBots({
      a: bot((b) =>
        b.on("text", async (ctx) => {
          together = Math.max(together, ++running);
          if (ctx.text === "1") await new Promise<void>((resolve) => void open.push(resolve));
          running--;
          ctx.reply(`a${ctx.text}`);
        }),
      ),
      z: bot((b) => b.fallback((ctx) => ctx.reply("z"))),
    });
    const people = [1, 2, 3].map((n) => ANA + n);
    await bots.write(...people.flatMap((from) => ["1", "2", "3"].map((words) => bots.message(words, from))));
    await vi.waitFor(() => expect(open).toHaveLength(3));
    expect(together).toBe(3);
    for (const go of open) go();
    await bots.settled();
    for (const from of people) expect(bots.line.texts(`${from}@s.whatsapp.net`)).toEqual(["a1", "a2", "a3"]);
  });

  it("does not answer a chat more often than it wants to; the next one may", async () => {
    const bots = await startBots({
      a: bot((b) => b.on("text", (ctx) => ctx.reply("a")), { limits: { repliesPerChat: "2/min" } }),
      z: bot((b) => b.fallback((ctx) => ctx.reply("z"))),
    });
    for (let i = 0; i < 2; i++) await bots.say("x");
    expect(await bots.say("x")).toMatchObject({
      by: "bot:z",
      trail: [{ outcome: "not_asked", detail: "rate_limited" }, {}],
    });
    await bots.say("x", ANA + 1);
    await bots.clock.advance(60_000);
    await bots.say("x");
    expect(bots.heard()).toEqual(["a", "a", "z", "a", "a"]);
  });
});

describe("conflicts", () => {
  const answer = (): null => null;

  it("names who takes a word first, what a fallback hides, and that the webhook gets nothing", () => {
    const table = tableOf({
      a: bot((b) => b.keyword("Menu", answer), { priority: 10 }),
      b: bot(
        (b) => {
          b.keyword("menú", answer);
          b.command("x", answer);
          b.fallback(answer);
        },
        { priority: 20 },
      ),
      c: bot(
        (b) => {
          b.word("late", answer);
          b.on("reaction", answer);
        },
        { priority: 30 },
      ),
      d: bot((b) => b.keyword("menu", answer), { chats: ["group"] }),
    });
    expect(findConflicts(table.active).map(({ kind, winner, loser }) => [kind, winner, loser])).toEqual([
      ["same_word", { bot: "a", route: "keyword:Menu" }, { bot: "b", route: "keyword:menú" }],
      ["webhook_shut_out", { bot: "b", route: "fallback" }, null],
      ["unreachable", { bot: "b", route: "fallback" }, { bot: "c", route: "word:late" }],
    ]);
  });

  it.each<[string, (b: Routes) => unknown, RegExp]>([
    ["a blank keyword", (b) => b.keyword("  ", answer), /b\.keyword\("  "\)/],
    ["a command of two words", (b) => b.command("two words", answer), /b\.command\("two words"\)/],
    ["no handler", (b) => b.keyword("x", undefined as never), /b\.keyword needs a handler/],
    ["an unknown filter", (b) => b.on("media:pdf" as never, answer), /b\.on\("media:pdf"\)/],
    [
      "two forms of one id",
      (b) => {
        b.form("f", { x: b.fields.text("?") }, answer);
        b.form("f", { x: b.fields.text("?") }, answer);
      },
      /Two dialogues have the id "f"/,
    ],
    [
      "a timer twice",
      (b) => {
        b.timer("t", answer);
        b.timer("t", answer);
      },
      /b\.timer\("t"\) exists twice/,
    ],
    ["a timer of Parley's own", (b) => b.timer("dialogue:expire", answer), /are reserved for Parley/],
    ["routes added later", (async (b: Routes) => b.keyword("x", answer)) as never, /is async/],
  ])("refuses %s when the bot is read, and says which call it was", (_what, routes, problem) => {
    expect(() => readBot("a", routes)).toThrow(problem);
  });
});
