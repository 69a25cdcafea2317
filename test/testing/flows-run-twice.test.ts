// oxlint-disable vitest/expect-expect -- the chat expects
import { afterEach, describe, expect, it } from "vitest";
import { defineBot, type FlowContext } from "../../src/bot/index.ts";
import { createTestChat, type TestChat } from "../../src/testing/index.ts";

const open: TestChat[] = [];
afterEach(async () => {
  for (const chat of open.splice(0)) await chat.close();
});

async function chatWith(body: (f: FlowContext) => unknown): Promise<TestChat> {
  const bot = defineBot((b) => {
    const flow = b.flow("booking", body as never);
    b.keyword("book", (ctx) => ctx.start(flow));
  });
  const chat = await createTestChat([bot]);
  open.push(chat);
  return chat;
}

let outside = 0;

describe("a flow whose code goes another way when it runs again", () => {
  const impure: [string, (f: FlowContext) => unknown][] = [
    ["the day stands in a question", (f) => f.text("name", `It is ${new Date().toISOString()}. Your name?`)],
    ["the time decides", (f) => (Date.now() % 7 === 0 ? undefined : f.text(`at-${Date.now()}`, "Name?"))],
    ["chance decides", (f) => f.text(Math.random() === 0.5 ? "a" : `b${Math.random()}`, "Name?")],
    ["a list comes from outside", (f) => f.choose("slot", "When?", [outside++, outside], String)],
    ["a step has a name of the moment", async (f) => void (await f.step(`a${outside++}`, () => 1))],
  ];
  it.each(impure)("is told in a test when %s", async (_what, body) => {
    const chat = await chatWith(body);
    await expect(chat.user("book")).rejects.toThrow(
      /failed at keyword:book: FlowMistake: .* when (it|the flow) runs again/,
    );
    await chat.expect("Sorry, something went wrong on our side. Please write again.");
    const decisions = await chat.decisions();
    expect(JSON.stringify(decisions.at(-1)!.trail)).toContain("FlowMistake");
  });

  it("is none when it takes them from the flow", async () => {
    const chat = await chatWith(async (f) => {
      const list = await f.step("list", () => [outside++, outside]);
      const which = await f.choose("slot", `At ${f.now()}, ${f.random()}`, list, String);
      await f.until("1h");
      f.say(`${which}`);
    });
    await chat.user("book");
    await chat.expect(/^At \d+, 0\.\d+\n\n1\. /);
    await chat.user("1");
    await chat.advance("2h");
    await chat.expect(/^\d+$/);
  });
});
