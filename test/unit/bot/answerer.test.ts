import { describe, expect, it, vi } from "vitest";
import { lazyView } from "../../../src/bot/messages/message-view.ts";
import { readBot } from "../../../src/bot/routes/define.ts";
import { ContextClosedError, defineBot, type Context, type Routes } from "../../../src/bot/index.ts";
import { buildTable } from "../../../src/bot/routes/table.ts";
import type { BotOptions } from "../../../src/bot/types.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import type { Answer } from "../../../src/model/answerer.ts";
import { asking, textsOf as texts } from "./asking.ts";
import { listeningLog, stored } from "./messages.ts";

type Bots = Record<string, ((b: Routes) => void) | [BotOptions, (b: Routes) => void]>;

/** Bots by id, asked as the pipeline asks them. */
function answererOf(
  bots: Bots,
  { botTimeoutMs = 1000, stopping }: { botTimeoutMs?: number; stopping?: AbortSignal } = {},
) {
  const active = Object.entries(bots).map(([id, definition]) => {
    const made = Array.isArray(definition) ? defineBot(definition[0], definition[1]) : defineBot(definition);
    const { bot } = readBot(id, made);
    return { bot, priority: bot.priority, config: {} };
  });
  const table = buildTable(active);
  const { log, text } = listeningLog();
  const askAll = asking({
    tableOf: () => table,
    botTimeoutMs,
    log,
    now: () => 1_700_000_000_000,
    ...(stopping && { stopping }),
  });
  const ask = (message: Partial<Incoming> | string): Promise<Answer> =>
    askAll(stored(typeof message === "string" ? { text: message } : message));
  return { ask, logged: text };
}

const outcomes = (answer: Answer): string[] => answer.trail.map(({ by, outcome }) => `${by} ${outcome}`);

const fallback = (b: Routes): void => b.fallback((ctx) => ctx.reply("what?"));
const menu = (b: Routes): void => b.keyword("menu", (ctx) => ctx.reply("soup"));
const say = (text: string) => (b: Routes) => b.on("text", (ctx) => ctx.reply(text));
const sayKind = (b: Routes): void => b.keyword("x", (ctx) => ctx.reply(ctx.chat.kind));

