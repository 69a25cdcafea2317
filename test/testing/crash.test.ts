import { describe, expect, it } from "vitest";
import { defineBot, fields, type AnyContext } from "parley";
import { CrashDifferenceError, crashEverywhere, type CrashOptions, type TestBots } from "parley/testing";

const HOOK = "https://crm.example/leads";
const withHook: CrashOptions = { prepare: (chat) => chat.stub(HOOK, { ok: true }) };
const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"];

const lead = defineBot((b) => {
  const form = b.form(
    "lead",
    Object.fromEntries(KEYS.map((key) => [key, fields.text(`Your ${key}?`)])),
    (ctx, answers) => ctx.reply(`Thanks ${Object.values(answers).join(" ")}`),
    { remind: "10m" },
  );
  b.keyword("lead", (ctx) => ctx.start(form));
});

const posting = (through: "step" | "nothing") =>
  defineBot((b) => {
    b.keyword("send", async (ctx) => {
      const post = () => fetch(HOOK, { method: "POST", body: ctx.from.name }).then(() => true);
      await (through === "step" ? ctx.step("crm", post) : post());
      ctx.reply("sent");
    });
  });

async function difference(
  bots: TestBots,
  words: string[],
  options?: CrashOptions,
): Promise<CrashDifferenceError> {
  const failed = await crashEverywhere(
    bots,
    async (chat) => {
      for (const word of words) await chat.user(word);
    },
    options,
  ).then(
    () => null,
    (error: unknown) => error,
  );
  expect(failed).toBeInstanceOf(CrashDifferenceError);
  return failed as CrashDifferenceError;
}

