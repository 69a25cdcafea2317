import { expect, it, onTestFinished } from "vitest";
import { defineBot } from "parley";
import { createTestChat } from "parley/testing";
import { png } from "../unit/media/samples.ts";

const BEN = "4915100000007";

const bot = defineBot((b) => {
  b.keyword("once", (ctx) => ctx.image({ bytes: png(40, 20) }, { viewOnce: true }));
  b.keyword("later", (ctx) => {
    ctx.reply("A month has passed", { sendAt: "30d" });
    ctx.reply("Noted");
  });
  b.keyword("on", (ctx) => ctx.forward(ctx.message.id, BEN));
});

async function open() {
  const chat = await createTestChat([bot], { now: "2026-05-05T08:00:00Z" });
  onTestFinished(() => chat.close());
  return chat;
}

it("a file that can be opened once, and a message that was handed on, say so", async () => {
  const chat = await open();
  const ben = chat.as({ number: BEN });
  await chat.user("once");
  expect(await chat.expect({ kind: "image" })).toMatchObject({ viewOnce: true });
  await chat.user("on");
  expect(await ben.expect("on")).toMatchObject({ forwarded: true });
  expect(ben.replies()[0]).not.toHaveProperty("viewOnce");
});

it("a reply with a time comes when the clock is there, over a kill", async () => {
  const chat = await open();
  await chat.user("later");
  await chat.kill();
  await chat.advance("29d");
  expect(chat.transcript()).toEqual(["user: later", "bot: Noted"]);
  await chat.advance("1d");
  expect(chat.transcript()).toEqual(["user: later", "bot: Noted", "bot: A month has passed"]);
});
