import { describe, expect, it, onTestFinished } from "vitest";
import { createTestChat, type AnyBot, type TestChat } from "../../src/testing/index.ts";
import { readBot } from "../../src/bot/define.ts";
import { locales, shipped } from "./shipped.ts";

const bots: Record<string, AnyBot> = Object.fromEntries(
  await Promise.all(
    Object.entries(shipped).map(async ([id, open]) => [
      id.replace(/\/index$/, ""),
      ((await open()) as { default: AnyBot }).default,
    ]),
  ),
);

/** What WhatsApp lets somebody write. */
const LONGEST = 65_536;
const filled = (part: string): string => part.repeat(Math.floor((LONGEST - 100) / part.length));

/** Texts that patterns with more than one way to read them take for ever with; `word` is one that the bot listens to. */
const hostile = (word: string): [string, string][] => [
  ["blanks in the middle", `${word} 1${filled(" ")}x`],
  ["blanks in the middle of two lines", `${word} 1${filled(" ")}z\ny`],
  ["many short words", `${word} ${filled("a ")}!`],
  ["the word again and again", filled(`${word} `)],
  ["digits", `${word} ${filled("1")}`],
  ["dots", `${word} ${filled(".")}_`],
  ["at signs", filled("a@")],
  ["marks on one letter", `${word} e${filled("\u0301")}`],
  ["nothing that can be seen", `${word} ${filled("\u200d")}x`],
  ["hands of all colours", `${word} ${filled("👍🏽")}`],
];

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
      for (const [what, text] of hostile(word)) {
        const cost = await costOf(chat, text);
        // A hundred times what it takes, and a tenth of what it took when it was quadratic.
        if (cost > 600) slow.push(`${word}, ${what}: ${Math.round(cost)} ms`);
      }
    expect(slow).toEqual([]);
  });
});
