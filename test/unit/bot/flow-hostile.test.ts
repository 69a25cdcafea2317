import { describe, expect, it, onTestFinished } from "vitest";
import { defineBot } from "../../../src/bot/index.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { createTestChat } from "../../../src/testing/index.ts";
import { startBots } from "./harness.ts";

const booking = (b: Routes): void => {
  const flow = b.flow("booking", async (f) => {
    const name = await f.text("name", "Name?");
    const size = await f.choice("size", "Size?", { s: "Small", l: "Large" }, { render: "poll" });
    const note = await f.text("note", "Note?");
    f.say(`${name} ${size} ${note}`);
  });
  b.keyword("book", (ctx) => ctx.start(flow));
};
const IMAGE = {
  type: "image",
  media: { kind: "image", mimetype: "image/png", fileName: "", size: 1 },
} as const;

describe("what people do to a flow", () => {
  it("a text of 65,536 characters is no answer, and the question stays", async () => {
    const bots = await startBots({ clinic: booking });
    await bots.say("book");
    await bots.say("x".repeat(65_536));
    await bots.say("Ana");
    expect(bots.heard().slice(0, 3)).toEqual(["Name?", "Sorry, I did not understand that.", "Name?"]);
    expect(bots.heard()).toEqual([]);
  });

  it("five texts at once are five answers, in their order, and no more", async () => {
    const bots = await startBots({ clinic: booking });
    await bots.write(...["book", "Ana", "2", "soon", "book"].map((text) => bots.message(text)));
    await bots.settled();
    expect(bots.heard().filter((text) => /^(Ana|Name)/.test(text))).toEqual(["Name?", "Ana l soon", "Name?"]);
  });

  it("a picture says what is wanted, and uses up no try", async () => {
    const bots = await startBots({ clinic: booking });
    await bots.say("book");
    bots.heard();
    for (let i = 0; i < 4; i++) await bots.say(IMAGE);
    expect(bots.heard()).toEqual(
      Array.from({ length: 4 }, () => ["Please answer in writing.", "Name?"]).flat(),
    );
  });

  it("a change of an answer that is used already is told, not applied; of anything else it is nothing", async () => {
    const bots = await startBots({ clinic: booking });
    await bots.say("book");
    const answer = bots.message("Ana");
    await bots.write(answer);
    await bots.settled();
    bots.heard();
    await bots.say({ type: "edit", text: "Eva", targetId: answer.id });
    expect(bots.heard()).toEqual(["I have taken your answer as it was. To change it, write: change name"]);
    await bots.say({ type: "edit", text: "Eva", targetId: "other" });
    await bots.say({ type: "revoke", targetId: answer.id });
    expect(bots.heard()).toEqual([]);
    await bots.say("change name");
    await bots.say("Eva");
    await bots.say("2");
    bots.heard();
    await bots.say("soon");
    expect(bots.heard()).toEqual(["Eva l soon"]);
  });
});

describe("what people do to a flow, by vote, from two devices and in a group", () => {
  const order = (sizes: Record<string, string>) =>
    defineBot({ chats: ["dm", "group"] }, (b) => {
      const flow = b.flow("order", async (f) => {
        const size = await f.choice("size", "Size?", sizes, { render: "poll" });
        const name = await f.text("name", "Name?");
        f.say(`${name} ${size}`);
      });
      b.keyword("order", (ctx) => ctx.start(flow));
    });
  const BOTH = { s: "Small", l: "Large" };

  it("a vote for an option that is gone takes nothing, and today's options are shown", async () => {
    const chat = await createTestChat({ shop: order(BOTH) });
    onTestFinished(() => chat.close());
    await chat.user("order");
    await chat.expect({ kind: "poll", options: ["Small", "Large"] });
    await chat.deploy({ shop: order({ s: "Small", m: "Medium" }) });
    await chat.vote("Large");
    await chat.expect("Sorry, that is no longer available.");
    await chat.expect({ kind: "poll", options: ["Small", "Medium"] });
    await chat.vote("Medium");
    expect(await chat.expect("Name?")).toMatchObject({ kind: "text" });
  });

  it("two devices of one person are one answer each, and a vote that comes late changes nothing", async () => {
    const chat = await createTestChat({ shop: order(BOTH) });
    onTestFinished(() => chat.close());
    await chat.user("order");
    await chat.expect({ kind: "poll" });
    await chat.burst(["small", "Ana"]);
    await chat.expect("Name?");
    await chat.expect("Ana s");
    await chat.vote("Large");
    await chat.expectNothing();
    expect(chat.replies().map(({ text }) => text)).toEqual(["Size?", "Name?", "Ana s"]);
  });

  it("in a group each member has a conversation, and nobody answers for another", async () => {
    const chat = await createTestChat({ shop: order(BOTH) });
    onTestFinished(() => chat.close());
    const group = chat.group("Friends", ["Ben", "Chloe"]);
    await group.user("order");
    await group.as("Chloe").user("small");
    await group.user("large");
    await group.as("Chloe").user("Chloe");
    await group.user("Ben");
    const texts = group.replies().map(({ text }) => text);
    expect(texts).toEqual(["Size?", "Name?", "Ben l"]);
  });
});
