import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Incoming } from "../../../src/model/messages.ts";
import type { BotOptions, Routes } from "../../../src/bot/types.ts";
import { DEVICE } from "../outbox/harness.ts";
import { ANA, startBots } from "./harness.ts";

const answering = (options: BotOptions = {}) => ({
  ...options,
  routes: (b: Routes) => b.keyword("hi", (ctx) => ctx.reply("here")),
});

describe("a word on the owner's phone", () => {
  it("gives the chat back at once, over a kill, and is told to nobody", async () => {
    const told: Incoming[] = [];
    const webhook = {
      name: "webhook",
      ignoresTakeover: true,
      answer: async () => ({ kind: "pass" as const, trail: [] }),
      forward: ({ message }: { message: Incoming }) => (told.push(message), null),
    };
    const bots = await startBots({ a: answering() }, { webhook });
    await bots.ownerTypes("it is me");
    await bots.say("hi");
    expect(bots.heard()).toEqual([]);
    await bots.ownerTypes(" #Bot ");
    await bots.kill();
    await bots.say("hi");
    expect(bots.heard()).toEqual(["here"]);
    expect(told.map(({ text }) => text)).toEqual(["it is me", "hi"]);
    // What lists messages leaves out what is of this type.
    expect(await bots.rows("SELECT count(*) AS n FROM inbox WHERE type = 'timer'")).toBe(1);
    expect(await bots.rows("SELECT count(*) AS n FROM decisions WHERE trail LIKE '%gave_back%'")).toBe(1);
  });

  it("is the bot's own where it says so, and none where it wants none", async () => {
    const own = await startBots({ a: answering({ handback: "over to you" }) });
    const none = await startBots({ a: answering({ handback: false }) });
    for (const [bots, word, answers] of [
      [own, "Over to you", ["here"]],
      [none, "#bot", []],
    ] as const) {
      await bots.ownerTypes("it is me");
      await bots.ownerTypes(word);
      await bots.say("hi");
      expect(bots.heard()).toEqual(answers);
    }
  });

  it("is the number's own where its settings say so, also of a bot whose schema does not know it", async () => {
    const config = z.object({ card: z.string() });
    const bots = await startBots(
      { a: { config, routes: (b: Routes) => b.keyword("hi", (ctx) => ctx.reply("here")) } },
      { config: { card: "x", handback: "Your turn" } },
    );
    await bots.ownerTypes("it is me");
    await bots.ownerTypes("#bot");
    await bots.say("hi");
    expect(bots.heard()).toEqual([]);
    await bots.ownerTypes("your turn");
    await bots.say("hi");
    expect(bots.heard()).toEqual(["here"]);
    const binding = [{ id: "a", enabled: true, config: { card: "x", handback: "" } }];
    await expect(bots.run.path.bindings.put(DEVICE, binding)).rejects.toMatchObject({
      details: { fields: { bots: [expect.stringMatching(/`handback` must be a text of 1 to 100/)] } },
    });
  });

  it("is that of the owner alone: from somebody else it is a text", async () => {
    const bots = await startBots({ a: answering() });
    await bots.ownerTypes("it is me");
    await bots.say("#bot");
    await bots.say("hi");
    await bots.ownerTypes("#bot", ANA + 1);
    await bots.say("hi");
    expect(bots.heard()).toEqual([]);
  });
});
