import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ContextClosedError, defineBot } from "../../../src/bot/index.ts";
import type { AnyContext, Routes } from "../../../src/bot/types.ts";
import type { MediaRequest } from "../../../src/model/media/media.ts";
import { jid } from "../outbox/harness.ts";
import { ANA, bot, onHi, startBots } from "./harness.ts";
import { rawRows } from "../store/rows.ts";

const next = bot((b: Routes) => b.fallback((ctx) => ctx.reply("next")));
const never = new Promise<never>(() => undefined);

describe("what a handler does wrong", () => {
  const wrongs: [string, (ctx: AnyContext) => unknown, RegExp][] = [
    ["throws", () => Promise.reject(new Error("the till is jammed")), /the till is jammed/],
    ["never returns", () => never, /did not return in time/],
    [
      "replies 1,000 times",
      (ctx) => {
        for (let i = 0; i < 1000; i++) ctx.reply(`n${i}`);
      },
      /at most 50 messages/,
    ],
    [
      "sends a broken shape",
      (ctx) => ctx.reply({ picture: "x" } as never),
      /ctx\.reply\(\) knows text, poll/,
    ],
    ["sends a poll of one option", (ctx) => ctx.poll("Well?", ["only"]), /a poll must have 2 to 12 options/],
    ["sends to nowhere", (ctx) => ctx.sendTo("somebody", "x"), /is not a destination/],
    [
      "starts what does not exist",
      (ctx) => ctx.start({ id: "ghost", begin: () => null } as never),
      /does not know the dialogue/,
    ],
    ["sets a timer that does not exist", (ctx) => ctx.after("1m", "ghost"), /the bot has no timer/],
    ["sets a timer for no time", (ctx) => ctx.after("soon" as never, "t"), /is not a duration/],
    [
      "answers after passing on",
      (ctx) => {
        ctx.next();
        ctx.reply("and yet");
      },
      /a handler that passes a message on cannot answer it/,
    ],
  ];

  it.each(wrongs)(
    "%s: one record that names bot, route and message, the next answers, the chat goes on",
    async (_what, wrong, record) => {
      let broken = true;
      const shop = bot(
        (b) => {
          b.timer("t", () => null);
          b.keyword("hi", (ctx) => {
            if (!broken) return ctx.reply("mended");
            ctx.sendTo("4915009", "half an answer");
            return wrong(ctx);
          });
        },
        { limits: { timeout: 500 } },
      );
      const bots = await startBots({ shop, z: next });
      const message = bots.message("hi");
      await bots.write(message);
      await bots.settled();

      expect(await bots.decision(message.id)).toMatchObject({
        by: "bot:z",
        trail: [
          { by: "bot:shop", route: "keyword:hi", outcome: expect.stringMatching(/failed|timed_out/) },
          { by: "bot:z" },
        ],
      });
      const records = bots.log.lines.map((line) => JSON.parse(line)).filter(({ bot: id }) => id === "shop");
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({ bot: "shop", route: "keyword:hi", message: message.id });
      expect(JSON.stringify(records[0])).toMatch(record);
      broken = false;
      await bots.say("hi");
      expect(bots.heard()).toEqual(["next", "mended"]);
    },
  );

  it("has the silence or the words that the bot wants for it", async () => {
    const failing = (onError: "silent" | { reply: string }) =>
      bot((b) => b.on("text", () => Promise.reject(new Error("no"))), { onError });
    const silent = await startBots({ a: failing("silent"), z: next });
    const sorry = await startBots({ a: failing({ reply: "Sorry." }), z: next });

    expect(await silent.say("x")).toMatchObject({ by: "bot:a", trail: [{ outcome: "failed" }] });
    expect(await sorry.say("x")).toMatchObject({ by: "bot:a", trail: [{ outcome: "failed" }] });
    expect(silent.heard()).toEqual([]);
    expect(sorry.heard()).toEqual(["Sorry."]);
  });

  it.each(["next", "silent"] as const)(
    "too often is not asked for a minute, then again (onError %s)",
    async (onError) => {
      let asked = 0;
      const a = bot(
        (b) => {
          b.on("text", (ctx) => ctx.next());
          b.match(/x/, () => {
            asked++;
            throw new Error("no");
          });
        },
        { onError },
      );
      const bots = await startBots({ a, z: next }, { env: { LOOP_GUARD_PER_MINUTE: "0" } });
      for (let i = 0; i < 5; i++) await bots.say("x");
      expect(asked).toBe(5);
      expect(await bots.say("x")).toMatchObject({
        by: "bot:z",
        trail: [{ by: "bot:a", outcome: "not_asked", detail: "circuit_open" }, { by: "bot:z" }],
      });
      expect(asked).toBe(5);
      await bots.clock.advance(60_001);
      await bots.say("x");
      expect(asked).toBe(6);
    },
  );

  it("is called after its time, each effect: ContextClosedError, and nothing of it happens", async () => {
    let kept!: AnyContext;
    const bots = await startBots({
      a: bot(
        (b) => {
          b.timer("t", () => null);
          b.keyword("hi", (ctx) => void (kept = ctx));
        },
        { session: { initial: () => ({ n: 0 }) } } as never,
      ),
    });
    await bots.say("hi");
    const effects: ((ctx: AnyContext) => unknown)[] = [
      (c) => c.reply("x"),
      (c) => c.image("https://example.com/x"),
      (c) => c.video("https://example.com/x"),
      (c) => c.audio("https://example.com/x"),
      (c) => c.voice("https://example.com/x"),
      (c) => c.document("https://example.com/x"),
      (c) => c.poll("a", ["b", "c"]),
      (c) => c.react("👍"),
      (c) => c.sendTo("4915009", "x"),
      (c) => c.start({ begin: () => null } as never),
      (c) => c.leave(),
      (c) => c.handoff(),
      (c) => c.next(),
      (c) => c.after("1m", "t"),
      (c) => c.at(new Date(0), "t"),
      (c) => c.cancelTimer("t"),
      (c) => c.setLocale("de"),
      (c) => void (c.session = { n: 1 }),
    ];
    for (const effect of effects) expect(() => effect(kept), String(effect)).toThrow(ContextClosedError);
    await expect(kept.step("k", () => 1)).rejects.toThrow(ContextClosedError);
    await expect(kept.file()).rejects.toThrow(ContextClosedError);
    expect(kept.signal.aborted).toBe(true);
    expect(bots.heard()).toEqual([]);
  });
});

