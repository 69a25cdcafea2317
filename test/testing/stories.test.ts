import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineBot } from "../../src/bot/index.ts";
import {
  createTestChat,
  differenceOf,
  playStory,
  readStory,
  writeStory,
  type Story,
} from "../../src/testing/index.ts";

const shop = defineBot({}, (b) => {
  const order = b.flow("order", { remind: "20m" }, async (f) => {
    const what = await f.choice(
      "what",
      "What would you like?",
      { tea: "Tea", cake: "Cake" },
      { render: "poll" },
    );
    const name = await f.text("name", "Your name?");
    const price = await f.step("price", async (signal) => {
      const answer = await f.fetch(`https://shop.test/price?of=${what}`, { signal });
      return (await answer.json()) as number;
    });
    f.say(`${name}, that is ${price}.\nThank you.`);
  });
  b.keyword("order", (ctx) => ctx.start(order));
  b.on("media:image", (ctx) => ctx.react("👍"));
});

async function recorded(): Promise<string> {
  const chat = await createTestChat(
    { shop },
    { webhook: ({ message }) => (message === "?" ? "Ask away." : null) },
  );
  try {
    chat.stub("https://shop.test/price", 3.5);
    await chat.user("order");
    await chat.advance("25m");
    await chat.vote("Cake");
    await chat.user("007");
    await chat.user("?");
    await chat.media("image", { caption: "a cake" });
    return await chat.story("An order");
  } finally {
    await chat.close();
  }
}

describe("a story", () => {
  it("is what people said and what they were answered, as a test had it", async () => {
    const text = await recorded();
    expect(text).toMatchInlineSnapshot(`
      "story: An order
      bots:
        - shop
      now: 2026-01-05T10:00:00.000Z
      outside:
        - url: https://shop.test/price?of=cake
          method: GET
          answers:
            - 3.5

      says:
        - user: order
        - bot: { poll: What would you like?, options: [ Tea, Cake ] }
        - after: 20m
        - bot: { poll: What would you like?, options: [ Tea, Cake ] }
        - after: 5m
        - user: { vote: [ Cake ] }
        - bot: Your name?
        - user: "007"
        - bot: |-
            007, that is 3.5.
            Thank you.
        - user: "?"
        - webhook: Ask away.
        - user: { image: a cake }
        - bot: { react: 👍 }
      "
    `);
  });

  it("is the same when it is run again with the same bots", async () => {
    const story = readStory(await recorded(), "order.story.yaml");
    const { lines, troubles } = await playStory(story, { shop });
    expect(troubles).toEqual([]);
    expect(differenceOf(story.lines, lines)).toBeNull();
  });

  it("shows what changed bots say instead, as a difference", async () => {
    const story = readStory(await recorded(), "order.story.yaml");
    const changed = defineBot({}, (b) => {
      const order = b.flow("order", { remind: "30m" }, async (f) => {
        await f.choice("what", "What would you like?", { tea: "Tea" });
        f.say("Thank you.");
      });
      b.keyword("order", (ctx) => ctx.start(order));
      b.keyword("?", (ctx) => ctx.reply("Yes?"));
    });
    const { lines, troubles } = await playStory(story, { shop: changed });
    expect(differenceOf(story.lines, lines)?.lines.join("\n")).toMatchInlineSnapshot(`
      " user: order
      -bot: [poll] What would you like? (Tea / Cake)
      +bot: What would you like?
      +     
      +     1. Tea
       (20m later)
      -bot: [poll] What would you like? (Tea / Cake)
       (5m later)
       user: [vote] Cake
      -bot: Your name?
       user: 007
      -bot: 007, that is 3.5.
      -     Thank you.
      +bot: Sorry, I did not understand that.
      +bot: What would you like?
      +     
      +     1. Tea
       user: ?
      -webhook: Ask away.
      +bot: Yes?
      +bot: What would you like?
      +     
      +     1. Tea
       user: [image] a cake
      -bot: [reaction] 👍
      +bot: Please answer in writing.
      +bot: What would you like?
      +     
      +     1. Tea"
    `);
    expect(troubles).toMatchInlineSnapshot(`
      [
        "At “user: [vote] Cake”: The bot has sent no poll in this chat.",
      ]
    `);
  });
});

const text = fc.string({ unit: "grapheme", maxLength: 40 }).filter((one) => one.isWellFormed());
const word = fc.oneof(
  text,
  fc.constantFrom("007", "no", "null", "~", "1e3", "- a", "a: b", "# x", "  ", "a\n\n b\n", "&a", "*a", "'"),
);
const kind = fc.constantFrom("image", "voice", "document");
const file = fc.record({ kind: fc.constant("file"), file: kind, caption: word, name: word });
const said = fc.oneof(
  fc.record({ kind: fc.constant("text"), text: word, quote: fc.option(word) }),
  fc.record({ kind: fc.constant("vote"), options: fc.array(word, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constant("location"),
    latitude: fc.integer(),
    longitude: fc.integer(),
    name: fc.option(word),
    address: fc.option(word),
  }),
  fc.record({ kind: fc.constant("card"), name: word, numbers: fc.array(word, { maxLength: 2 }) }),
  file,
);
const reply = fc.oneof(
  fc.record({ kind: fc.constant("text"), text: word, quotes: fc.boolean() }),
  fc.record({
    kind: fc.constant("poll"),
    question: word,
    options: fc.array(word, { maxLength: 3 }),
    multiple: fc.boolean(),
  }),
  file,
);
const line = fc.oneof(
  fc.record({
    who: fc.constant("user"),
    as: fc.option(word),
    says: fc.array(said, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ who: fc.constant("owner"), text: word }),
  fc.record({ who: fc.constant("time"), ms: fc.integer({ min: 0, max: 10 ** 9 }) }),
  fc.record({ who: fc.constantFrom("bot", "webhook", "sent"), reply }),
);

describe("the file of a story", () => {
  it("says what was written, whatever people say", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), word, (lines, title) => {
        const story = { title, bots: [], outside: [], lines } as unknown as Story;
        expect(readStory(writeStory(story), "x")).toEqual(story);
      }),
    );
  });

  it.each([
    ["says: 3", "bad.yaml:1: says: Must be a list."],
    [
      "says:\n - user: { vot: 3 }",
      /^bad\.yaml:2: says\.0\.user\.0: must be a text, or have one of text, vote/,
    ],
    ["says:\n - user: a\n - after: soon", "bad.yaml:3: says.1.after: must be a time: 90s, 20m, 2h or 3d"],
    ["says:\n - bot: { poll: x }", "bad.yaml:2: says.0.bot.options: Is required."],
    [
      "says:\n - hello",
      "bad.yaml:2: says.0: must be a text, or have one of user, owner, after, bot, webhook, sent",
    ],
    ["says:\n - user: { text: a, b: 3 }", "bad.yaml:2: says.0.user.0: does not know b"],
    ["story: x\nsays: []\nfoo: 3", "bad.yaml:1: the story: does not know foo"],
    ["story: &a [*a]\nsays: []", "bad.yaml: uses an anchor (&, *). A story writes everything out."],
    ["story: [", /^bad\.yaml:1: is no YAML/],
  ])("names line and cure: %j", (text, message) => {
    expect(() => readStory(text, "bad.yaml")).toThrow(message);
  });
});
