import { describe, expect, it, vi } from "vitest";
import { defineBot } from "../../../src/bot/index.ts";
import { readBot } from "../../../src/bot/routes/define.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { DEVICE } from "../outbox/harness.ts";
import { witness } from "../pipeline/harness.ts";
import { ANA, bot, startBots, type BotHarness } from "./harness.ts";

const MINUTE = 60_000;

describe("texts in a row", () => {
  const offGuard = { env: { LOOP_GUARD_PER_MINUTE: "0" } };
  const merging = (burst: { merge: "2s" } | { latest: "2s" }) =>
    bot(
      (b) => {
        b.interrupt("stop", (ctx) => ctx.reply("stopped"));
        b.on("text", (ctx) => ctx.reply(`[${ctx.text}]`));
      },
      { burst },
    );

  /** Both are stored and the first waits for more. */
  async function row(bots: BotHarness, ...words: string[]): Promise<Incoming[]> {
    const messages = words.map((text) => bots.message(text));
    await bots.write(...messages);
    return messages;
  }

  async function waited(bots: BotHarness): Promise<void> {
    await vi.waitFor(
      async () => {
        await bots.clock.advance(2_000);
        expect(await bots.run.undecided()).toBe(0);
      },
      { interval: 20 },
    );
    await bots.settled();
  }

  it("are one to a bot that merges them, the last to one that wants that; each has its decision and its event", async () => {
    const told: [string, string | null][] = [];
    const webhook = witness();
    const bots = await startBots(
      { a: merging({ merge: "2s" }) },
      { webhook: webhook.answerer, onDecided: ({ id }, { by }) => void told.push([id, by]) },
    );
    const [first, second, third] = await row(bots, "one", "two", "three");
    await waited(bots);

    expect(bots.heard()).toEqual(["[one\ntwo\nthree]"]);
    expect(await bots.decision(first!.id)).toMatchObject({ by: "bot:a", route: "on:text" });
    for (const { id } of [second!, third!])
      expect(await bots.decision(id)).toMatchObject({
        by: "bot:a",
        trail: [{ by: "bot:a", outcome: "merged", detail: first!.id }],
      });
    expect(told.toSorted()).toEqual([first!, second!, third!].map(({ id }) => [id, "bot:a"]).toSorted());
    // A webhook that wants every message sees every message.
    expect(webhook.forwarded.map(({ text, handledBy }) => [text, handledBy])).toEqual([
      ["one", "bot:a"],
      ["two", "bot:a"],
      ["three", "bot:a"],
    ]);

    const latest = await startBots({ a: merging({ latest: "2s" }) });
    await row(latest, "one", "two");
    await waited(latest);
    expect(latest.heard()).toEqual(["[two]"]);
  });

  it("are held together up to eight: then nobody waits any longer, and what is behind them is the next", async () => {
    const bots = await startBots({ a: merging({ merge: "2s" }) }, offGuard);
    const began = bots.clock.now();
    await row(bots, ..."abcdefghi");
    await vi.waitFor(() => expect(bots.heard()).toEqual(["[a\nb\nc\nd\ne\nf\ng\nh]"]));
    expect(bots.clock.now()).toBe(began);
    await waited(bots);
    expect(bots.heard()).toEqual(["[i]"]);
  });

  it("are held together up to ten seconds, however somebody goes on writing", async () => {
    const bots = await startBots({ a: merging({ merge: "2s" }) }, offGuard);
    const began = bots.clock.now();
    for (let count = 1; count <= 6; count++) {
      await bots.write(bots.message(`${count}`));
      await bots.clock.advance(1_700);
    }
    expect(bots.clock.now() - began).toBe(10_200);
    await bots.settled();
    expect(bots.heard()).toEqual(["[1\n2\n3\n4\n5\n6]"]);
  });

  it("cannot be waited for longer than that", () => {
    expect(() =>
      readBot(
        "a",
        bot(() => undefined, { burst: { merge: "10s" } }),
      ),
    ).not.toThrow();
    expect(() =>
      readBot(
        "a",
        bot(() => undefined, { burst: { latest: "11s" } }),
      ),
    ).toThrow(/at most 10s/);
  });

  it("are all there after a kill in between, and are answered once", async () => {
    const bots = await startBots({ a: merging({ merge: "2s" }) });
    await row(bots, "one", "two");
    await bots.kill();
    await waited(bots);
    expect(bots.heard()).toEqual(["[one\ntwo]"]);
    expect(await bots.rows("SELECT count(*) AS n FROM outbox")).toBe(1);
  });

  const pizza = bot((b) => b.word("pizza", (ctx) => ctx.reply(`pizza: ${ctx.text}`)), {
    burst: { merge: "2s" },
  });
  const desk = bot((b) => {
    b.keyword("hi", (ctx) => ctx.reply("hello"));
    b.keyword("book", (ctx) => ctx.reply("booked"));
    b.keyword("not mine", (ctx) => ctx.next());
  });
  const last = bot((b) => b.fallback((ctx) => ctx.reply(`? ${ctx.text}`)));

  it("neither hold back nor take what another bot's route answers, wherever that stands", async () => {
    const orders = [
      { a: pizza, b: desk },
      { a: desk, b: pizza },
    ];
    for (const order of orders) {
      const bots = await startBots(order, offGuard);
      const began = bots.clock.now();
      await bots.say("hi");
      await row(bots, "hm", "book");
      await bots.settled();
      expect(bots.heard()).toEqual(["hello", "booked"]);
      expect(bots.clock.now() - began).toBe(0);
    }
  });

  it("are one only as far as nobody else takes one of them", async () => {
    const bots = await startBots({ a: pizza, b: desk }, offGuard);
    await row(bots, "I want", "a pizza", "hi", "large", "pizza please", "book");
    await waited(bots);
    expect(bots.heard()).toEqual(["pizza: I want\na pizza", "hello", "pizza: large\npizza please", "booked"]);
  });

  it("stop being waited for when another bot's word comes", async () => {
    const bots = await startBots({ a: pizza, b: desk }, offGuard);
    const [first] = await row(bots, "hm");
    await bots.clock.advance(500);
    expect(await bots.run.undecided()).toBe(1);
    await bots.write(bots.message("book"));
    await bots.clock.advance(100);
    await bots.settled();
    expect(bots.heard()).toEqual(["booked"]);
    expect(await bots.decision(first!.id)).toMatchObject({ by: null });
  });

  it("come before a fallback, and go to it one by one when nobody wants them as one", async () => {
    const bots = await startBots({ a: pizza, b: desk, z: last }, offGuard);
    await row(bots, "I want", "a pizza");
    await waited(bots);
    await row(bots, "oh", "well");
    await waited(bots);
    await bots.say("hi");
    expect(bots.heard()).toEqual(["pizza: I want\na pizza", "? oh", "? well", "hello"]);
  });

  it("are still one when another bot passes its word on", async () => {
    const bots = await startBots({ a: desk, b: pizza }, offGuard);
    await row(bots, "not mine", "a pizza");
    await waited(bots);
    expect(bots.heard()).toEqual(["pizza: not mine\na pizza"]);
  });

  it("do not swallow a word that interrupts", async () => {
    const bots = await startBots({ a: merging({ merge: "2s" }) });
    await row(bots, "one", "two", "Stop!");
    await waited(bots);
    expect(bots.heard()).toEqual(["[one\ntwo]", "stopped"]);
  });
});

