import { describe, expect, it, onTestFinished } from "vitest";
import { createTestChat, type AnyBot, type TestChat } from "../../src/testing/index.ts";
import { readBot } from "../../src/bot/routes/define.ts";
import { hostileTexts } from "../_setup/hostile-texts.ts";
import { locales, shipped } from "./shipped.ts";

const bots: Record<string, AnyBot> = Object.fromEntries(
  await Promise.all(
    Object.entries(shipped).map(async ([id, open]) => [
      id.replace(/\/index$/, ""),
      ((await open()) as { default: AnyBot }).default,
    ]),
  ),
);

/** Time that one message took of everybody, in milliseconds. */
async function costOf(chat: TestChat, text: string): Promise<number> {
  const began = process.cpuUsage();
  await chat.user(text);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

describe.each(Object.entries(bots))("what somebody writes to %s", (id, bot) => {
  const words = [
    ...new Set(readBot(id, bot).bot.routes.map(({ kind, word }) => (kind === "timer" ? "" : (word ?? "")))),
  ];

  it("costs about as much as it is long, whatever it is", async () => {
    const chat = await createTestChat({ [id]: bot }, { locales });
    onTestFinished(() => chat.close());
    const slow: string[] = [];
    for (const word of words)
      for (const [what, text] of hostileTexts(word)) {
        const cost = await costOf(chat, text);
        // A hundred times what it takes, and a tenth of what it took when it was quadratic.
        if (cost > 600) slow.push(`${word}, ${what}: ${Math.round(cost)} ms`);
      }
    expect(slow).toEqual([]);
  });
});
