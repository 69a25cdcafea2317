import { describe, expect, it, vi } from "vitest";
import type { AnyContext, Routes } from "../../../src/bot/types.ts";
import { crashEverywhere } from "../../../src/testing/index.ts";
import { bot, onHi, startBots, type BotHarness } from "./harness.ts";

/** Work that ends when the test says so, or when it is aborted. */
function slowWork() {
  const begun: string[] = [];
  const ended: (() => void)[] = [];
  const aborted: string[] = [];
  return {
    begun,
    aborted,
    end: () => ended.splice(0).forEach((end) => end()),
    run(text: string, signal: AbortSignal): Promise<string> {
      begun.push(text);
      return new Promise((resolve) => {
        ended.push(() => resolve(text.toUpperCase()));
        signal.addEventListener("abort", () => aborted.push(text));
      });
    },
  };
}

const waitFor = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { interval: 5 });

/** Writes one text after the other, each when the work for those before it has begun. */
async function writeInto(bots: BotHarness, work: { begun: string[] }, ...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, text] of texts.entries()) {
    const message = bots.message(text);
    ids.push(message.id);
    await bots.write(message);
    await waitFor(() => expect(work.begun).toHaveLength(index + 1));
  }
  return ids;
}

describe('newer: "restart"', () => {
  const route = (work: ReturnType<typeof slowWork>) => (b: Routes) =>
    b.fallback(async (ctx) => ctx.reply(await work.run(ctx.text, ctx.signal)), { newer: "restart" });

  it("aborts the handler, and answers all texts together, once", async () => {
    const work = slowWork();
    const bots = await startBots({ talk: route(work) });
    const [first, second, third] = await writeInto(bots, work, "a", "b", "c");
    work.end();
    await bots.settled();

    expect(work.begun).toEqual(["a", "a\nb", "a\nb\nc"]);
    expect(work.aborted).toEqual(["a", "a\nb"]);
    expect(bots.heard()).toEqual(["A\nB\nC"]);
    expect(await bots.decision(first!)).toMatchObject({
      by: "bot:talk",
      trail: [{ outcome: "restarted" }, { outcome: "restarted" }, { outcome: "answered" }],
    });
    for (const id of [second, third])
      expect(await bots.decision(id!)).toMatchObject({ trail: [{ outcome: "merged", detail: first }] });
  });

  it("tells how many texts are joined", async () => {
    const work = slowWork();
    const bots = await startBots({
      talk: (b) =>
        b.fallback(
          async (ctx) => {
            await work.run(ctx.text, ctx.signal);
            ctx.reply(`${ctx.texts}`);
          },
          { newer: "restart" },
        ),
    });
    await writeInto(bots, work, "a", "b");
    work.end();
    await bots.settled();
    expect(bots.heard()).toEqual(["2"]);
  });

  it("counts for every route of a bot that says so, and for none by itself", async () => {
    const work = slowWork();
    const routes = (b: Routes) => b.fallback(async (ctx) => ctx.reply(await work.run(ctx.text, ctx.signal)));
    const bots = await startBots({ talk: bot(routes, { newer: "restart" }) });
    await writeInto(bots, work, "a", "b");
    work.end();
    await bots.settled();
    expect(bots.heard()).toEqual(["A\nB"]);

    const other = slowWork();
    const waits = await startBots({
      talk: (b) => b.fallback(async (ctx) => ctx.reply(await other.run(ctx.text, ctx.signal))),
    });
    await waits.write(waits.message("a"), waits.message("b"));
    await waitFor(() => expect(other.begun).toEqual(["a"]));
    await new Promise((resolve) => setTimeout(resolve, 300));
    other.end();
    await waitFor(() => expect(other.begun).toEqual(["a", "b"]));
    other.end();
    await waits.settled();
    expect(waits.heard()).toEqual(["A", "B"]);
  });

  it("leaves to others what is theirs: it is answered after, and by itself", async () => {
    const work = slowWork();
    const bots = await startBots({
      talk: { priority: 60, routes: route(work) },
      desk: (b: Routes) => b.keyword("hours", (ctx) => ctx.reply("9 to 18")),
    });
    await bots.write(bots.message("a"), bots.message("hours"), bots.message("b"));
    await waitFor(() => expect(work.begun).toEqual(["a"]));
    work.end();
    await waitFor(() => expect(work.begun).toEqual(["a", "b"]));
    work.end();
    await bots.settled();
    expect(bots.heard()).toEqual(["A", "9 to 18", "B"]);
  });

  it("ends with the first thing that was done outside: what comes then waits for its turn", async () => {
    const work = slowWork();
    let done = 0;
    const bots = await startBots({
      talk: (b) =>
        b.fallback(
          async (ctx) => {
            await ctx.step("ticket", () => ++done);
            ctx.reply(await work.run(ctx.text, ctx.signal));
          },
          { newer: "restart" },
        ),
    });
    await bots.write(bots.message("a"));
    await waitFor(() => expect(work.begun).toEqual(["a"]));
    await bots.write(bots.message("b"));
    // A run that was killed has left its step: there, too, the text that waits is not put together with it.
    await bots.kill();
    await waitFor(() => expect(work.begun).toEqual(["a", "a"]));
    work.end();
    await waitFor(() => expect(work.begun).toEqual(["a", "a", "b"]));
    work.end();
    await bots.settled();
    expect(bots.heard()).toEqual(["A", "B"]);
    expect(done).toBe(2);
  });

  it("is for one step, when that says so", async () => {
    const work = slowWork();
    const bots = await startBots({
      talk: (b) =>
        b.fallback(async (ctx) => {
          ctx.reply(await ctx.step("say", (signal) => work.run(ctx.text, signal), { newer: "restart" }));
        }),
    });
    await writeInto(bots, work, "a", "b");
    work.end();
    await bots.settled();
    expect(bots.heard()).toEqual(["A\nB"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_steps")).toBe(0);
  });

  it("is for a step of a flow: the answer that led there becomes both texts", async () => {
    const work = slowWork();
    const bots = await startBots({
      talk: (b) => {
        const flow = b.flow("talk", async (f) => {
          const about = await f.text("about", "What about?");
          const answer = await f.step("answer", (signal) => work.run(about, signal), { newer: "restart" });
          f.say(`${about}: ${answer}`);
        });
        b.keyword("talk", (ctx) => ctx.start(flow));
      },
    });
    await bots.say("talk");
    await writeInto(bots, work, "a", "b");
    work.end();
    await bots.settled();
    expect(bots.heard()).toEqual(["What about?", "a\nb: A\nB"]);
    expect(work.begun).toEqual(["a", "a\nb"]);
  });

  it("comes to an end, however somebody goes on writing", async () => {
    const begun: string[] = [];
    const bots = await startBots({
      talk: (b) =>
        b.fallback(
          async (ctx) => {
            begun.push(ctx.text);
            await bots.write(bots.message("more"));
            await new Promise((resolve) => setTimeout(resolve, 400));
            ctx.reply(`${ctx.text.split("\n").length}`);
          },
          { newer: "restart" },
        ),
    });
    await bots.write(bots.message("a"));
    await waitFor(() => expect(bots.line.sent.length).toBeGreaterThan(0));
    expect(bots.heard()).toEqual(["11"]);
    await bots.run.end();
  });

  it("takes no other word, and says so", async () => {
    const bots = await startBots({
      bad: { newer: "abort" as never, routes: onHi(() => undefined).routes },
      worse: (b) => b.fallback(() => undefined, { newer: "merge" as never }),
    });
    const errors = bots.run.path.bindings.list(1).map(({ error }) => error);
    expect(errors).toEqual([
      expect.stringContaining('`newer` must be "restart" or absent'),
      expect.stringContaining('b.fallback: `newer` must be "restart"'),
    ]);
  });

  it("loses nothing and answers nothing twice, wherever it is killed", async () => {
    const routes = (b: Routes): void =>
      b.fallback(
        async (ctx: AnyContext) => {
          // Only once all three are there is anything answered.
          const said = await ctx.step(
            "say",
            (signal) =>
              ctx.text.split("\n").length === 3
                ? Promise.resolve(ctx.text.replaceAll("\n", " "))
                : new Promise<string>((_, reject) =>
                    signal.addEventListener("abort", () => reject(new Error("aborted"))),
                  ),
            { newer: "restart" },
          );
          ctx.reply(said);
        },
        { newer: "restart" },
      );
    const { runs } = await crashEverywhere([{ routes }], async (chat) => {
      await chat.burst(["a", "b", "c"]);
      await chat.expect("a b c");
      await chat.expectNothing();
    });
    expect(runs).toBeGreaterThan(4);
  });
});

describe("typing", () => {
  const listen = (bots: BotHarness): string[] => {
    const shown: string[] = [];
    bots.line.connection.showState = async (chat, state) => void shown.push(`${chat} ${state === "typing"}`);
    return shown;
  };

  it("is shown while a handler or a step takes longer than a moment, and ends with it", async () => {
    let end!: () => void;
    const bots = await startBots({
      talk: (b) => {
        const flow = b.flow("slow", async (f) => {
          await f.step("slow", () => new Promise<void>((resolve) => (end = resolve)));
          f.say("Done.");
        });
        b.keyword("slow", (ctx) => ctx.start(flow));
        b.keyword("quick", async (ctx) => {
          await Promise.resolve();
          ctx.reply("Done.");
        });
      },
    });
    const shown = listen(bots);
    await bots.say("quick");
    expect(shown).toEqual([]);
    await bots.write(bots.message("slow"));
    const chat = bots.message("").chat;
    await waitFor(() => expect(shown).toEqual([`${chat} true`]));
    end();
    await bots.settled();
    expect(shown).toEqual([`${chat} true`, `${chat} false`]);
    expect(bots.heard()).toEqual(["Done.", "Done."]);
  });

  it("ends when the handler's time is up, and harms nothing where it cannot be shown", async () => {
    const bots = await startBots({ talk: onHi(() => new Promise(() => undefined)) }, { botTimeoutMs: 1_200 });
    const shown = listen(bots);
    await bots.say("hi");
    expect(shown.map((line) => line.split(" ")[1])).toEqual(["true", "false"]);
    bots.line.connection.showState = () => {
      throw new Error("not connected");
    };
    expect(await bots.say("hi")).toMatchObject({ trail: [{ outcome: "timed_out" }] });
  });

  it("is shown at once when the handler says so, and ends with it, also with one that returns at once", async () => {
    let end!: () => void;
    const bots = await startBots({
      talk: (b) => {
        b.keyword("quick", (ctx) => {
          ctx.typing();
          ctx.reply("Done.");
        });
        b.keyword("think", async (ctx) => {
          ctx.typing();
          ctx.typing();
          await new Promise<void>((resolve) => (end = resolve));
          ctx.reply("Done.");
        });
      },
    });
    const shown = listen(bots);
    await bots.say("quick");
    expect(shown.map((line) => line.split(" ")[1])).toEqual(["true", "false"]);
    await bots.write(bots.message("think"));
    await waitFor(() => expect(shown).toHaveLength(3));
    end();
    await bots.settled();
    expect(shown.map((line) => line.split(" ")[1])).toEqual(["true", "false", "true", "false"]);
  });
});

describe("reading", () => {
  it("is told when a handler says so, of its message, and harms nothing where it cannot be", async () => {
    const bots = await startBots({ talk: onHi((ctx) => (ctx.markRead(), void ctx.reply("Read."))) });
    const read: string[] = [];
    bots.line.connection.markRead = async ([message]) => void read.push(`${message!.chat} ${message!.id}`);
    const hi = bots.message("hi");
    await bots.say("not for a bot");
    await bots.say(hi);
    expect(read).toEqual([`${hi.chat} ${hi.id}`]);
    bots.line.connection.markRead = () => Promise.reject(new Error("not connected"));
    await bots.say("hi");
    expect(bots.heard()).toEqual(["Read.", "Read."]);
  });
});
