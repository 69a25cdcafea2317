import { describe, expect, it } from "vitest";
import { fields } from "../../../src/bot/index.ts";
import type { BotDefinition } from "../../../src/bot/types.ts";
import type { Answerer } from "../../../src/model/answerer.ts";
import { until } from "../outbox/harness.ts";
import { faultyStore } from "../store/faulty.ts";
import { startBots, type BotHarness } from "./harness.ts";

const DECISION = "INSERT INTO decisions";

const QUEUED = "SELECT count(*) AS n FROM outbox WHERE state = 'queued'";

/** Somebody writes, and time passes until the message has its decision and what it brought has left. */
async function sayInTime(bots: BotHarness, words: string): Promise<void> {
  await bots.write(bots.message(words));
  await until(async () => {
    await bots.clock.advance(1_000);
    expect(await bots.run.undecided()).toBe(0);
    expect(await bots.rows(QUEUED)).toBe(0);
  });
}

const registration: BotDefinition = {
  routes(b) {
    const person = b.form(
      "person",
      { name: fields.text("Name?"), city: fields.text("City?") },
      (ctx, values) => ctx.reply(JSON.stringify(values)),
    );
    b.keyword("join", (ctx) => ctx.start(person));
  },
};

describe("a commit of which the answer was lost", () => {
  it("of a timer that is due keeps nothing: it fires, once", async () => {
    const fault = faultyStore();
    const reminding: BotDefinition = {
      routes(b) {
        b.keyword("remind", (ctx) => ctx.after("5m", "soon"));
        b.timer("soon", (ctx) => ctx.reply("It is time."));
      },
    };
    const bots = await startBots({ reminding }, { wrap: fault.wrap });
    await bots.say("remind");
    fault.loseAnswers("INSERT INTO inbox");

    const heard: string[] = [];
    await until(async () => {
      await bots.clock.advance(60_000);
      heard.push(...bots.heard());
      expect(heard).toEqual(["It is time."]);
    });

    await bots.clock.advance(3_600_000);
    expect(fault.faults).toBe(1);
    expect(bots.heard()).toEqual([]);
    expect(await bots.run.undecided()).toBe(0);
  });

  it("fills one field of a form, not two", async () => {
    const fault = faultyStore();
    const bots = await startBots({ registration }, { wrap: fault.wrap });
    await bots.say("join");
    fault.loseAnswers(DECISION);

    await sayInTime(bots, "Ana");
    await sayInTime(bots, "Lisbon");

    expect(fault.faults).toBe(1);
    expect(bots.heard()).toEqual(["Name?", "City?", '{"name":"Ana","city":"Lisbon"}']);
  });

  it("counts once in a session", async () => {
    const fault = faultyStore();
    const counter: BotDefinition<Record<string, unknown>, { n: number }> = {
      session: { initial: () => ({ n: 0 }) },
      routes: (b) => b.keyword("more", (ctx) => ctx.reply(String(++ctx.session.n))),
    };
    const bots = await startBots({ counter }, { wrap: fault.wrap });
    fault.loseAnswers(DECISION, 2);

    for (let message = 0; message < 3; message++) await sayInTime(bots, "more");

    expect(fault.faults).toBe(2);
    expect(bots.heard()).toEqual(["1", "2", "3"]);
  });
});

describe("a database that cannot be read for a moment", () => {
  const fallback: Answerer = {
    name: "webhook",
    ignoresTakeover: true,
    answer: async ({ message }) => ({
      kind: "answer",
      by: "webhook",
      route: null,
      replies: [{ jid: message.chat, draft: { kind: "text", text: "the fallback" } }],
      trail: [],
    }),
  };

  it("is not the bot's failure: the form goes on, and the fallback is not asked", async () => {
    const fault = faultyStore();
    const bots = await startBots({ registration }, { wrap: fault.wrap, webhook: fallback });
    await bots.say("join");
    fault.failReads("FROM bot_dialogues");

    await sayInTime(bots, "Ana");

    expect(fault.faults).toBe(1);
    expect(bots.heard()).toEqual(["Name?", "City?"]);
  });

  it("is not a session that is empty", async () => {
    const fault = faultyStore();
    const counter: BotDefinition<Record<string, unknown>, { n: number }> = {
      session: { initial: () => ({ n: 0 }) },
      routes: (b) => b.keyword("more", (ctx) => ctx.reply(String(++ctx.session.n))),
    };
    const bots = await startBots({ counter }, { wrap: fault.wrap, webhook: fallback });
    await bots.say("more");
    fault.failReads("FROM bot_sessions");

    await sayInTime(bots, "more");

    expect(bots.heard()).toEqual(["1", "2"]);
  });

  it("is not the answer of a step, even for a handler that catches everything", async () => {
    const fault = faultyStore();
    const careful: BotDefinition = {
      routes: (b) =>
        b.keyword("price", async (ctx) => {
          const price = await ctx.step("price", () => 42).catch(() => "unknown");
          ctx.reply(String(price));
        }),
    };
    const bots = await startBots({ careful }, { wrap: fault.wrap, webhook: fallback });
    fault.failReads("FROM bot_steps");

    await sayInTime(bots, "price");

    expect(fault.faults).toBe(1);
    expect(bots.heard()).toEqual(["42"]);
  });
});
