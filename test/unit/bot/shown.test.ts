import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fields } from "../../../src/bot/index.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { rawRows } from "../store/rows.ts";
import { bot, startBots } from "./harness.ts";

const MINUTE = 60_000;

const desk = (options: Record<string, string>, more: object = {}) => ({
  desk: bot((b: Routes) => {
    const menu = b.menu("desk", {
      text: "What?",
      options: Object.fromEntries(
        Object.entries(options).map(([key, label]) => [
          key,
          { label, reply: key.toUpperCase(), again: true },
        ]),
      ),
      ...more,
    });
    b.keyword("help", (ctx) => ctx.start(menu));
  }),
});

describe("what a menu has shown is what an answer means", () => {
  const before = { hours: "Hours", prices: "Prices" };
  const after = { refund: "Refund", prices: "Opening hours", hours: "Prices" };

  it.each([
    ["1", "HOURS"],
    ["2️⃣", "PRICES"],
    ["prices", "PRICES"],
    ["Hours", "HOURS"],
  ])("after other code came: %s", async (answer, reply) => {
    const bots = await startBots(desk(before));
    await bots.say("help");
    await bots.kill(desk(after));
    bots.heard();
    await bots.say(answer);
    expect(bots.heard()).toEqual([reply]);
  });

  it("by a vote, after the question was worded anew", async () => {
    const bots = await startBots(desk(before, { render: "poll" }));
    await bots.say("help");
    await bots.kill(desk(after, { render: "poll", text: "What is it?" }));
    bots.heard();
    const vote = (name: string, label: string) => ({
      type: "poll_vote" as const,
      poll: { id: "P", name, options: Object.values(before), vote: { selected: [label], at: 1 } },
    });
    await bots.say(vote("What?", "Prices") as never);
    expect(bots.heard()).toEqual(["PRICES"]);
  });

  it("is shown anew, and uses up no try, when what was chosen is gone", async () => {
    const bots = await startBots(desk(before, { tries: 1 }));
    await bots.say("help");
    await bots.kill(desk({ refund: "Refund", prices: "Prices" }, { tries: 1 }));
    bots.heard();
    const decision = await bots.say("1");
    expect(decision.trail).toMatchObject([{ detail: "hours is gone" }]);
    expect(bots.heard()).toEqual(["Sorry, that is no longer available.", "What?\n\n1. Refund\n2. Prices"]);
    await bots.say("1");
    expect(bots.heard()).toEqual(["REFUND"]);
  });

  it("is what the reminder has shown, once there was one", async () => {
    const options = { remind: "10m" };
    const bots = await startBots(desk(before, options));
    await bots.say("help");
    await bots.kill(desk(after, options));
    bots.heard();
    await bots.later(11 * MINUTE);
    expect(bots.heard()).toEqual(["What?\n\n1. Refund\n2. Opening hours\n3. Prices"]);
    await bots.say("1");
    expect(bots.heard()).toEqual(["REFUND"]);
  });
});

