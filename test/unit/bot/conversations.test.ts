import { describe, expect, it } from "vitest";
import { fields, form, menu } from "../../../src/bot/index.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { ANA, bot, startBots } from "./harness.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const signup = (b: Routes): void => {
  const order = b.form(
    "signup",
    { name: b.fields.text("Your name?"), email: b.fields.email("Your e-mail?", { retry: "No e-mail." }) },
    (ctx, { name, email }) => ctx.reply(`Thanks ${name}, ${email}`),
    { remind: "10m", expire: "2h", texts: { reminder: "Still there?", expired: "Too late." } },
  );
  b.keyword("join", (ctx) => ctx.start(order));
  b.fallback((ctx) => ctx.reply("?"));
};

describe("a form", () => {
  it("asks, asks again, goes on after a kill, and is done once", async () => {
    const bots = await startBots({ shop: signup });

    expect(await bots.say("join")).toMatchObject({
      by: "bot:shop",
      route: "keyword:join",
      trail: [{ by: "bot:shop", outcome: "answered", route: "keyword:join", detail: "signup begun" }],
    });
    expect(await bots.say("Ana")).toMatchObject({
      route: "form:signup",
      trail: [{ detail: "name answered" }],
    });
    expect(bots.heard()).toEqual(["Your name?", "Your e-mail?"]);
    await bots.kill();
    expect(await bots.say("nonsense")).toMatchObject({ trail: [{ detail: "email not understood" }] });
    expect(bots.heard()).toEqual(["No e-mail.", "Your e-mail?"]);
    await bots.say("ANA@example.com");
    expect(bots.heard()).toEqual(["Thanks Ana, ana@example.com"]);
    await bots.say("hello");

    expect(bots.heard()).toEqual(["?"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_dialogues")).toBe(0);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });

  it("reminds once, and ends when nobody goes on", async () => {
    const bots = await startBots({ shop: signup });
    await bots.say("join");
    bots.heard();

    await bots.later(9 * MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.later(2 * MINUTE);
    expect(bots.heard()).toEqual(["Still there?", "Your name?"]);
    await bots.later(HOUR);
    expect(bots.heard()).toEqual([]);
    await bots.later(2 * HOUR);
    expect(bots.heard()).toEqual(["Too late."]);
    await bots.say("Ana");

    expect(bots.heard()).toEqual(["?"]);
  });

  it("says nothing of a person that has the chat: no reminder, and afterwards it goes on", async () => {
    const bots = await startBots({ shop: signup });
    await bots.say("join");
    await bots.ownerTypes("let me help");
    bots.heard();

    await bots.later(15 * MINUTE);
    expect((await bots.say("hello?")).guard).toBe("takeover");
    expect(bots.heard()).toEqual([]);
    await bots.later(20 * MINUTE);
    await bots.say("Ana");

    expect(bots.heard()).toEqual(["Your e-mail?"]);
  });

  it("waits while its bot is off, and goes on when it is back", async () => {
    const other = (b: Routes): void => {
      const choice = b.menu("choice", {
        text: "Which?",
        options: { a: { label: "A", reply: "You took A." } },
      });
      b.keyword("choose", (ctx) => ctx.start(choice));
    };
    const bots = await startBots({ other, shop: signup });
    await bots.say("join");
    bots.heard();

    await bots.kill({ other });
    await bots.say("Ana");
    expect(bots.heard()).toEqual([]);
    await bots.kill({ other, shop: signup });
    await bots.say("Ana");
    expect(bots.heard()).toEqual(["Your e-mail?"]);
  });

  it("gives up after its tries, and is cancelled by a word", async () => {
    const bots = await startBots({
      shop: bot((b) => {
        const f = b.form(
          "f",
          { n: b.fields.number("How many?", { min: 1, max: 9, integer: true }) },
          () => null,
          {
            tries: 2,
            cancel: "enough",
            texts: { givenUp: "Never mind.", cancelled: "Off." },
          },
        );
        b.keyword("go", (ctx) => ctx.start(f));
      }),
    });
    await bots.say("go");
    await bots.say("1.5");
    await bots.say("77");
    expect(bots.heard()).toEqual([
      "How many?",
      "Sorry, I did not understand that.",
      "How many?",
      "Never mind.",
    ]);
    await bots.say("go");
    await bots.say("Enough!");
    expect(bots.heard()).toEqual(["How many?", "Off."]);
    expect((await bots.say("3")).by).toBeNull();
  });

  it("goes on with changed code: a new question is asked, a removed one left out, a renamed one asked again", async () => {
    const version = (questions: Record<string, string>) => ({
      shop: bot((b) => {
        const asked = Object.fromEntries(Object.entries(questions).map(([key, q]) => [key, fields.text(q)]));
        const f = b.form("f", asked, (ctx, values) => ctx.reply(JSON.stringify(values)));
        b.keyword("go", (ctx) => ctx.start(f));
      }),
    });
    const bots = await startBots(version({ a: "A?", b: "B?", c: "C?" }));
    await bots.say("go");
    await bots.say("one");
    expect(bots.heard()).toEqual(["A?", "B?"]);

    await bots.kill(version({ z: "Z?", a: "A?", b2: "B2?", c: "C?" }));
    // The question that was asked is gone: what comes is no answer to another one.
    await bots.say("two");
    await bots.say("zed");
    await bots.say("two");
    await bots.say("three");

    expect(bots.heard()).toEqual(["Z?", "B2?", "C?", '{"z":"zed","a":"one","b2":"two","c":"three"}']);
  });

  it("begins with what is known, also when it is begun anew; a no ends it or begins it anew", async () => {
    const bots = await startBots({
      shop: bot((b) => {
        const f = b.form(
          "f",
          {
            product: b.fields.text("Product?"),
            count: b.fields.number("How many?"),
            sure: b.fields.confirm("Sure?", { onNo: "restart" }),
          },
          (ctx, { product, count }) => ctx.reply(`${count} ${product}`),
        );
        const g = b.form("g", { sure: b.fields.confirm("Really?") }, (ctx) => ctx.reply("done"));
        b.keyword("go", (ctx) => ctx.start(f, { product: "tea" }));
        b.keyword("g", (ctx) => ctx.start(g));
      }),
    });
    await bots.say("go");
    await bots.say("2");
    await bots.say("no");
    await bots.say("3");
    await bots.say("👍🏽");
    expect(bots.heard()).toEqual(["How many?", "Sure?", "How many?", "Sure?", "3 tea"]);
    await bots.say("g");
    await bots.say("Nope");
    expect(bots.heard()).toEqual(["Really?", "All right, cancelled."]);
  });

  it("reads every kind of answer", async () => {
    const media = { kind: "image", mimetype: "image/png", fileName: "", size: 3 } as const;
    const location = { latitude: 1, longitude: 2, name: "Shop", address: "" };
    const bots = await startBots({
      shop: bot((b) => {
        const f = b.form(
          "f",
          {
            text: b.fields.text("text", {
              min: 3,
              pattern: /^[a-z]+$/g,
              check: (value) => value !== "bad" || "Not that.",
            }),
            phone: b.fields.phone("phone"),
            number: b.fields.number("number"),
            choice: b.fields.choice("choice", { s: "Small", l: "Large" }),
            list: b.fields.choice("list", ["red", "blue"]),
            file: b.fields.file("file", { kinds: ["image"] }),
            place: b.fields.location("place"),
            note: b.fields.text("note", { skip: ["skip", "no"] }),
          },
          (ctx, values) => ctx.reply(JSON.stringify(values)),
          { tries: 9 },
        );
        b.keyword("go", (ctx) => ctx.start(f));
      }),
    });
    await bots.say("go");
    for (const wrong of ["ab", "ABC", "bad"]) await bots.say(wrong);
    expect(bots.heard()).toContain("Not that.");
    await bots.say("fine");
    await bots.say("12");
    await bots.say("mine");
    await bots.say("1,000");
    await bots.say("1,5");
    await bots.say("3");
    await bots.say("2️⃣");
    await bots.say("RED!");
    await bots.say("no picture");
    const picture = bots.message({ type: "image", media });
    await bots.write(picture);
    await bots.settled();
    await bots.say({ type: "location", location });
    bots.heard();
    await bots.say("Skip");

    expect(JSON.parse(bots.heard()[0]!)).toEqual({
      text: "fine",
      phone: String(ANA),
      number: 1.5,
      choice: "l",
      list: "red",
      file: { messageId: picture.id, kind: "image", mimetype: "image/png", fileName: "" },
      place: location,
      note: null,
    });
  });

  it("that fails keeps its place; its bot is not asked for anything else about that message", async () => {
    let broken = true;
    const bots = await startBots({
      a: bot((b) => {
        const f = b.form("f", { x: b.fields.text("X?") }, (ctx, { x }) => {
          if (broken) throw new Error("the shop is away");
          ctx.reply(`got ${x}`);
        });
        b.keyword("go", (ctx) => ctx.start(f));
        b.fallback((ctx) => ctx.reply("fallback of the failed bot"));
      }),
      b: bot((b) => b.fallback((ctx) => ctx.reply("the next bot"))),
    });
    await bots.say("go");
    expect(await bots.say("one")).toMatchObject({
      by: "bot:b",
      trail: [
        { by: "bot:a", route: "form:f", outcome: "failed" },
        { by: "bot:b", outcome: "answered" },
      ],
    });
    broken = false;
    await bots.say("two");

    expect(bots.heard()).toEqual(["X?", "the next bot", "got two"]);
  });
});

describe("a menu", () => {
  const withMenu = (render: "text" | "poll", more = {}) =>
    bot((b) => {
      const sizes = b.form("sizes", { size: b.fields.text("Size?") }, (ctx, { size }) =>
        ctx.reply(`size ${size}`),
      );
      const m = b.menu("main", {
        text: "What?",
        render,
        ...more,
        options: {
          info: { label: "Information", reply: "We are open.", again: true },
          order: { label: "Order", start: sizes },
          person: { label: "A person", run: (ctx) => ctx.handoff({ for: "20m", say: "Somebody comes." }) },
        },
      });
      b.keyword("menu", (ctx) => ctx.start(m));
      b.interrupt("bot", (ctx) => ctx.reply("I am back."), { endsHandoff: true });
      b.on("text", (ctx) => ctx.reply("route"));
    });

  it("takes a number, a keycap, a label or a key, leads on, and hands over and back", async () => {
    const bots = await startBots({ a: withMenu("text", { otherwise: "ask_again" }) });
    await bots.say("menu");
    expect(bots.heard()).toEqual(["What?\n\n1. Information\n2. Order\n3. A person"]);
    expect(await bots.say("1️⃣")).toMatchObject({ route: "menu:main", trail: [{ detail: "chose info" }] });
    await bots.say("INFORMATION.");
    await bots.say("9");
    expect(await bots.say("order")).toMatchObject({ trail: [{ detail: "chose order; sizes begun" }] });
    await bots.kill();
    await bots.say("XL");
    expect(bots.heard()).toEqual([
      "We are open.",
      "We are open.",
      "Sorry, I did not understand that.",
      "What?\n\n1. Information\n2. Order\n3. A person",
      "Size?",
      "size XL",
    ]);
    await bots.say("menu");
    await bots.say("3");
    bots.heard();
    expect((await bots.say("menu")).guard).toBe("takeover");
    expect(await bots.say("bot")).toMatchObject({ by: "bot:a", route: "interrupt:bot" });
    await bots.say("hello");

    expect(bots.heard()).toEqual(["I am back.", "route"]);
  });

  it("is shown as a poll and takes the vote in it, not one in another poll", async () => {
    const bots = await startBots({ a: withMenu("poll") });
    await bots.say("menu");
    expect(bots.line.sent.at(-1)!.draft).toMatchObject({ kind: "poll", name: "What?", selectable: 1 });
    const vote = (name: string, selected: string[]) =>
      bots.message({
        type: "poll_vote",
        poll: { id: "P", name, options: ["Information", "Order", "A person"], vote: { selected, at: 1 } },
      });
    const [other, mine] = [vote("Other?", ["Order"]), vote("What?", ["Order"])];
    await bots.write(other, mine);
    await bots.settled();
    bots.heard();

    expect((await bots.decision(other.id)).by).toBeNull();
    expect(await bots.decision(mine.id)).toMatchObject({ by: "bot:a", route: "menu:main" });
    expect(bots.line.texts().at(-1)).toBe("Size?");
  });

  it("whose label is too long for a poll is shown as text", async () => {
    const bots = await startBots({
      a: bot((b) => {
        const m = b.menu("m", {
          text: "Which?",
          render: "poll",
          options: { a: { label: "a".repeat(101), reply: "A" }, b: { label: "b", reply: "B" } },
        });
        b.keyword("menu", (ctx) => ctx.start(m));
      }),
    });
    await bots.say("menu");
    await bots.say("2");
    expect(bots.heard()).toEqual([`Which?\n\n1. ${"a".repeat(101)}\n2. b`, "B"]);
  });

  it("lets other routes answer when it may, and waits", async () => {
    const bots = await startBots({ a: withMenu("text", { otherwise: "route" }) });
    await bots.say("menu");
    await bots.say("something else");
    await bots.say("1");
    expect(bots.heard().slice(1)).toEqual(["route", "We are open."]);
  });

  it("made outside of a bot is known by ctx.start only when the bot was told of it", async () => {
    const outside = menu("outside", { text: "?", options: { a: { label: "A", reply: "a" } } });
    const known = form("known", { x: fields.text("X?") }, () => null);
    const bots = await startBots({
      a: bot((b) => {
        b.dialogue(known);
        b.keyword("known", (ctx) => ctx.start(known));
        b.keyword("unknown", (ctx) => ctx.start(outside));
      }),
    });
    await bots.say("known");
    expect(bots.heard()).toEqual(["X?"]);
    await bots.say("cancel");
    bots.heard();
    expect(await bots.say("unknown")).toMatchObject({
      by: null,
      trail: [{ route: "keyword:unknown", outcome: "failed" }],
    });
    expect(bots.log.text()).toContain('does not know the dialogue \\"outside\\"');
  });

  it("of one bot ends when another bot begins a dialogue, and its timers mean nothing to the other", async () => {
    const asking = (word: string, question: string, remind?: "10m") =>
      bot((b) => {
        const f = b.form("same", { x: b.fields.text(question) }, () => null, {
          ...(remind && { remind, texts: { reminder: `reminder of ${word}` } }),
          otherwise: "route",
          cancel: false,
        });
        const held = b.menu("held", {
          text: "m",
          options: { zz: { label: "zz" } },
          otherwise: "route",
          ...(remind && { remind }),
        });
        b.keyword(word, (ctx) => ctx.start(word === "one" ? held : f));
      });
    const bots = await startBots({ a: asking("one", "A?", "10m"), b: asking("two", "B?") });
    await bots.say("one");
    await bots.say("two");
    expect(bots.heard()).toEqual(["m\n\n1. zz", "B?"]);

    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers WHERE bot_id = 'a'")).toBe(0);
    await bots.later(20 * MINUTE);
    expect(bots.heard()).toEqual([]);
  });
});
