import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defineBot, fields } from "parley";
import {
  createTestChat,
  type AnyBot,
  type TestBots,
  type TestChat,
  type TestChatOptions,
} from "parley/testing";

let open: TestChat[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const chat of open) await chat.close();
  open = [];
});

async function chatWith(bots: TestBots, options?: TestChatOptions): Promise<TestChat> {
  const chat = await createTestChat(bots, options);
  open.push(chat);
  return chat;
}

const ping = defineBot((b) => b.keyword("ping", (ctx) => ctx.reply("pong")));
const lead = defineBot((b) => {
  const form = b.form(
    "lead",
    { name: fields.text("Your name?"), email: fields.email("Your e-mail?") },
    (ctx, { name, email }) => ctx.reply(`Thanks, ${name} (${email})`),
    { remind: "10m", expire: "1h", texts: { reminder: "Still there?", expired: "Another time." } },
  );
  b.keyword("lead", (ctx) => ctx.start(form));
});

describe("what people write and read", () => {
  it("is answered, in order", async () => {
    const chat = await chatWith([ping]);

    await chat.user("ping");

    expect(await chat.expect("pong")).toMatchObject({ kind: "text", text: "pong" });
    await chat.expectNothing();
    expect(chat.transcript()).toEqual(["user: ping", "bot: pong"]);
  });

  it("rejects what was not said, with the transcript and the decision", async () => {
    const chat = await chatWith([ping]);
    await chat.user("ping");

    await expect(chat.expect("pang")).rejects.toThrow(
      'The bot was to say "pang", and has said "pong".\n\nuser: ping\nbot: pong\n\nDecided: bot:bot by keyword:ping: bot:bot answered',
    );
    await expect(chat.expect(/nothing like it/)).rejects.toThrow("/nothing like it/");
    await chat.expect("pong");
    await expect(chat.expect("pong")).rejects.toThrow("has said nothing more");
    await chat.user("ping");
    await expect(chat.expectNothing()).rejects.toThrow('The bot was to say nothing, and has said "pong".');
    await expect(chat.expectSilence()).rejects.toThrow("was to say nothing");
  });

  it("shows the line of the test that was wrong", async () => {
    const chat = await chatWith([ping]);
    await chat.user("ping");
    const wrong = () => chat.expect("pang");
    const lines = readFileSync(import.meta.filename, "utf8").split("\n");
    const line = lines.findIndex((text) => text.includes("const wrong =")) + 1;

    const { stack = "" } = (await wrong().catch((error: unknown) => error)) as Error;

    expect(stack.split("\n").find((frame) => /^\s+at /.test(frame))).toContain(`chat.test.ts:${line}:`);
  });

  const throwing = defineBot((b) => {
    b.keyword("flow", (ctx) => ctx.start(broken));
    const broken = b.flow("broken", async (f) => {
      await f.text("name", "Name?");
      throw new RangeError("no such name");
    });
    b.tap(({ text }) => {
      if (text === "tap") throw new RangeError("no such text");
    });
    b.keyword("later", (ctx) => ctx.after("1h", "late"));
    b.timer("late", () => {
      throw new RangeError("too late");
    });
    b.fallback(() => {
      throw new RangeError("no such order");
    });
  });

  it("says why a handler has said nothing", async () => {
    const chat = await chatWith([throwing], { allowErrors: true });
    await chat.user("x");

    await expect(chat.expect("y")).rejects.toThrow(/Logged: the handler threw.*no such order/);
    await chat.expectSilence("failed");
    await expect(chat.expectSilence("takeover")).rejects.toThrow("silent because of takeover");
  });

  it("fails the test when a handler, a flow, an observer or a timer throws", async () => {
    const chat = await chatWith([throwing]);
    const failure = (await chat.user("x").catch((error: unknown) => error)) as Error;

    expect(failure).toMatchObject({ name: "BotFailedError", cause: { message: "no such order" } });
    expect(failure.message).toMatch(
      /^The bot "bot" failed at fallback: RangeError: no such order\n.*allowErrors: true/,
    );
    expect(failure.stack?.split("\n").find((frame) => /^\s+at /.test(frame))).toContain("chat.test.ts:");
    // Told once.
    await chat.user("flow");
    await chat.expect("Name?");
    await expect(chat.user("Ana")).rejects.toThrow('"bot" failed at flow:broken: RangeError: no such name');
    await expect(chat.user("tap")).rejects.toThrow('"bot" failed at ');
    await chat.user("later");
    await expect(chat.advance("2h")).rejects.toThrow('"bot" failed at timer:late: RangeError: too late');
  });

  it("is votes, files, places, cards, reactions and edits too", async () => {
    const chat = await chatWith([
      defineBot((b) => {
        b.on("poll:vote", (ctx) => ctx.reply(`voted ${ctx.message.poll.selected?.join("+")}`));
        b.on("media:image", async (ctx) => {
          const { bytes, mimetype } = await ctx.file();
          ctx.reply(`${mimetype} ${bytes.toString()} ${ctx.text}`);
        });
        b.on("location", (ctx) => ctx.reply(`at ${ctx.message.location.latitude}`));
        b.on("contact", (ctx) => ctx.reply(`card of ${ctx.message.contacts[0]?.name}`));
        b.on("reaction", (ctx) => ctx.reply(`felt ${ctx.message.reaction.emoji}`));
        b.on("edit", (ctx) => ctx.reply(`now ${ctx.text}`));
        b.on("quoted", (ctx) => ctx.reply(`about ${ctx.message.quoted?.text}`));
        b.keyword("poll", (ctx) => ctx.poll("Which?", ["a", "b", "c"], { multiple: true }));
        b.fallback((ctx) => ctx.react("👍"));
      }),
    ]);

    await chat.user("poll");
    const poll = await chat.expect({ kind: "poll", text: "Which?", options: ["a", "b", "c"] });
    await expect(chat.vote("d")).rejects.toThrow('no option "d"; it has a, b, c');
    await chat.vote("c", "a");
    await chat.expect("voted a+c");
    await chat.media("image", { caption: "look", bytes: Buffer.from("pixels") });
    await chat.expect("image/jpeg pixels look");
    await chat.location({ latitude: 52.5, longitude: 13.4 });
    await chat.expect("at 52.5");
    await chat.card("Ben", "49301234");
    await chat.expect("card of Ben");
    await chat.react("❤");
    await chat.expect("felt ❤");
    await chat.user("hm");
    await chat.expect({ kind: "reaction", text: "👍" });
    await chat.edit("hmm");
    await chat.expect("now hmm");
    await chat.user({ text: "this", quote: poll.id });
    await chat.expect("about Which?");
    expect(chat.transcript()).toContain("user: [vote] a / c");
  });

  it("is quiet when everything has left, however much it is", async () => {
    const chat = await chatWith([
      defineBot((b) => {
        b.keyword("all", (ctx) => {
          for (let count = 1; count <= 50; count++) ctx.reply(`${count}`);
        });
      }),
    ]);
    await chat.user("all");

    expect(chat.replies().map(({ text }) => text)).toEqual(
      Array.from({ length: 50 }, (_, index) => `${index + 1}`),
    );
  });

  it("may come too late, and stays without an answer when nobody has one", async () => {
    const chat = await chatWith([ping]);
    await chat.user({ text: "ping", late: 2 * 3600 });
    await chat.expectSilence("too_old");
    await chat.user("what?");
    await chat.expectSilence("nobody");

    expect((await chat.decisions()).map(({ guard }) => guard)).toEqual(["too_old", null]);
  });

  it("is not waited for without end", async () => {
    const hanging = defineBot((b) => b.keyword("hang", () => new Promise<void>(() => undefined)));
    const limited = await chatWith([hanging], { botTimeoutMs: 50, allowErrors: true });
    await limited.user("hang");
    await limited.expectSilence("timed_out");

    const strict = await chatWith([hanging], { botTimeoutMs: 50 });
    await expect(strict.user("hang")).rejects.toThrow(
      "failed at keyword:hang: Error: the handler did not return within 50 ms",
    );

    const chat = await chatWith([hanging], { patienceMs: 200 });
    await expect(chat.user("hang")).rejects.toThrow(
      "The chat does not come to rest: a message has no decision: its handler has not returned, after 0.2 s.",
    );
  });

  it("comes from other people and in groups", async () => {
    const chat = await chatWith([
      defineBot({ chats: ["dm", "group"] }, (b) => {
        b.keyword("hi", (ctx) => ctx.reply(`Hello ${ctx.from.name} in a ${ctx.chat.kind}`));
        b.keyword("tell", (ctx) => ctx.sendTo(ctx.from.number!, `psst ${ctx.from.name}`));
      }),
    ]);
    const ben = chat.as("Ben");
    const group = chat.group("Friends", ["Ana", "Ben"]);

    await ben.user("hi");
    await ben.expect("Hello Ben in a dm");
    await group.user("hi");
    await group.expect("Hello Ana in a group");
    await group.as("Ben").user("hi");
    await group.expect("Hello Ben in a group");
    await group.as("Ben").user("tell");
    await ben.expect("psst Ben");
    await group.expectNothing();
    await chat.expectNothing();
    expect(() => group.as("Cem")).toThrow('Cem is not in the group "Friends".');
    expect(group.transcript()).toEqual([
      "Ana: hi",
      "bot: Hello Ana in a group",
      "Ben: hi",
      "bot: Hello Ben in a group",
      "Ben: tell",
    ]);
  });

  it("comes in bursts, which a bot may take as one", async () => {
    const merging = defineBot({ burst: { merge: "8s" } }, (b) =>
      b.fallback((ctx) => ctx.reply(ctx.text.replaceAll("\n", "+"))),
    );
    const chat = await chatWith([merging]);
    const [began, realBegan] = [chat.now().getTime(), performance.now()];
    await chat.burst(["a", "b", "c"]);
    expect(await chat.expect("a+b+c")).toMatchObject({ kind: "text" });
    // The eight seconds pass on the chat's clock, and nobody waits for them.
    expect(chat.now().getTime() - began).toBeGreaterThanOrEqual(8_000);
    expect(performance.now() - realBegan).toBeLessThan(4_000);

    const each = await chatWith([ping]);
    await each.burst(["ping", "ping"]);
    await each.expect("pong");
    await each.expect("pong");
    await each.expectNothing();
  });

  it("comes from many at once, each in an order of its own", async () => {
    const chat = await chatWith([lead]);

    const people = await chat.parallel(20, async (person, index) => {
      await person.user("lead");
      await person.expect("Your name?");
      await person.user(`N${index}`);
      await person.expect("Your e-mail?");
      await person.user(`n${index}@example.com`);
      await person.expect(`Thanks, N${index} (n${index}@example.com)`);
    });

    expect(people).toHaveLength(20);
    expect(Object.keys(chat.transcripts())).toHaveLength(21);
  });
});