describe("crashEverywhere", () => {
  it("passes for a form, at every commit on both sides", { timeout: 240_000 }, async () => {
    const report = await crashEverywhere([lead], async (chat) => {
      await chat.user("lead");
      for (const key of KEYS) {
        await chat.expect(`Your ${key}?`);
        await chat.user(key);
      }
      await chat.expect("Thanks a b c d e f g h");
    });

    // Nine messages: stored, decided, and the reply marked as sent.
    expect(report).toEqual({ commits: 27, runs: 55 });
  });

  it("passes for reminders, votes, files, other people and a webhook", { timeout: 240_000 }, async () => {
    const menu = defineBot((b) => {
      b.keyword("poll", (ctx) => ctx.poll("Which?", ["a", "b"]));
      b.on("poll:vote", (ctx) => ctx.sendTo("49301111111", `chosen: ${ctx.message.poll.selected?.[0]}`));
      b.on("media:image", async (ctx) => ctx.reply(`${(await ctx.file()).bytes.length} bytes`));
    });
    const { runs } = await crashEverywhere(
      { lead, menu },
      async (chat) => {
        const owner = chat.as({ name: "owner", number: "49301111111" });
        await chat.user("lead");
        await chat.expect("Your a?");
        await chat.advance("11m");
        await chat.expectReminder("Your a?");
        await chat.user("stop");
        await chat.expect(/cancelled/);
        await chat.user("poll");
        await chat.expect("Which?");
        await chat.vote("b");
        await owner.expect("chosen: b");
        await chat.media("image", { bytes: Buffer.alloc(7) });
        await chat.expect("7 bytes");
        await chat.user("who are you?");
        await chat.expect("a webhook");
      },
      { webhook: () => ({ message: "a webhook" }) },
    );

    expect(runs).toBeGreaterThan(30);
  });

  it("finds a bot that keeps state in memory", async () => {
    const forgetful = (): TestBots => {
      return [
        defineBot((b) => {
          const waiting = new Set<string>();
          b.keyword("start", (ctx) => {
            waiting.add(ctx.from.id);
            ctx.reply("Your name?");
          });
          b.fallback((ctx) => ctx.reply(waiting.has(ctx.from.id) ? `Hello ${ctx.text}` : "What?"));
        }),
      ];
    };

    const { message } = await difference(forgetful(), ["start", "Ana"]);

    expect(message).toContain("Killed after commit 2 of 6 (the decision was made)");
    expect(message).toMatch(
      / {2}user: start\n {2}bot: Your name\?\n {2}user: Ana\n- bot: Hello Ana\n\+ bot: What\?$/,
    );
  });

  it("finds a bot whose module remembers what the database forgot", async () => {
    const seen = new Set<string>();
    const bots = [
      defineBot((b) => {
        b.keyword("hi", (ctx) => {
          ctx.reply(seen.has(ctx.from.id) ? "Welcome back" : "Welcome");
          seen.add(ctx.from.id);
        });
      }),
    ];

    expect((await difference(bots, ["hi"])).message).toContain("- bot: Welcome\n+ bot: Welcome back");
  });

  it("finds a bot that asks for something twice", async () => {
    const { message } = await difference([posting("nothing")], ["send"], withHook);

    expect(message).toContain("Killed before commit 2 of 3 (the decision was made)");
    expect(message).toContain(`  POST ${HOOK} Ana\n+ POST ${HOOK} Ana`);
  });

  it("lets pass what is done in a step", async () => {
    const { commits } = await crashEverywhere([posting("step")], (chat) => chat.user("send"), withHook);

    expect(commits).toBe(4);
  });

  const bot = (run: (ctx: AnyContext) => Promise<unknown>) =>
    defineBot((b) => {
      b.keyword("send", async (ctx) => {
        await run(ctx);
        ctx.reply("sent");
      });
    });
  const post = (body: string, key?: string) =>
    fetch(HOOK, { method: "POST", body, ...(key && { headers: { "Idempotency-Key": key } }) }).then(() => 1);

  it("finds what is asked twice outside of a step, also when a step comes after it", async () => {
    const mixed = bot(async (ctx) => {
      await post("a lead");
      await ctx.step("later", () => 1);
    });
    const { message } = await difference([mixed], ["send"], withHook);
    expect(message).toContain("Killed before commit 2 of 4 (a step was kept)");
    expect(message).toContain(`  POST ${HOOK} a lead\n+ POST ${HOOK} a lead`);
  });

  it.each<[string, (ctx: AnyContext) => Promise<unknown>]>([
    ["in one step", (ctx) => ctx.step("crm", async () => (await post("same")) + (await post("same")))],
    [
      "in two steps",
      async (ctx) => void [await ctx.step("a", () => post("same")), await ctx.step("b", () => post("same"))],
    ],
    ["under a key", (ctx) => post("same", ctx.idempotencyKey("crm"))],
  ])("lets pass what is asked with equal bodies %s", async (_where, run) => {
    const { runs } = await crashEverywhere([bot(run)], (chat) => chat.user("send"), withHook);
    expect(runs).toBeGreaterThan(6);
  });

  it("finds another body under the same key", async () => {
    let count = 0;
    const counting = bot((ctx) => post(`try ${count++}`, ctx.idempotencyKey("crm")));
    expect((await difference([counting], ["send"], withHook)).message).toContain("POST");
  });

  it("finds an expectation that holds only without a kill", async () => {
    let starts = 0;
    const bots = () => {
      starts++;
      const name = starts === 1 ? "first" : "later";
      return [defineBot((b) => b.keyword("hi", (ctx) => ctx.reply(name)))];
    };

    const failed = crashEverywhere(bots, async (chat) => {
      await chat.user("hi");
      await chat.expect("first");
    });

    await expect(failed).rejects.toThrow(
      /^Killed before commit 1 of 3 \(the message was stored\)[\s\S]*- bot: first\n\+ bot: later[\s\S]*The bot was to say "first", and has said "later"/,
    );
  });

  it("gives what fails without a kill as it is", async () => {
    const failed = crashEverywhere([lead], async (chat) => {
      await chat.user("lead");
      await chat.expect("Your name?");
    });

    await expect(failed).rejects.toThrow(/^The bot was to say "Your name\?", and has said "Your a\?"/);
  });
});
