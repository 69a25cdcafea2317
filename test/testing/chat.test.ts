import { afterEach, describe, expect, it } from "vitest";
import { defineBot } from "parley";
import { createTestChat, type TestBots, type TestChat, type TestChatOptions } from "parley/testing";

let open: TestChat[] = [];
afterEach(async () => {
  for (const chat of open) await chat.close();
  open = [];
});

async function chatWith(bots: TestBots, options?: TestChatOptions): Promise<TestChat> {
  const chat = await createTestChat(bots, options);
  open.push(chat);
  return chat;
}

const ping = defineBot((b) => b.keyword("ping", (ctx) => ctx.reply("pong")));

describe("a test chat", () => {
  it("answers as the gateway does", async () => {
    const chat = await chatWith([ping]);
    await chat.user("ping");
    await chat.expect("pong");
    expect(chat.transcript().slice(0, 2)).toEqual(["user: ping", "bot: pong"]);
  });
});