describe("a question of a form", () => {
  /** Its wording and its choices change with each call, as free times do. */
  function booking() {
    const asked = { text: 0, options: 0 };
    const days = ["Thu", "Fri", "Sat", "Sun"];
    const bots = {
      shop: bot((b: Routes) => {
        const form = b.form(
          "f",
          {
            day: fields.choice(
              () => `Which of these, from ${days[asked.text++]}?`,
              () => days.slice(asked.options++).map((day) => day),
            ),
            sure: fields.confirm((_ctx, answers: { day: string }) => `${answers.day}, sure?`),
          },
          (ctx, { day }) => ctx.reply(`Booked ${day}.`),
          { remind: "10m" },
        );
        b.keyword("book", (ctx) => ctx.start(form));
      }),
    };
    return { bots, asked };
  }

  it("is worded once each time it is asked, and means what was shown", async () => {
    const { bots: definition, asked } = booking();
    const bots = await startBots(definition);
    await bots.say("book");
    expect(bots.heard()).toEqual(["Which of these, from Thu?\n\n1. Thu\n2. Fri\n3. Sat\n4. Sun"]);
    await bots.kill();
    expect(asked).toEqual({ text: 1, options: 1 });
    await bots.say("1");
    await bots.say("yes");
    expect(bots.heard()).toEqual(["Thu, sure?", "Booked Thu."]);
    expect(asked).toEqual({ text: 1, options: 1 });
  });

  it("is worded anew when it is asked again, and then means that", async () => {
    const { bots: definition, asked } = booking();
    const bots = await startBots(definition);
    await bots.say("book");
    await bots.say("whenever");
    await bots.later(11 * MINUTE);
    expect(bots.heard().at(-1)).toBe("Which of these, from Sat?\n\n1. Sat\n2. Sun");
    await bots.say("1");
    await bots.say("yes");
    expect(bots.heard()).toEqual(["Sat, sure?", "Booked Sat."]);
    expect(asked).toEqual({ text: 3, options: 3 });
  });

  it("hands its text and its options to what reads the answer", async () => {
    const seen: unknown[] = [];
    const own = { ...fields.choice(() => `At ${Math.random()}?`, { a: "A", b: "B" }) };
    const read = own.read;
    own.read = (ctx, shown) => (seen.push(shown), read(ctx, shown));
    const bots = await startBots({
      shop: bot((b: Routes) => {
        const form = b.form("f", { own }, (ctx, values) => ctx.reply(values.own));
        b.keyword("go", (ctx) => ctx.start(form));
      }),
    });
    await bots.say("go");
    const [shown] = bots.heard();
    await bots.say("2");
    expect(bots.heard()).toEqual(["b"]);
    expect(seen).toEqual([
      {
        text: shown!.split("\n")[0],
        options: [
          { key: "a", label: "A" },
          { key: "b", label: "B" },
        ],
      },
    ]);
  });

  it("is asked anew when what was chosen is gone", async () => {
    const version = (choices: string[]) => ({
      shop: bot((b: Routes) => {
        const form = b.form(
          "f",
          { size: fields.choice("Size?", choices) },
          (ctx, { size }) => ctx.reply(size),
          {
            tries: 1,
          },
        );
        b.keyword("go", (ctx) => ctx.start(form));
      }),
    });
    const bots = await startBots(version(["S", "M"]));
    await bots.say("go");
    await bots.kill(version(["L", "M"]));
    bots.heard();
    await bots.say("1");
    expect(bots.heard()).toEqual(["Sorry, that is no longer available.", "Size?\n\n1. L\n2. M"]);
    await bots.say("1");
    expect(bots.heard()).toEqual(["L"]);
  });
});

describe("dialogues of before, which kept nothing of what they had shown", () => {
  it("go on by what is asked today", async () => {
    const bots = await startBots(desk({ hours: "Hours" }));
    await bots.say("help");
    const box = bots.run.store.box;
    const state = box.sealJson({ tries: 0 }, "bot_dialogue:1:4915001@s.whatsapp.net");
    await bots.run.store.writer.commit([{ sql: "UPDATE bot_dialogues SET state = ?", args: [state] }]);
    bots.heard();
    await bots.say("1");
    expect(bots.heard()).toEqual(["HOURS"]);
  });

  it("an answer in writing stands, though it was kept with a digest of no options", async () => {
    const bots = await startBots({
      desk: bot((b) => {
        const flow = b.flow("order", async (f) => {
          const name = await f.text("name", "Name?");
          const street = await f.text("street", "Street?");
          if (await f.confirm("right", "Right?")) f.say(`${name}, ${street}`);
        });
        b.keyword("go", (ctx) => ctx.start(flow));
      }),
    });
    for (const text of ["go", "Ana", "Main Street"]) await bots.say(text);
    const { box, writer } = bots.run.store;
    const context = "bot_dialogue:1:4915001@s.whatsapp.net";
    const [row] = await rawRows(bots.run.store, "SELECT state FROM bot_dialogues", []);
    const state = box.openJson<{ entries: { shown: { options?: string } }[] }>(
      Buffer.from(row!.state as ArrayBuffer),
      context,
    );
    const ofNone = createHash("sha256").update("null").digest("hex").slice(0, 32);
    expect(state.entries.map(({ shown }) => shown.options)).toEqual([undefined, undefined]);
    for (const { shown } of state.entries) shown.options = ofNone;
    await writer.commit([
      { sql: "UPDATE bot_dialogues SET state = ?", args: [box.sealJson(state, context)] },
    ]);
    bots.heard();
    for (const text of ["change name", "Eve", "yes"]) await bots.say(text);
    expect(bots.heard()).toEqual(["Name?", "Right?", "Eve, Main Street"]);
  });
});