describe("the number's owner", () => {
  it("silences the bots of a chat by writing there", async () => {
    const chat = await chatWith([ping]);

    await chat.ownerTypes("I am here");
    await chat.user("ping");
    await chat.expectSilence("takeover");
    await chat.advance("31m");
    await chat.user("ping");

    await chat.expect("pong");
    expect((await chat.decisions()).map(({ by, guard }) => by ?? guard)).toEqual([
      "owner",
      "takeover",
      "bot:bot",
    ]);
  });
});

describe("a kill", () => {
  it("loses what is in memory and nothing else", async () => {
    let starts = 0;
    const counting: AnyBot = (b) => {
      starts++;
      let heard = 0;
      b.keyword("count", (ctx) => ctx.reply(`${++heard}`));
    };
    const chat = await chatWith({ counting, lead });
    await chat.user("count");
    await chat.user("count");
    await chat.user("lead");
    await chat.kill();
    await chat.user("Ana");
    await chat.user("count@example.com");
    await chat.user("count");

    expect(chat.replies().map(({ text }) => text)).toEqual([
      "1",
      "2",
      "Your name?",
      "Your e-mail?",
      "Thanks, Ana (count@example.com)",
      "1",
    ]);
    expect(starts).toBe(2);
  });

  it("in the middle of a handler: the message is handled again, and what came late says nothing", async () => {
    let begun = 0;
    const go: (() => void)[] = [];
    const chat = await chatWith([
      defineBot((b) => {
        b.keyword("slow", async (ctx) => {
          begun++;
          await new Promise<void>((resolve) => void go.push(resolve));
          ctx.reply("done");
        });
      }),
    ]);
    const asked = chat.user("slow");
    await vi.waitFor(() => expect(begun).toBe(1));

    await chat.kill();
    await vi.waitFor(() => expect(begun).toBe(2));
    for (const end of go) end();
    await asked;

    await chat.expect("done");
    await chat.expectNothing();
  });

  it("starts with other bots when the test hands in a function", async () => {
    let version = 1;
    const chat = await chatWith(() => {
      const text = `version ${version}`;
      return [defineBot((b) => b.keyword("v", (ctx) => ctx.reply(text)))];
    });
    await chat.user("v");
    version = 2;
    await chat.kill();
    await chat.user("v");

    expect(chat.replies().map(({ text }) => text)).toEqual(["version 1", "version 2"]);
  });
});

