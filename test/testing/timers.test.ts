// oxlint-disable vitest/expect-expect -- the chat expects
import { expect, it, onTestFinished } from "vitest";
import { defineBot } from "parley";
import { createTestChat, crashEverywhere, type TestChat } from "parley/testing";

const HOUR_MS = 3_600_000;

const visits = defineBot((b) => {
  const soon = b.timer<{ at: Date }>("soon", (ctx) =>
    ctx.reply(`${ctx.timer.id}: at ${ctx.timer.data.at.slice(11, 16)}`),
  );
  b.match(/^visit (\w+) in (\d+)$/, (ctx) => {
    const at = new Date(ctx.now() + Number(ctx.match[2]) * HOUR_MS);
    const isSet = ctx.at(
      new Date(at.getTime() - HOUR_MS),
      soon,
      { at },
      { id: ctx.match[1]!, expire: at, past: "skip" },
    );
    ctx.reply(isSet ? "Noted." : "See you soon.");
  });
  b.match(/^no (\w+)$/, (ctx) => ctx.cancelTimer(soon, ctx.match[1]));
});

const script = async (chat: TestChat): Promise<void> => {
  await chat.user("visit a in 3");
  await chat.user("visit b in 5");
  await chat.user("visit c in 4");
  await chat.user("visit d in 0");
  await chat.user("visit b in 6");
  await chat.user("no c");
  await chat.advance("4h");
  await chat.ownerTypes("it is me");
  await chat.advance("3h");
};

it("timers with ids, at times, that expire", async () => {
  const chat = await createTestChat([visits], { now: "2026-05-05T08:00:00Z", takeoverMinutes: 180 });
  onTestFinished(() => chat.close());
  await script(chat);
  expect(chat.transcript()).toEqual([
    "user: visit a in 3",
    "bot: Noted.",
    "user: visit b in 5",
    "bot: Noted.",
    "user: visit c in 4",
    "bot: Noted.",
    "user: visit d in 0",
    "bot: See you soon.",
    "user: visit b in 6",
    "bot: Noted.",
    "user: no c",
    "bot: a: at 11:00",
    "owner: it is me",
  ]);
  const last = (await chat.decisions()).at(-1);
  expect(last?.trail).toMatchObject([{ by: "guard:takeover" }, { outcome: "not_asked", detail: "expired" }]);
});

it("timers, killed at every commit", async () => {
  const short = async (chat: TestChat): Promise<void> => {
    await chat.user("visit a in 2");
    await chat.user("visit a in 3");
    await chat.advance("130m");
  };
  await crashEverywhere([visits], short, { now: "2026-05-05T08:00:00Z" });
}, 120_000);