describe("which route answers", () => {
  it("a keyword takes the whole message only", async () => {
    const { ask } = answererOf({ a: (b) => b.keyword(["menu", "Hola"], (ctx) => ctx.reply("yes")) });

    expect(texts(await ask("¡HOLA! 👋"))).toEqual(["yes"]);
    expect(await ask("the menu")).toEqual({ kind: "pass", trail: [] });
  });

  it("names the keyword as it was written", async () => {
    const { ask } = answererOf({ a: (b) => b.keyword(["menu", "Menú del día"], (ctx) => ctx.reply("x")) });
    expect(await ask("menu del dia!")).toMatchObject({ by: "bot:a", route: "keyword:Menú del día" });
  });

  it("an expression with the flags g and y matches every time, and gives its groups", async () => {
    const { ask } = answererOf({ a: (b) => b.match(/order (\d+)/giy, (ctx) => ctx.reply(ctx.match[1]!)) });

    expect(texts(await ask("Order 12"))).toEqual(["12"]);
    expect(texts(await ask("my order 13"))).toEqual(["13"]);
  });

  it("within a bot keywords come first, then the rest as written, then the fallback", async () => {
    const said: string[] = [];
    const note = (name: string) => (ctx: Context) => {
      said.push(name);
      ctx.next();
    };
    const { ask } = answererOf({
      a: (b) => {
        b.fallback(note("fallback"));
        b.on("text", note("on"));
        b.match(/x/, note("match"));
        b.keyword("x", note("keyword"));
      },
    });

    expect(outcomes(await ask("x"))).toHaveLength(4);
    expect(said).toEqual(["keyword", "on", "match", "fallback"]);
  });

  it("the lower priority number is asked first, equals by id", async () => {
    const { ask } = answererOf({
      c: [{ priority: 10 }, say("c")],
      b: [{ priority: 10 }, say("b")],
      a: say("a"),
    });
    expect(texts(await ask("x"))).toEqual(["b"]);
  });

  it("a fallback hides no words of bots with the same priority, and all of later ones", async () => {
    expect(texts(await answererOf({ a: fallback, z: menu }).ask("menu"))).toEqual(["soup"]);
    expect(texts(await answererOf({ a: [{ priority: 0 }, fallback], z: menu }).ask("menu"))).toEqual([
      "what?",
    ]);
  });

  it.each(["reaction", "edit", "revoke", "poll_vote"] as const)(
    "a %s gets no fallback and no keyword",
    async (type) => {
      const { ask } = answererOf({
        a: (b) => {
          b.keyword("👍", (ctx) => ctx.reply("keyword"));
          b.fallback((ctx) => ctx.reply("fallback"));
        },
      });
      expect((await ask({ type, text: "👍" })).kind).toBe("pass");
      expect(texts(await ask("👍"))).toEqual(["keyword"]);
    },
  );

  it("a caption is text that was written", async () => {
    const { ask } = answererOf({ a: (b) => b.keyword("receipt", (ctx) => ctx.reply(ctx.message.type)) });
    expect(texts(await ask({ type: "image", text: "Receipt" }))).toEqual(["image"]);
  });

  it("on() takes types and predicates, and the types narrow the message", async () => {
    const { ask } = answererOf({
      a: (b) => {
        b.on("location", (ctx) => ctx.reply(`at ${ctx.message.location.latitude}`));
        b.on(["image", "video"], (ctx) => ctx.reply("picture"));
        b.on(
          (message) => message.mentions.length > 0,
          (ctx) => ctx.reply("mentioned"),
        );
      },
    });
    const location = { latitude: 1.5, longitude: 2, name: "", address: "" };

    expect(texts(await ask({ type: "location", location }))).toEqual(["at 1.5"]);
    expect(texts(await ask({ type: "video" }))).toEqual(["picture"]);
    expect(texts(await ask({ mentions: ["4930555"] }))).toEqual(["mentioned"]);
    expect((await ask("plain")).kind).toBe("pass");
  });

  it("bots listen to direct chats unless they say otherwise", async () => {
    const group = { chatKind: "group", text: "x" } as const;

    expect((await answererOf({ a: sayKind }).ask(group)).kind).toBe("pass");
    const both = answererOf({ a: [{ chats: ["dm", "group"] }, sayKind] });
    expect(texts(await both.ask(group))).toEqual(["group"]);
    expect(texts(await both.ask("x"))).toEqual(["dm"]);
    expect((await both.ask({ chatKind: "status", text: "x" })).kind).toBe("pass");
  });

  it("finds one keyword among thousands without looking at the others", () => {
    const { bot } = readBot("a", (b: Routes) => {
      for (let i = 0; i < 2_000; i++) b.keyword(`word ${i}`, () => undefined);
    });
    const table = buildTable([{ bot, priority: 50, config: {} }]);
    let looks = 0;
    for (const route of bot.routes) {
      const { pattern, word } = route;
      Object.defineProperty(route, "word", { get: () => (looks++, word) });
      Object.defineProperty(route, "pattern", { get: () => (looks++, pattern) });
    }
    const { message } = stored({ text: "word 1999" });
    const found = [...table.candidates(message, lazyView(message))];
    expect(found).toHaveLength(1);
    expect(looks).toBeLessThan(5);
    expect(found[0]!.route.pattern).toBe("word 1999");
  });
});

