import { describe, expect, it } from "vitest";
import type { AnyContext, InterruptOptions, Routes } from "../../../src/bot/types.ts";
import { rawRows } from "../store/rows.ts";
import { until } from "../outbox/harness.ts";
import { ANA, startBots, type BotHarness, type Bots } from "./harness.ts";

/** A bot that takes long for "slow", and says what became of it. */
function slowBot(options: InterruptOptions = {}, work?: (ctx: AnyContext) => Promise<unknown>) {
  const seen = { begun: 0, aborted: 0 };
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const wait = async (ctx: AnyContext): Promise<void> => {
    seen.begun++;
    ctx.signal.addEventListener("abort", () => seen.aborted++);
    ctx.reply("never mind");
    await (work?.(ctx) ?? released);
    ctx.reply("done");
  };
  const bots: Bots = {
    a(b: Routes) {
      const flow = b.flow("flow", async (f) => {
        const name = await f.text("name", "Your name?");
        await f.step("slow", async (signal) => {
          seen.begun++;
          signal.addEventListener("abort", () => seen.aborted++);
          await released;
        });
        f.say(`Done, ${name}`);
      });
      b.keyword("slow", wait);
      b.keyword("flow", (ctx) => ctx.start(flow));
      b.keyword("later", (ctx) => ctx.after("1m", "slow"));
      b.timer("slow", wait);
      b.interrupt("stop", (ctx) => ctx.reply("stopped"), options);
      b.keyword("quick", (ctx) => Promise.resolve().then(() => ctx.reply("quick")));
    },
  };
  return { bots, seen, release };
}

const begun = (seen: { begun: number }, count = 1) => until(() => expect(seen.begun).toBe(count));
const unheard = async (bots: BotHarness): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
  expect(bots.heard()).toEqual([]);
};

describe("an interrupt", () => {
  it("does not wait for a handler: that is aborted, says nothing, and stands in its decision", async () => {
    const { bots: made, seen } = slowBot();
    const bots = await startBots(made);
    const slow = bots.message("slow");
    await bots.write(slow);
    await begun(seen);
    await bots.clock.advance(1_000);
    await bots.say("stop");
    expect(bots.heard()).toEqual(["stopped"]);
    expect(seen.aborted).toBe(1);
    expect(await bots.decision(slow.id)).toMatchObject({
      by: "bot:a",
      trail: [{ by: "bot:a", outcome: "interrupted", route: "keyword:slow" }],
    });
    await bots.kill();
    await bots.say("quick");
    expect(bots.heard()).toEqual(["quick"]);
  });

  it("cuts off a flow's turn, which stands where it stood", async () => {
    const { bots: made, seen, release } = slowBot();
    const bots = await startBots(made);
    await bots.say("flow");
    await bots.write(bots.message("Ana"));
    await begun(seen);
    await bots.clock.advance(1_000);
    await bots.say("stop");
    expect(bots.heard()).toEqual(["Your name?", "stopped"]);
    expect(seen.aborted).toBe(1);
    release();
    await bots.say("Ben");
    expect(bots.heard()).toEqual(["Done, Ben"]);
  });

  it("leaves a quarter of a second to who is about to return: what is written in one breath keeps its order", async () => {
    const { bots: made, seen, release } = slowBot();
    const bots = await startBots(made);
    await bots.write(bots.message("quick"), bots.message("slow"), bots.message("stop"));
    await begun(seen);
    await bots.clock.advance(200);
    expect(seen.aborted).toBe(0);
    release();
    await bots.settled();
    expect(bots.heard()).toEqual(["quick", "never mind", "done", "stopped"]);
  });

  it("is heard although several wait before it", async () => {
    const { bots: made, seen } = slowBot();
    const bots = await startBots(made);
    await bots.write(bots.message("slow"), bots.message("slow"), bots.message("stop"));
    await begun(seen);
    await bots.clock.advance(300);
    await begun(seen, 2);
    await bots.clock.advance(300);
    await bots.settled();
    expect(bots.heard()).toEqual(["stopped"]);
  });

  it("waits where the bot says so, and for timers", async () => {
    const waiting = slowBot({ waits: true });
    const one = await startBots(waiting.bots);
    await one.write(one.message("slow"));
    await begun(waiting.seen);

    const timed = slowBot();
    const two = await startBots(timed.bots);
    await two.say("later");
    await two.clock.advance(61_000);
    await begun(timed.seen);

    for (const [bots, { release, seen }] of [
      [one, waiting],
      [two, timed],
    ] as const) {
      await bots.write(bots.message("stop"));
      await bots.clock.advance(1_000);
      await unheard(bots);
      release();
      await bots.settled();
      expect(bots.heard()).toEqual(["never mind", "done", "stopped"]);
      expect(seen.aborted).toBe(0);
    }
  });

  it("of another chat, or of the owner, cuts nothing off", async () => {
    const { bots: made, seen, release } = slowBot();
    const bots = await startBots(made);
    await bots.write(bots.message("slow"));
    await begun(seen);
    await bots.clock.advance(1_000);
    await bots.write(bots.message("stop", ANA + 1));
    await until(() => expect(bots.line.texts()).toEqual(["stopped"]));
    expect(seen.aborted).toBe(0);
    release();
    await bots.settled();
    expect(bots.heard()).toEqual(["stopped", "never mind", "done"]);
  });

  it("of another member of a group cuts nothing off", async () => {
    const { bots: made, seen, release } = slowBot();
    const bots = await startBots({ a: { chats: ["group"], routes: made["a"] as (b: Routes) => void } });
    const says = (text: string, sender: string) => {
      const chat = "12036300000001@g.us";
      return bots.message({
        text,
        chat,
        chatKey: chat,
        chatKind: "group",
        sender,
        participant: sender,
        lid: null,
      });
    };
    await bots.write(says("slow", "1@s.whatsapp.net"));
    await begun(seen);
    await bots.write(says("stop", "2@s.whatsapp.net"));
    await bots.clock.advance(1_000);
    await unheard(bots);
    release();
    await bots.settled();
    expect(bots.heard()).toEqual(["never mind", "done", "stopped"]);
    expect(seen.aborted).toBe(0);
  });

  it("leaves nothing of what it has cut off: no step is kept", async () => {
    const { bots: made, seen } = slowBot({}, (ctx) =>
      ctx.step("x", () => 1).then(() => new Promise(() => undefined)),
    );
    const bots = await startBots(made);
    await bots.write(bots.message("slow"));
    await begun(seen);
    await until(async () => expect(await bots.rows("SELECT count(*) AS n FROM bot_steps")).toBe(1));
    await bots.clock.advance(1_000);
    await bots.say("stop");
    expect(await rawRows(bots.run.store, "SELECT * FROM bot_steps", [])).toEqual([]);
  });
});
