import { expect, it } from "vitest";
import type { FlowContext } from "../../../src/bot/index.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { until } from "../outbox/harness.ts";
import { startBots, type BotHarness } from "./harness.ts";

const MINUTE = 60_000;

interface Visit {
  at: number;
}
/** What a flow does to the one beside it, once it may go on. */
type Act = (f: FlowContext, send: (value: string) => void, stop: () => void, begin: () => void) => void;

/** A visit that is due after ten minutes; `act` is held up until `go` resolves. */
const clinic =
  (go: Promise<void>, act: Act, [id, ...was]: string[] = ["visit"]) =>
  (b: Routes): void => {
    const visit = b.flow(id!, { was }, async (f, { at }: Visit) => {
      const first = await f.until({ at: new Date(at), signal: "moved" });
      f.say(first.signal === null ? "Due." : `Moved to ${String(first.value)}.`);
      for (;;) {
        const next = await f.until({ at: new Date(at + 600 * MINUTE), signal: "moved" });
        if (next.signal === null) return;
        f.say(`Told ${String(next.value)}.`);
      }
    });
    const begin = (f: FlowContext): void => f.spawn(visit, "v1", { at: f.now() + 10 * MINUTE });
    const book = b.flow("book", begin as never);
    const late = b.flow("late", async (f) => {
      await f.step("held", () => go);
      const send = (value: string) => f.send(visit, "v1", "moved", value);
      act(
        f,
        send,
        () => f.stop(visit, "v1"),
        () => begin(f),
      );
    });
    b.keyword("book", (ctx) => ctx.start(book));
    b.keyword("late", (ctx) => ctx.start(late));
    b.keyword("hello", (ctx) => ctx.reply("Hello."));
  };

const sends: Act = (_f, send) => ["Monday", "Tuesday"].forEach(send);

/** The visit's time has come while `act` is held up: its timer is a message behind it, and no timer any more. */
async function betweenTimerAndTurn(act: Act): Promise<BotHarness & { go(): void }> {
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const bots = await startBots({ clinic: clinic(held, act) });
  await bots.say("book");
  await bots.settled();
  await bots.later(MINUTE);
  await bots.write(bots.message("late"));
  await bots.clock.advance(10 * MINUTE);
  await until(async () => expect(await bots.run.undecided()).toBe(2));
  expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  return Object.assign(Object.create(bots) as BotHarness, { go });
}

it("what is sent to a flow whose time has just come arrives, each in its order", async () => {
  const bots = await betweenTimerAndTurn(sends);
  bots.go();
  await bots.settled();
  await bots.later(MINUTE);
  expect(bots.heard()).toEqual(["Moved to Monday.", "Told Tuesday."]);
});

it("so it does after a crash, also to a flow that has another id by then", async () => {
  for (const names of [["visit"], ["appointment", "visit"]]) {
    const bots = await betweenTimerAndTurn(sends);
    await bots.kill({ clinic: clinic(Promise.resolve(), sends, names) });
    await bots.settled();
    await bots.later(MINUTE);
    expect(bots.heard()).toEqual(["Moved to Monday.", "Told Tuesday."]);
  }
});

it("several signals of one turn arrive, and what nobody waits for leaves nothing behind", async () => {
  const bots = await startBots({ clinic: clinic(Promise.resolve(), sends) });
  await bots.say("late");
  expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  await bots.say("book");
  await bots.later(MINUTE);
  expect(bots.heard()).toEqual([]);
  await bots.say("late");
  await bots.later(MINUTE);
  expect(bots.heard()).toEqual(["Moved to Monday.", "Told Tuesday."]);
  expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(1);
});

it("a flow that is stopped when its time has just come says nothing more", async () => {
  const bots = await betweenTimerAndTurn((_f, _send, stop) => stop());
  bots.go();
  await bots.settled();
  await bots.later(60 * MINUTE);
  expect(bots.heard()).toEqual([]);
});

it("a flow that is begun anew when its time has just come takes the place of the old one", async () => {
  const bots = await betweenTimerAndTurn((_f, send, _stop, begin) => {
    begin();
    send("Monday");
  });
  bots.go();
  await bots.settled();
  await bots.later(MINUTE);
  expect(bots.heard()).toEqual(["Moved to Monday."]);
  await bots.say("hello");
  await bots.later(30 * MINUTE);
  expect(bots.heard()).toEqual(["Hello."]);
});