describe("what a handler says", () => {
  it("leaves together, in order, to the chat as the message came", async () => {
    const { ask } = answererOf({
      a: (b) =>
        b.keyword("hi", async (ctx) => {
          ctx.reply("one");
          await Promise.resolve();
          ctx.reply("two");
        }),
    });
    const answer = await ask({ text: "hi", chat: "900@lid", chatKey: "15550001@s.whatsapp.net" });
    expect(answer).toMatchObject({ kind: "answer", replies: [{ jid: "900@lid" }, { jid: "900@lid" }] });
    expect(texts(answer)).toEqual(["one", "two"]);
  });

  it("quotes the message when asked to, by the writer's id in that chat", async () => {
    const { ask } = answererOf({
      a: [{ chats: ["dm", "group"] }, (b) => b.keyword("hi", (ctx) => ctx.reply("x", { quote: true }))],
    });
    const direct = await ask({ text: "hi", id: "3AQ", raw: "cmF3" });
    const quote = { id: "3AQ", sender: "15550001@s.whatsapp.net", fromMe: false, raw: "cmF3" };
    expect(direct).toMatchObject({ replies: [{ draft: { quote } }] });
    const group = await ask({ text: "hi", chatKind: "group", chat: "1@g.us", participant: "900@lid" });
    expect(group).toMatchObject({ replies: [{ jid: "1@g.us", draft: { quote: { sender: "900@lid" } } }] });
  });

  it("may be nothing: who answers with silence has answered", async () => {
    const { ask } = answererOf({
      a: (b) => b.keyword("stop", () => undefined),
      b: (b) => b.fallback((c) => c.reply("?")),
    });
    expect(await ask("stop")).toMatchObject({ kind: "answer", by: "bot:a", replies: [] });
  });

  it("is dropped by next(), and the next one is asked", async () => {
    const { ask, logged } = answererOf({
      a: (b) =>
        b.keyword("hi", (ctx) => {
          ctx.reply("never");
          ctx.next();
        }),
      b: (b) => b.fallback((ctx) => ctx.reply("b")),
    });
    const answer = await ask("hi");
    expect(texts(answer)).toEqual(["b"]);
    expect(outcomes(answer)).toEqual(["bot:a passed", "bot:b answered"]);
    expect(logged()).toContain("1 buffered replies dropped");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
  ])("is nothing when the handler %s; its bot is not asked again, the next one is", async (_how, fail) => {
    const { ask, logged } = answererOf({
      a: (b) => {
        b.keyword("hi", (ctx) => {
          ctx.reply("half an answer");
          return fail();
        });
        b.fallback((ctx) => ctx.reply("the failed bot's fallback"));
      },
      b: (b) => b.fallback((ctx) => ctx.reply("b")),
    });
    const answer = await ask("hi");
    expect(texts(answer)).toEqual(["b"]);
    expect(outcomes(answer)).toEqual(["bot:a failed", "bot:b answered"]);
    expect(logged()).toContain("broken");
  });

  it("is nothing when a predicate throws", async () => {
    const { ask } = answererOf({
      a: (b) =>
        b.on(
          () => {
            throw new TypeError("no");
          },
          (ctx) => ctx.reply("a"),
        ),
      b: (b) => b.fallback((ctx) => ctx.reply("b")),
    });
    expect(outcomes(await ask("hi"))).toEqual(["bot:a failed", "bot:b answered"]);
  });

  it("is nothing when the time is up; what the handler does later throws and stops nobody", async () => {
    const late = Promise.withResolvers?.() ?? withResolvers();
    let error: unknown;
    let reason: unknown;
    const { ask } = answererOf(
      {
        a: (b) =>
          b.keyword("hi", async (ctx) => {
            ctx.reply("too early");
            ctx.signal.addEventListener("abort", () => (reason = ctx.signal.reason));
            await late.promise;
            try {
              ctx.reply("too late");
            } catch (caught) {
              error = caught;
            }
            throw new Error("nobody listens to this any more");
          }),
        b: (b) => b.fallback((ctx) => ctx.reply("b")),
      },
      { botTimeoutMs: 20 },
    );

    const answer = await ask("hi");
    expect(texts(answer)).toEqual(["b"]);
    expect(answer.trail[0]).toEqual({
      by: "bot:a",
      route: "keyword:hi",
      outcome: "timed_out",
      detail: "no return within 20 ms",
    });
    expect(reason).toBeInstanceOf(ContextClosedError);
    late.resolve(undefined);
    await vi.waitFor(() => expect(error).toBeInstanceOf(ContextClosedError));
    expect(String(error)).toMatch(/ctx\.reply\(\) was called after its 20 ms were up: nothing was sent/);
  });

  it("cannot be added to after the return", async () => {
    let kept: Context | undefined;
    const { ask } = answererOf({
      a: (b) =>
        b.keyword("hi", (ctx) => {
          kept = ctx;
          ctx.reply("in time");
        }),
    });
    const answer = await ask("hi");
    expect(() => kept!.reply("later")).toThrow(ContextClosedError);
    expect(() => kept!.next()).toThrow(/after the handler had returned/);
    expect(kept!.signal.aborted).toBe(true);
    expect(texts(answer)).toEqual(["in time"]);
  });

  it("must be a text that can be sent", async () => {
    const tried: string[] = [];
    const { ask } = answererOf({
      a: (b) =>
        b.keyword("hi", (ctx) => {
          for (const wrong of [undefined, 5, "", "  ", "a".repeat(65_537)]) {
            try {
              ctx.reply(wrong as string);
            } catch (error) {
              tried.push((error as Error).name);
            }
          }
          ctx.reply("a".repeat(65_536));
        }),
    });
    expect(texts(await ask("hi"))![0]).toHaveLength(65_536);
    expect(tried).toEqual(Array(5).fill("TypeError"));
  });
});

