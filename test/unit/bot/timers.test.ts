import { describe, expect, it } from "vitest";
import { bot, startBots, ANA } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const MINUTE = 60_000;

const remembering = bot((b) => {
  b.command("in", (ctx) => ctx.after(ctx.match.args[0] as "5m", ctx.match.args[1]!, ctx.match.args[2]));
  b.command("cancel", (ctx) => ctx.cancelTimer(ctx.match.rest));
  for (const key of ["a", "b"])
    b.timer(key, (ctx) => ctx.reply(`${ctx.timer!.key} ${String(ctx.timer!.data)} for ${ctx.from.number}`));
  b.timer("fails", () => {
    throw new Error("no");
  });
});

describe("a timer", () => {
  it("fires once, in the order of their times, with what it was given", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a second");
    await bots.say("/in 3m b first");
    await bots.later(10 * MINUTE);
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([`b first for ${ANA}`, `a second for ${ANA}`]);
  });

  it("is moved by setting it again, and cancelled; other chats have their own", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a old");
    await bots.say("/in 5m b gone");
    await bots.say("/in 5m a other", ANA + 1);
    await bots.say("/in 20m a new");
    await bots.say("/cancel b");
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([`a other for ${ANA + 1}`]);
    await bots.later(15 * MINUTE);
    expect(bots.heard()).toEqual([`a new for ${ANA}`]);
  });

  it("survives a kill, and one that was due while nothing ran fires at the start", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a early");
    await bots.say("/in 50m b late");
    await bots.run.connect(null);
    await bots.kill();
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([`a early for ${ANA}`]);
    await bots.kill();
    await bots.later(60 * MINUTE);
    await bots.kill();
    await bots.later(MINUTE);
    expect(bots.heard()).toEqual([`b late for ${ANA}`]);
  });

  it("that is due while a person has the chat runs afterwards, once, also after a kill", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 5m a waits");
    await bots.ownerTypes("hello, it is me");
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.kill();
    await bots.later(10 * MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.later(15 * MINUTE);
    expect(bots.heard()).toEqual([`a waits for ${ANA}`]);
  });

  it("without a route any more, or whose handler fails, does nothing, and the chat goes on", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 1m fails x");
    await bots.say("/in 2m b x");
    await bots.kill({
      a: bot((b) => {
        b.timer("fails", () => Promise.reject(new Error("no")));
        b.on("text", (ctx) => ctx.reply("here"));
      }),
    });
    await bots.later(5 * MINUTE);
    await bots.say("x");
    expect(bots.heard()).toEqual(["here"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
    const [row] = await rawRows(
      bots.run.store,
      "SELECT trail FROM decisions WHERE wa_id LIKE 'timer:%' ORDER BY inbox_id DESC LIMIT 1",
      [],
    );
    expect(JSON.parse(String(row!.trail))).toEqual([
      { by: "bot:a", outcome: "not_asked", detail: "no timer b" },
    ]);
  });

  it("whose row does not open is dropped and keeps none of the others from firing", async () => {
    const bots = await startBots({ a: remembering });
    await bots.say("/in 1m a broken");
    await bots.say("/in 2m b whole");
    await bots.run.store.writer.commit([
      { sql: "UPDATE bot_timers SET body = x'00' WHERE key = 'a'", args: [] },
    ]);
    await bots.later(5 * MINUTE);
    expect(bots.heard()).toEqual([`b whole for ${ANA}`]);
    expect(bots.log.text()).toContain("does not open; it is dropped");
  });
});