describe("the clock", () => {
  it("stands still until it is moved; what is due on the way happens", async () => {
    const chat = await chatWith([lead], { now: "2026-03-01T08:00:00Z" });
    expect(chat.now().toISOString()).toBe("2026-03-01T08:00:00.000Z");
    await chat.user("lead");
    await chat.expect("Your name?");
    await expect(chat.expectReminder()).rejects.toThrow("was to remind by itself");

    await chat.advance("9m");
    await chat.expectNothing();
    await chat.advance("2m");
    await chat.expectReminder("Still there?");
    await chat.expect("Your name?");
    await chat.kill();
    await chat.advance("1h");

    await chat.expect("Another time.");
    expect(chat.now().toISOString()).toBe("2026-03-01T09:11:00.000Z");
  });

  it("is the bot's too", async () => {
    const chat = await chatWith([
      defineBot((b) => {
        b.keyword("later", (ctx) => ctx.after("3d", "wake", { at: ctx.now() }));
        b.timer("wake", (ctx) => ctx.reply(`${ctx.now() - (ctx.timer!.data as { at: number }).at}`));
      }),
    ]);
    await chat.user("later");
    await chat.advance("30d");

    expect(await chat.expectReminder()).toMatchObject({ text: String(3 * 86_400_000) });
  });
});