describe("what a handler is given", () => {
  it("text, writer, chat, clock; and methods that work on their own", async () => {
    const { ask } = answererOf({
      a: (b) =>
        b.keyword("hi", ({ reply, text, from, chat, now, match }) =>
          reply(JSON.stringify({ text, from, chat, now: now(), match })),
        ),
    });
    expect(JSON.parse(texts(await ask("Hi!"))![0]!)).toEqual({
      text: "Hi!",
      from: { name: "Ana", number: "15550001", lid: "900@lid", id: "15550001@s.whatsapp.net" },
      chat: { id: "15550001@s.whatsapp.net", kind: "dm" },
      now: 1_700_000_000_000,
      match: null,
    });
  });

  it("a message that it cannot change for others", async () => {
    const { ask } = answererOf({
      a: (b) =>
        b.keyword("hi", (ctx) => {
          expect(() => ((ctx.message as { text: string }).text = "changed")).toThrow(TypeError);
          expect(() => (ctx.message.mentions as string[]).push("x")).toThrow(TypeError);
          ctx.next();
        }),
      b: (b) => b.fallback((ctx) => ctx.reply(`${ctx.text} ${ctx.message.text}`)),
    });
    const answer = await ask("hi");
    expect(outcomes(answer)).toEqual(["bot:a passed", "bot:b answered"]);
    expect(texts(answer)).toEqual(["hi hi"]);
  });

  it("a log that names bot and message", async () => {
    const { ask, logged } = answererOf({
      a: (b) => b.keyword("hi", (ctx) => ctx.log.info({ step: 1 }, "noted")),
    });
    await ask({ text: "hi", id: "3ALOG" });
    expect(JSON.parse(logged())).toMatchObject({ bot: "a", message: "3ALOG", step: 1, msg: "noted" });
  });
});

describe("logs and decisions", () => {
  it("hold no word of the message, even when the error quotes it", async () => {
    const { ask, logged } = answererOf({
      a: (b) => b.on("text", (ctx) => JSON.parse(ctx.text)),
      b: (b) =>
        b.on("text", (ctx) => {
          throw new Error(`no such thing: ${ctx.text.slice(3, 14)}`);
        }),
      c: (b) =>
        b.on("text", () => {
          throw new Error("the shop system is away");
        }),
    });
    const answer = await ask("my Secret-Pass phrase 4711");
    expect(outcomes(answer)).toEqual(["bot:a failed", "bot:b failed", "bot:c failed"]);
    expect(`${logged()}${JSON.stringify(answer.trail)}`).not.toMatch(/secret|phrase|4711/i);
    expect(logged()).toContain("the shop system is away");
    expect(logged()).toMatch(/answerer\.test\.ts/);
  });
});

describe("when the gateway stops", () => {
  it("a message in the middle of a handler stays undecided", async () => {
    const stopping = new AbortController();
    const hangs = new Promise(() => undefined);
    const { ask } = answererOf(
      { a: (b) => b.keyword("hi", () => hangs) },
      { botTimeoutMs: 60_000, stopping: stopping.signal },
    );
    const asked = ask("hi");
    stopping.abort(new Error("stopping"));
    await expect(asked).rejects.toThrow("stopping");
  });
});

function withResolvers(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve!: (value: unknown) => void;
  const promise = new Promise((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}