describe("a contact whose LID gets a number", () => {
  const LID = "77001@lid";
  const byLid = { chat: LID, chatKey: LID, sender: LID, number: null, lid: LID };
  const byNumber = { chat: LID, lid: LID };

  const learn = (bots: BotHarness) =>
    bots.run.store.writer.commit([
      {
        sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, '77001', ?, 0)",
        args: [DEVICE, String(ANA)],
      },
    ]);
  const says = (bots: BotHarness, text: string, known: boolean) =>
    bots.say({ text, ...(known ? byNumber : byLid) });

  const shop = defineBot({ session: { initial: () => ({ n: 0 }) } }, (b) => {
    const f = b.form("f", { x: b.fields.text("X?"), y: b.fields.text("Y?") }, (ctx, { x, y }) =>
      ctx.reply(`${x} ${y}`),
    );
    b.keyword("go", (ctx) => ctx.start(f));
    b.keyword("later", (ctx) => ctx.after("10m", "t"));
    b.keyword("never", (ctx) => ctx.cancelTimer("t"));
    b.timer("t", (ctx) => ctx.reply(`timer ${++ctx.session.n} ${ctx.from.number}`));
    b.on("text", (ctx) => ctx.reply(`n${++ctx.session.n}`));
  });

  it("keeps session, dialogue and timers", async () => {
    const bots = await startBots({ shop });
    await says(bots, "count", false);
    await says(bots, "later", false);
    await says(bots, "go", false);
    await says(bots, "one", false);
    await learn(bots);
    await bots.kill();
    await says(bots, "two", true);
    await bots.later(20 * MINUTE);
    await says(bots, "count", true);

    expect(bots.heard()).toEqual(["n1", "X?", "Y?", "one two", `timer 2 ${ANA}`, "n3"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_sessions")).toBe(1);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_sessions WHERE scope LIKE '%lid'")).toBe(0);
  });

  it("cancels under the number what was set under the LID", async () => {
    const bots = await startBots({ shop });
    await says(bots, "later", false);
    await learn(bots);
    await says(bots, "never", true);
    await bots.later(20 * MINUTE);
    expect(bots.heard()).toEqual([]);
  });

  it("stays with the person who has taken the chat over, and is given back as one", async () => {
    const a = bot((b) => {
      b.interrupt("bot", (ctx) => ctx.reply("back"), { endsHandoff: true });
      b.keyword("human", (ctx) => ctx.handoff());
      b.on("text", (ctx) => ctx.reply("bot"));
    });
    const bots = await startBots({ a });
    await says(bots, "human", false);
    await learn(bots);
    expect((await says(bots, "hello?", true)).guard).toBe("takeover");
    await says(bots, "bot", true);
    await bots.kill();
    await says(bots, "hello?", true);
    expect(bots.heard()).toEqual(["back", "bot"]);
  });

  it("is one lane: what came under the LID and is being handled comes before what comes under the number", async () => {
    const order: string[] = [];
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const a = bot((b) =>
      b.on("text", async (ctx) => {
        order.push(`begin ${ctx.text}`);
        if (ctx.text === "one") await gate;
        order.push(`end ${ctx.text}`);
      }),
    );
    const bots = await startBots({ a });
    await bots.write(bots.message({ text: "one", ...byLid }));
    await vi.waitFor(() => expect(order).toEqual(["begin one"]));
    await learn(bots);
    await bots.write(bots.message({ text: "two", ...byNumber }));
    // Another chat is not kept waiting: by then a second lane of Ana's would have run as well.
    await bots.write(bots.message("elsewhere", ANA + 1));
    await vi.waitFor(() => expect(order).toContain("end elsewhere"));
    open();
    await bots.settled();
    expect(order.filter((line) => !line.endsWith("elsewhere"))).toEqual([
      "begin one",
      "end one",
      "begin two",
      "end two",
    ]);
  });

  it("is one lane after a kill, too", async () => {
    const order: string[] = [];
    let open: (() => void) | null = null;
    let waits = true;
    const a = bot((b) =>
      b.on("text", async (ctx) => {
        order.push(`begin ${ctx.text}`);
        if (waits && ctx.text !== "elsewhere") await new Promise<void>((resolve) => (open = resolve));
        order.push(`end ${ctx.text}`);
      }),
    );
    const bots = await startBots({ a }, { botTimeoutMs: 120_000 });
    await bots.write(bots.message({ text: "one", ...byLid }));
    await learn(bots);
    await bots.write(bots.message({ text: "two", ...byNumber }), bots.message("elsewhere", ANA + 1));
    await vi.waitFor(() => expect(order).toContain("end elsewhere"));
    order.length = 0;
    open = null;
    await bots.kill();
    await vi.waitFor(() => expect(open).not.toBeNull());
    await bots.write(bots.message("elsewhere", ANA + 2));
    await vi.waitFor(() => expect(order).toContain("end elsewhere"));
    waits = false;
    open!();
    await bots.settled();
    expect(order.filter((line) => !line.endsWith("elsewhere"))).toEqual([
      "begin one",
      "end one",
      "begin two",
      "end two",
    ]);
  });
});