describe("settings", () => {
  const shop = defineBot<{ name?: string }, { visits: number }>(
    { session: { initial: () => ({ visits: 0 }) } },
    (b) => {
      b.keyword("hi", (ctx) => {
        ctx.session.visits++;
        ctx.reply(ctx.t("welcome", { name: ctx.config.name, count: ctx.session.visits }));
      });
    },
  );

  it("reach the bot: config, texts, number, contact", async () => {
    const locales = { en: { welcome: "Welcome to {name}, {count}" } };
    const chat = await chatWith([shop], { config: { name: "Luigi" }, locales });
    expect(await chat.session()).toBeNull();
    await chat.user("hi");
    await chat.expect("Welcome to Luigi, 1");
    await chat.user("hi");

    expect(await chat.session()).toEqual({ visits: 2 });
    const many = await chatWith({ shop, ping }, { config: { shop: { name: "Mario" } }, locales });
    await many.user("hi");
    await many.expect("Welcome to Mario, 1");
    expect(await many.session("shop")).toEqual({ visits: 1 });
    await expect(many.session()).rejects.toThrow("session() needs the id of a bot: ping, shop.");
  });

  it("of a bot that cannot work are refused at once", async () => {
    await expect(createTestChat([{ routes: 3 } as never])).rejects.toThrow(
      'The bot "bot" cannot be used: TypeError: The default export is not a bot.',
    );
    await expect(createTestChat([])).rejects.toThrow("createTestChat needs a bot");
  });
});

describe("a webhook", () => {
  it("stands behind the bots, and its answers are read as the gateway reads them", async () => {
    const events: unknown[] = [];
    const chat = await chatWith([ping], {
      webhook(event) {
        events.push(event.text);
        return event.text === "two" ? { replies: [{ text: "one" }, { text: "two" }] } : undefined;
      },
    });
    await chat.user("ping");
    await chat.expect("pong");
    await chat.user("two");
    await chat.expect("one");
    await chat.expect("two");
    await chat.user("else");

    await chat.expectSilence("webhook");
    expect(events).toEqual(["two", "else"]);
    const brief = await chatWith([ping], { webhook: (event) => `wh:${String(event.text)}` });
    await brief.user("x");
    await brief.expect("wh:x");
  });

  it("that fails in the test fails the test", async () => {
    const chat = await chatWith([ping], {
      webhook() {
        throw new Error("wrong in the test");
      },
    });

    await expect(chat.user("x")).rejects.toThrow("wrong in the test");
  });
});