describe("what a handler says", () => {
  it("may be every kind of content, in order, quoted and with mentions; files by address and by bytes", async () => {
    const asked: MediaRequest[] = [];
    const media = {
      async prepare(request: MediaRequest) {
        asked.push(request);
        return {
          kind: request.ptt ? "voice" : (request.mediaType as "image"),
          file: `f${asked.length}`,
        } as const;
      },
    };
    const bots = await startBots(
      {
        a: onHi((ctx) => {
          ctx.reply("text", { quote: true, mentions: ["4915001"] });
          ctx.image("https://example.com/a.png", { caption: "look" });
          ctx.document({ bytes: Buffer.from("pdf") }, { fileName: "bill.pdf", caption: "your bill" });
          ctx.voice({ url: "https://example.com/a.ogg" }, { quote: true });
          ctx.sticker("https://example.com/a.gif", { quote: true });
          ctx.reply({ poll: "Tea?", options: ["yes", "no"], multiple: true });
          ctx.react("👍");
        }),
      },
      { media },
    );
    const hi = bots.message("hi");
    await bots.write(hi);
    await bots.settled();

    const drafts = bots.line.sent.map(({ draft }) => draft);
    expect(drafts.map(({ kind }) => kind)).toEqual([
      "text",
      "image",
      "document",
      "voice",
      "sticker",
      "poll",
      "reaction",
    ]);
    expect(drafts[0]).toMatchObject({ mentions: [jid(4915001)], quote: { id: hi.id } });
    expect(drafts[3]).toMatchObject({ quote: { id: hi.id } });
    expect(drafts[4]).toMatchObject({ quote: { id: hi.id } });
    expect(drafts[5]).toMatchObject({ selectable: 0, options: ["yes", "no"] });
    expect(drafts[6]).toMatchObject({ emoji: "👍", target: { id: hi.id } });
    expect(asked[0]).toMatchObject({ mediaType: "image", url: "https://example.com/a.png", caption: "look" });
    expect(asked[1]).toMatchObject({ mediaType: "document", caption: "bill.pdf", text: "your bill" });
    expect(Buffer.from(asked[1]!.bytes!).toString()).toBe("pdf");
    expect(asked[2]).toMatchObject({ mediaType: "audio", ptt: "vn" });
    expect(asked[3]).toMatchObject({ mediaType: "sticker", url: "https://example.com/a.gif" });
  });

  it("is nothing when one of its files does not come: the next bot answers", async () => {
    const media = { prepare: () => Promise.reject(new Error("FILE_UNREACHABLE")) };
    const a = onHi((ctx) => {
      ctx.reply("before");
      ctx.image("https://example.com/gone.png");
    });
    const bots = await startBots({ a, z: next }, { media });
    await bots.say("hi");
    expect(bots.heard()).toEqual(["next"]);
  });

  it("does not keep a gateway that stops from stopping: its files are given up, the message is asked again", async () => {
    const stopping = new AbortController();
    let begun = false;
    const media = {
      prepare: ({ signal }: MediaRequest) =>
        new Promise<never>((_, reject) => {
          begun = true;
          signal!.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    };
    const bots = await startBots(
      { a: onHi((ctx) => ctx.image("https://example.com/slow.png")) },
      { media, stopping: stopping.signal },
    );
    const hi = bots.message("hi");
    await bots.write(hi);
    await vi.waitFor(() => expect(begun).toBe(true));
    const drained = bots.run.path.drain(0);
    stopping.abort(new Error("stopping"));
    await drained;
    expect(await bots.run.undecided()).toBe(1);
    expect(await bots.run.decision(hi.id)).toBeNull();
  });

  it("is said by calls that were taken out of the context, and by a context that was made from it", async () => {
    const a = bot((b) => {
      b.keyword("out", ({ reply, setLocale, t, text }) => {
        setLocale("en");
        reply(t(`You wrote ${text}.`));
      });
      b.keyword("made", (ctx) => {
        const made = Object.create(ctx, { text: { value: "something else" } }) as AnyContext;
        made.reply(`${made.text} from ${made.from.number}, ${made.message.text}`);
      });
    });
    const bots = await startBots({ a });
    await bots.say("out");
    await bots.say("made");
    expect(bots.heard()).toEqual(["You wrote out.", `something else from ${ANA}, made`]);
  });

  it("to another chat goes there, paced as a send: it answers nobody", async () => {
    const bots = await startBots({
      a: onHi((ctx) => {
        ctx.sendTo("+49 15009-00", "psst");
        ctx.reply("told");
      }),
    });
    await bots.write(bots.message("hi"));
    await vi.waitFor(() => expect(bots.line.texts()).toContain("told"));
    const rows = await rawRows(bots.run.store, "SELECT jid, is_reply FROM outbox ORDER BY id", []);
    expect(rows.map(({ jid: to, is_reply }) => [to, is_reply])).toEqual([
      [jid(491500900), 0],
      [jid(ANA), 1],
    ]);
    await bots.later(60_000);
    expect(bots.line.texts(jid(491500900))).toEqual(["psst"]);
  });

  it("is translated into the chat's language, which stays after a kill", async () => {
    const locales = { en: { hi: "Hello {name}", only: "English" }, "pt-BR": { hi: "Olá {name}" } };
    const speak = bot((b) => {
      b.keyword("pt", (ctx) => {
        ctx.setLocale("pt-BR");
        ctx.reply(ctx.t("hi", { name: ctx.locale }));
      });
      b.on("text", (ctx) => ctx.reply(`${ctx.t("hi", { name: "Ana" })} ${ctx.t("only")} ${ctx.t("none")}`));
    });
    const bots = await startBots({ speak }, { locales });
    await bots.say("x");
    await bots.say("pt");
    await bots.kill();
    await bots.say("x");
    await bots.say("x", 4915002);
    expect(bots.heard()).toEqual([
      "Hello Ana English none",
      "Olá pt-BR",
      "Olá Ana English none",
      "Hello Ana English none",
    ]);
  });
});

describe("a session", () => {
  const counting = (session: object) =>
    defineBot({ session: session as never }, (b) => {
      b.on("text", (ctx: AnyContext) => {
        ctx.session.n = ctx.text === "break" ? "many" : ctx.session.n + 1;
        ctx.reply(JSON.stringify(ctx.session));
      });
    });

  it("is kept by chat over a kill, and one chat's is never another's", async () => {
    const shared = { n: 0 };
    const bots = await startBots({ a: counting({ initial: () => shared }) });
    await bots.say("x");
    await bots.say("x");
    await bots.say("x", 4915002);
    await bots.kill();
    await bots.say("x");
    expect(bots.heard()).toEqual(['{"n":1}', '{"n":2}', '{"n":1}', '{"n":3}']);
  });

  it("that its schema refuses is not stored, and the handler has failed", async () => {
    const a = counting({ initial: () => ({ n: 0 }), schema: z.object({ n: z.number() }) });
    const bots = await startBots({ a, z: next });
    await bots.say("x");
    expect(await bots.say("break")).toMatchObject({
      by: "bot:z",
      trail: [{ by: "bot:a", outcome: "failed", detail: "SessionRefused" }, {}],
    });
    await bots.say("x");
    expect(bots.heard()).toEqual(['{"n":1}', "next", '{"n":2}']);
    expect(bots.log.text()).toMatch(/does not fit its schema: n: /);
  });

  it("is forgotten after its time, and made over when its version rises", async () => {
    const one = counting({ initial: () => ({ n: 0 }), ttl: "1h" });
    const bots = await startBots({ a: one });
    await bots.say("x");
    await bots.clock.advance(59 * 60_000);
    await bots.say("x");
    await bots.clock.advance(61 * 60_000);
    await bots.say("x");
    expect(bots.heard()).toEqual(['{"n":1}', '{"n":2}', '{"n":1}']);

    await bots.kill({
      a: counting({
        version: 3,
        initial: () => ({ n: 0 }),
        migrate: (old: { n: number }, version: number) => ({ n: old.n * 100 + version }),
      }),
    });
    await bots.say("x");
    await bots.kill({ a: counting({ version: 4, initial: () => ({ n: 0 }) }) });
    await bots.say("x");
    expect(bots.heard()).toEqual(['{"n":102}', '{"n":1}']);
  });

  it("and everything else of a handler that fails is as if it had not run", async () => {
    const a = defineBot({ session: { initial: () => ({ n: 0 }) } }, (b) => {
      b.timer("t", (ctx) => ctx.reply("timer"));
      b.keyword("fail", (ctx) => {
        ctx.session.n = 9;
        ctx.after("1m", "t");
        ctx.handoff();
        throw new Error("no");
      });
      b.on("text", (ctx) => ctx.reply(String(ctx.session.n)));
    });
    const bots = await startBots({ a });
    await bots.say("fail");
    await bots.later(120_000);
    await bots.say("x");
    expect(bots.heard()).toEqual(["0"]);
  });
});

describe("a step", () => {
  it("is done once, also when the process dies after it; what it made is forgotten with the message", async () => {
    let done = 0;
    let hangs = true;
    const a = onHi(async (ctx) => {
      const [one, two] = await Promise.all([
        ctx.step("pay", () => Promise.resolve(`paid ${++done}`)),
        ctx.step("pay", () => Promise.resolve(`paid ${++done}`)),
      ]);
      if (hangs) await never;
      ctx.reply(`${one} ${two} ${ctx.idempotencyKey("pay") === ctx.idempotencyKey("pay")}`);
    });
    const bots = await startBots({ a });
    await bots.write(bots.message("hi"));
    await vi.waitFor(async () => expect(await bots.rows("SELECT count(*) AS n FROM bot_steps")).toBe(1));
    hangs = false;
    await bots.kill();
    await bots.settled();

    expect(bots.heard()).toEqual(["paid 1 paid 1 true"]);
    expect(done).toBe(1);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_steps")).toBe(0);
  });

  it("leaves nothing behind when its handler fails or passes", async () => {
    const a = bot((b) => {
      b.keyword("pass", async (ctx) => {
        await ctx.step("k", () => 1);
        ctx.next();
      });
      b.keyword("fail", async (ctx) => {
        await ctx.step("k", () => 1);
        throw new Error("no");
      });
    });
    const bots = await startBots({ a, z: next });
    await bots.say("pass");
    await bots.say("fail");
    expect(bots.heard()).toEqual(["next", "next"]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_steps")).toBe(0);
  });
});
