import { describe, expect, it } from "vitest";
import type { Routes } from "../../../src/bot/types.ts";
import { z } from "zod";
import type { OutboundRequest } from "../../../src/net/safe-fetch.ts";
import { OutboundError, StepFailedError, type FlowContext, type OnChange } from "../../../src/bot/index.ts";
import { bot, startBots } from "./harness.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Body = (f: FlowContext) => unknown;
/** A bot whose one flow begins with "book". */
const booking =
  (body: Body, options = {}) =>
  (b: Routes): void => {
    const flow = b.flow("booking", { expire: "2h", ...options }, body as never);
    b.keyword("book", (ctx) => ctx.start(flow));
    b.keyword("prices", (ctx) => ctx.reply("From 10 €"));
    b.fallback((ctx) => ctx.reply("?"));
  };

const appointment: Body = async (f) => {
  const kind = await f.choice("kind", "What is it about?", { check: "A check-up", pain: "Pain" });
  const name = await f.text("name", "Your full name?", {
    pattern: /\s/,
    retry: "First and last name, please.",
  });
  f.say(`Thank you, ${name}.`);
  if (!(await f.confirm("sure", `${kind} for ${name}?`))) return f.say("As you like.");
  return f.say("We expect you.");
};

describe("a flow", () => {
  it("reads from top to bottom, over kills, and says each thing once", async () => {
    const bots = await startBots({ clinic: booking(appointment) });

    expect(await bots.say("book")).toMatchObject({ trail: [{ detail: "booking begun" }] });
    expect(bots.heard()).toEqual(["What is it about?\n\n1. A check-up\n2. Pain"]);
    await bots.kill();
    expect(await bots.say("2")).toMatchObject({
      by: "bot:clinic",
      route: "flow:booking",
      trail: [{ detail: "kind answered; name asked" }],
    });
    expect(bots.heard()).toEqual(["Your full name?"]);
    await bots.say("Ana");
    expect(bots.heard()).toEqual(["First and last name, please.", "Your full name?"]);
    await bots.kill();
    await bots.say("Ana Mora");
    expect(bots.heard()).toEqual(["Thank you, Ana Mora.", "pain for Ana Mora?"]);
    expect(await bots.say("yes")).toMatchObject({ trail: [{ detail: "sure answered; complete" }] });
    expect(bots.heard()).toEqual(["We expect you."]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_dialogues")).toBe(0);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });

  it("gives up after three tries, ends at a word, expires, and lets keywords answer in between", async () => {
    const bots = await startBots({ clinic: booking(appointment, { texts: { expired: "Too late." } }) });
    await bots.say("book");
    bots.heard();
    await bots.say("prices");
    expect(bots.heard()).toEqual(["From 10 €", "What is it about?\n\n1. A check-up\n2. Pain"]);
    await bots.say("x");
    await bots.say("x");
    bots.heard();
    await bots.say("x");
    expect(bots.heard()).toEqual(["Let us leave it for now. Write again whenever you like."]);

    await bots.say("book");
    await bots.say("cancel");
    expect(bots.heard()).toEqual([expect.stringContaining("What is it"), "All right, cancelled."]);

    await bots.say("book");
    bots.heard();
    await bots.later(3 * HOUR);
    expect(bots.heard()).toEqual(["Too late."]);
  });

  it("goes back, repeats, and takes an answer anew without doing anything twice", async () => {
    const bots = await startBots({ clinic: booking(appointment) });
    await bots.say("book");
    await bots.say("1");
    await bots.say("Ana Mora");
    bots.heard();
    await bots.say("repeat");
    expect(bots.heard()).toEqual(["check for Ana Mora?"]);
    await bots.say("change my name");
    expect(bots.heard()).toEqual(["Your full name?"]);
    await bots.say("Ana Luz Mora");
    expect(bots.heard()).toEqual(["check for Ana Luz Mora?"]);
    await bots.say("back");
    await bots.say("Eva Mora");
    expect(bots.heard()).toEqual(["Your full name?", "check for Eva Mora?"]);
    await bots.say("yes");
    expect(bots.heard()).toEqual(["We expect you."]);
  });

  it("offers a list of run time, and means what was shown", async () => {
    let slots = [{ at: "Thu 9:00" }, { at: "Fri 9:00" }];
    const bots = await startBots({
      clinic: booking(async (f) => {
        const slot = await f.choose("slot", "Which time?", slots, ({ at }) => at);
        f.say(`Booked ${slot.at}`);
      }),
    });
    await bots.say("book");
    expect(bots.heard()).toEqual(["Which time?\n\n1. Thu 9:00\n2. Fri 9:00"]);
    slots = [{ at: "Mon 9:00" }, { at: "Thu 9:00" }];
    await bots.kill();
    await bots.say("1");
    expect(bots.heard()).toEqual(["Booked Thu 9:00"]);
  });

  it("does a step once, with one key at every try, and sleeps between tries", async () => {
    const keys: string[] = [];
    let isAway = true;
    const bots = await startBots({
      clinic: booking(async (f) => {
        const done = await f.step(
          "book",
          (_signal, key) => {
            keys.push(key);
            if (isAway) throw new Error("away");
            return { at: new Date(0) };
          },
          { tries: 3 },
        );
        const at: string = done.at;
        await f.text("name", `Booked ${at}. Your name?`);
        f.say("Thanks.");
      }),
    });
    await bots.say("book");
    expect(bots.heard()).toEqual([]);
    await bots.say("hello");
    expect(bots.heard()).toEqual(["?"]);
    isAway = false;
    await bots.later(3_000);
    expect(bots.heard()).toEqual(["Booked 1970-01-01T00:00:00.000Z. Your name?"]);
    await bots.kill();
    await bots.say("Ana");
    expect(bots.heard()).toEqual(["Thanks."]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  it("ends a step at its timeout, whether or not the work listens to its signal", async () => {
    const reasons: unknown[] = [];
    const bots = await startBots({
      clinic: booking(async (f) => {
        const work = (signal: AbortSignal): Promise<never> => {
          signal.addEventListener("abort", () => reasons.push((signal.reason as Error).name));
          return new Promise(() => undefined);
        };
        const away = await f.step("book", work, { timeout: "20ms" }).catch((error: Error) => error.message);
        await f.text("phone", `${String(away)} Your number?`);
      }),
    });
    await bots.say("book");
    expect(bots.heard()).toEqual(["It took longer than 20ms. Your number?"]);
    expect(reasons).toEqual(["TimeoutError"]);
  });

  it.each([
    ["the other side refuses it", Object.assign(new Error("no"), { status: 422 }), 1],
    ["a guard refuses it", new OutboundError("not_allowed", "no"), 1],
    ["axios says so", Object.assign(new Error("no"), { response: { status: 404 } }), 1],
    ["it came too often", Object.assign(new Error("no"), { status: 429 }), 3],
    ["it came too early", Object.assign(new Error("no"), { status: 425 }), 3],
    ["it took too long", Object.assign(new Error("no"), { statusCode: 408 }), 3],
    ["the server fails", Object.assign(new Error("no"), { status: 503 }), 3],
    ["nobody answers", new OutboundError("unreachable", "no"), 3],
  ])("tries a step again only when that may help: %s", async (_why, error, expected) => {
    let tries = 0;
    const bots = await startBots({
      clinic: booking(async (f) => {
        const work = (): never => {
          tries++;
          throw error;
        };
        const failed = await f.step("book", work, { tries: 3 }).catch((cause: Error) => cause.message);
        f.say(`Failed: ${String(failed)}`);
      }),
    });
    await bots.say("book");
    await bots.later(60_000);
    expect(bots.heard()).toEqual(["Failed: no"]);
    expect(tries).toBe(expected);
  });

  it("may catch a step whose last try has failed, and finds the same failure again", async () => {
    let tries = 0;
    const bots = await startBots({
      clinic: booking(async (f) => {
        try {
          await f.step("book", () => {
            tries++;
            throw new Error("full");
          });
        } catch (error) {
          if (!(error instanceof StepFailedError)) throw error;
          await f.text("phone", `It is ${error.message}. Your number?`);
          f.say("We will call.");
        }
      }),
    });
    await bots.say("book");
    await bots.say("123");
    expect(bots.heard()).toEqual(["It is full. Your number?", "We will call."]);
    expect(tries).toBe(1);
  });

  it("does a step anew when what it depends on has changed", async () => {
    const asked: string[] = [];
    const bots = await startBots({
      clinic: booking(async (f) => {
        const kind = await f.choice("kind", "Kind?", ["a", "b"]);
        const list = await f.step("list", () => (asked.push(kind), [`${kind}1`, `${kind}2`]), { of: kind });
        const slot = await f.choose("slot", "Which?", list, String);
        f.say(slot);
      }),
    });
    await bots.say("book");
    await bots.say("a");
    await bots.say("change kind");
    await bots.say("b");
    bots.heard();
    await bots.say("2");
    expect(bots.heard()).toEqual(["b2"]);
    expect(asked).toEqual(["a", "b"]);
  });

  it("sleeps over a restart, and leaves the chat to others meanwhile", async () => {
    const bots = await startBots({
      clinic: booking(async (f) => {
        f.say("See you in an hour.");
        await f.until("1h");
        await f.confirm("here", "Are you here?");
        f.say("Good.");
      }),
    });
    await bots.say("book");
    await bots.kill();
    await bots.say("hello");
    expect(bots.heard()).toEqual(["See you in an hour.", "?"]);
    await bots.later(HOUR + 1_000);
    expect(bots.heard()).toEqual(["Are you here?"]);
    await bots.say("yes");
    expect(bots.heard()).toEqual(["Good."]);
  });

  it("counts keys in loops, and keeps those of `at` apart", async () => {
    const bots = await startBots({
      clinic: booking(async (f) => {
        const sizes: string[] = [];
        for (const dish of ["soup", "cake"]) sizes.push(await f.at(dish).text("size", `${dish}?`));
        while (!(await f.confirm("sure", "Sure?")));
        f.say(sizes.join());
      }),
    });
    await bots.say("book");
    for (const text of ["big", "small", "no", "yes"]) await bots.say(text);
    expect(bots.heard()).toEqual(["soup?", "cake?", "Sure?", "Sure?", "big,small"]);
  });

  it("is a part of another flow, and begins anew with other input", async () => {
    const bots = await startBots({
      clinic: (b: Routes) => {
        const address = b.flow("address", async (f, { who }: { who: string }) => f.text("street", `${who}?`));
        const order = b.flow("order", async (f, round: number) => {
          const from = await f.run(address, { who: "From" });
          const to = await f.run(address, { who: "To" });
          f.say(`${round}: ${from} → ${to}`);
          if (round < 2) return f.again(round + 1);
        });
        b.keyword("book", (ctx) => ctx.start(order, 1));
      },
    });
    await bots.say("book");
    for (const text of ["A", "B", "C", "D"]) await bots.say(text);
    expect(bots.heard()).toEqual(["From?", "To?", "1: A → B", "From?", "To?", "2: C → D"]);
  });

  it("keeps time and chance the same whenever it runs again", async () => {
    const bots = await startBots({
      clinic: booking(async (f) => {
        const [at, dice] = [f.now(), f.random()];
        await f.text("name", `${at} ${dice}`);
        f.say(`${at} ${dice}`);
      }),
    });
    await bots.say("book");
    await bots.later(MINUTE);
    await bots.say("x");
    const [first, second] = bots.heard();
    expect(first).toBe(second);
  });

  it("hands over to a person, and sends elsewhere once", async () => {
    const bots = await startBots({
      clinic: booking(async (f) => {
        f.sendTo("4915550", "Somebody wants to book");
        await f.text("why", "Why?");
        return f.handoff({ say: "One moment." });
      }),
    });
    await bots.say("book");
    await bots.say("because");
    await bots.say("hello");
    // What answers nobody is paced.
    expect(bots.heard().toSorted()).toEqual(["One moment.", "Somebody wants to book", "Why?"]);
  });
});

describe("a word of another bot in between", () => {
  const sides = (b: Routes): void => {
    b.keyword("hours", (ctx) => {
      ctx.session = { asked: (ctx.session as never as { asked: number }).asked + 1 } as never;
      ctx.reply("9 to 18");
      return ctx.reply("Closed on Sundays");
    });
    b.command("list", (ctx) => ctx.reply(String((ctx.session as never as { asked: number }).asked)));
    const other = b.menu("other", { text: "Other?", options: { a: { label: "A", reply: "a" } } });
    b.keyword("other", (ctx) => ctx.start(other));
    b.keyword("person", (ctx) => ctx.handoff({ say: "One moment." }));
    b.keyword("leave", (ctx) => ctx.leave("Left."));
    b.match(/^odd/, (ctx) => ctx.reply("odd"));
  };
  const start = () =>
    startBots({
      clinic: booking(appointment),
      sides: { priority: 10, session: { initial: () => ({ asked: 0 }) }, routes: sides } as never,
    });
  const question = "What is it about?\n\n1. A check-up\n2. Pain";

  it("is answered, and the question that waits is asked again: once, over kills, with ids of their own", async () => {
    const bots = await start();
    await bots.say("book");
    expect(await bots.say("hours")).toMatchObject({
      by: "bot:sides",
      trail: [
        { outcome: "passed" },
        { outcome: "answered" },
        { by: "bot:clinic", detail: "come back to; kind asked again" },
      ],
    });
    await bots.kill();
    await bots.say("/list");
    await bots.say("repeat");
    await bots.say("1");
    expect(bots.heard()).toEqual([
      question,
      "9 to 18",
      "Closed on Sundays",
      question,
      "1",
      question,
      question,
      "Your full name?",
    ]);
    expect(new Set(bots.line.sent.map(({ waId }) => waId)).size).toBe(bots.line.sent.length);
  });

  it("is not come back from when it begins something else, ends it, or calls a person", async () => {
    for (const [word, answers] of [
      ["other", ["Other?\n\n1. A"]],
      ["leave", ["Left."]],
      ["person", ["One moment."]],
    ] as const) {
      const bots = await start();
      await bots.say("book");
      bots.heard();
      await bots.say(word);
      expect(bots.heard()).toEqual(answers);
    }
  });
});

describe("a wait that is over before it begins", () => {
  it.each([
    [-5, false],
    ["-5m", false],
    [{ at: -5 }, false],
    [{ at: -5, expire: "1m" }, false],
    [{ at: "-2h", expire: "1h" }, true],
    [{ at: -5, expire: -1 }, true],
  ] as const)("goes on at once, and the author sees whether it is late: %o", async (what, late) => {
    const bots = await startBots({
      a: bot((b) => {
        const flow = b.flow("f", async (f) => {
          const woken = await f.until(what as "5m");
          f.say(`late: ${woken.late}`);
        });
        b.keyword("go", (ctx) => ctx.start(flow));
      }),
    });
    await bots.say("go");
    expect(bots.heard()).toEqual([`late: ${late}`]);
  });
});

describe("a flow beside another", () => {
  const clinic = (b: Routes): void => {
    const visit = b.flow("visit", async (f, due: { slot: string; at: number }) => {
      let { slot } = due;
      for (;;) {
        const woken = await f.until({ at: new Date(due.at), signal: "moved" });
        if (woken.signal === null) break;
        slot = String(woken.value);
      }
      if (await f.confirm("coming", `Are you coming on ${slot}?`)) f.say("Good.");
      else f.say("What a pity.");
    });
    const book = b.flow("book", async (f) => {
      const slot = await f.text("slot", "When?");
      f.spawn(visit, "v1", { slot, at: f.now() + 2 * HOUR });
      f.say("Booked.");
    });
    const move = b.flow("move", async (f) => {
      f.send(visit, "v1", "moved", await f.text("slot", "To when?"));
      f.say("Moved.");
    });
    const drop = b.flow("drop", (f) => {
      f.stop(visit, "v1");
      f.say("Dropped.");
    });
    b.keyword("book", (ctx) => ctx.start(book));
    b.keyword("move", (ctx) => ctx.start(move));
    b.keyword("drop", (ctx) => ctx.start(drop));
    b.fallback((ctx) => ctx.reply("?"));
  };

  it("waits for its time or a signal, over kills, and asks then", async () => {
    const bots = await startBots({ clinic });
    await bots.say("book");
    await bots.say("Friday");
    await bots.kill();
    await bots.say("move");
    await bots.say("Monday");
    await bots.settled();
    await bots.kill();
    expect(bots.heard()).toEqual(["When?", "Booked.", "To when?", "Moved."]);
    await bots.later(2 * HOUR + 1_000);
    expect(bots.heard()).toEqual(["Are you coming on Monday?"]);
    await bots.say("no");
    expect(bots.heard()).toEqual(["What a pity."]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });

  it("asks only when nothing else is being asked", async () => {
    const bots = await startBots({ clinic });
    await bots.say("book");
    await bots.say("Friday");
    await bots.later(2 * HOUR - MINUTE);
    await bots.say("move");
    bots.heard();
    await bots.later(3 * MINUTE);
    expect(bots.heard()).toEqual([]);
    await bots.say("Monday");
    await bots.later(2 * MINUTE);
    expect(bots.heard()).toEqual(["Moved.", "Are you coming on Friday?"]);
  });

  it("ends when it is stopped", async () => {
    const bots = await startBots({ clinic });
    await bots.say("book");
    await bots.say("Friday");
    await bots.say("drop");
    bots.heard();
    await bots.later(5 * HOUR);
    expect(bots.heard()).toEqual([]);
    expect(await bots.rows("SELECT count(*) AS n FROM bot_timers")).toBe(0);
  });
});

describe("a deploy under an open flow", () => {
  const after = async (old: Body, now: Body, texts: string[], options = {}): Promise<string[]> => {
    const bots = await startBots({ clinic: booking(old) });
    await bots.say("book");
    for (const text of texts.slice(0, -1)) await bots.say(text);
    bots.heard();
    await bots.kill({ clinic: booking(now, options) });
    await bots.say(texts.at(-1)!);
    return bots.heard();
  };
  const effects: string[] = [];
  const two: Body = async (f) => {
    const name = await f.text("name", "Name?");
    const size = await f.choice("size", "Size?", { s: "Small", l: "Large" });
    f.say(`${name} ${size}`);
  };

  it("asks what was added when it is reached, and keeps the answer that was given meanwhile", async () => {
    const now: Body = async (f) => {
      const name = await f.text("name", "Name?");
      const colour = await f.text("colour", "Colour?");
      const size = await f.choice("size", "Size?", { s: "Small", l: "Large" });
      f.say(`${name} ${colour} ${size}`);
    };
    const bots = await startBots({ clinic: booking(two) });
    await bots.say("book");
    await bots.say("Ana");
    bots.heard();
    await bots.kill({ clinic: booking(now) });
    await bots.say("2");
    await bots.say("blue");
    expect(bots.heard()).toEqual(["Colour?", "Ana blue l"]);
  });

  it("asks again for what is no answer any more, and for nothing else", async () => {
    const now: Body = async (f) => {
      const name = await f.text("name", "Full name?", { pattern: /\s/ });
      const size = await f.choice("size", "Size?", { s: "Small", l: "Large" });
      f.say(`${name} ${size}`);
    };
    const bots = await startBots({ clinic: booking(two) });
    await bots.say("book");
    await bots.say("Ana");
    bots.heard();
    await bots.kill({ clinic: booking(now) });
    await bots.say("Small");
    await bots.say("Ana Mora");
    expect(bots.heard()).toEqual(["Full name?", "Ana Mora s"]);
  });

  it("takes a number for what stood beside it", async () => {
    const now: Body = async (f) => {
      const name = await f.text("name", "Name?");
      const size = await f.choice("size", "Size?", { xl: "Huge", s: "Small", l: "Large" });
      f.say(`${name} ${size}`);
    };
    expect(await after(two, now, ["Ana", "1"])).toEqual(["Ana s"]);
  });

  it("does nothing twice when a step has another name, and says when it cannot go on", async () => {
    effects.length = 0;
    const step =
      (key: string, options = {}): Body =>
      async (f) => {
        await f.step(key, () => effects.push(key), options);
        await f.text("name", "Name?");
        f.say("Done.");
      };
    expect(await after(step("pay"), step("charge", { was: "pay" }), ["Ana"])).toEqual(["Done."]);
    expect(effects).toEqual(["pay"]);
    const changed = "Sorry, this has changed meanwhile. Please begin again.";
    expect(await after(step("pay"), step("charge"), ["Ana"])).toEqual([changed]);
    expect(await after(step("pay"), step("charge"), ["Ana"], { onChange: "end" })).toEqual([]);
    const say: OnChange = { say: "Anew, please." };
    expect(await after(step("pay"), step("charge"), ["Ana"], { onChange: say })).toEqual(["Anew, please."]);
    expect(effects).toEqual(["pay", "pay", "pay", "pay"]);
    expect(await after(step("pay"), step("charge"), ["Ana"], { onChange: "restart" })).toEqual(["Name?"]);
    const migrate: OnChange = (journal) => journal.map((entry) => ({ ...entry, key: "charge" }));
    expect(await after(step("pay"), step("charge"), ["Ana"], { onChange: migrate })).toEqual(["Name?"]);
    expect(effects).toEqual(["pay", "pay", "pay", "pay", "pay", "charge", "pay"]);
  });

  it("goes on under a new id that says what it was", async () => {
    const bots = await startBots({ clinic: booking(two) });
    await bots.say("book");
    bots.heard();
    await bots.kill({
      clinic: (b: Routes) => void b.flow("reservation", { was: "booking" }, two as never),
    });
    await bots.say("Ana");
    expect(bots.heard()).toEqual(["Size?\n\n1. Small\n2. Large"]);
  });
});

describe("mistakes in a flow", () => {
  const failed = "Sorry, something went wrong on our side. Please write again.";
  const mistakes: [string, Body, RegExp][] = [
    ["throws", () => Promise.reject(new RangeError("no")), /RangeError at .*flows\.test\.ts:\d+/],
    [
      "asks twice at once",
      (f) => Promise.all([f.text("a", "A?"), f.text("b", "B?")]),
      /FlowMistake at flows\.test\.ts:\d+/,
    ],
    ["does not wait for a question", (f) => void f.text("a", "A?"), /FlowMistake at flows\.test\.ts:\d+/],
    [
      "does not wait for a question, and goes on for long",
      async (f) => {
        void f.text("a", "A?");
        for (let i = 0; i < 100; i++) await Promise.resolve();
      },
      /FlowMistake at flows\.test\.ts:\d+/,
    ],
    [
      "does not wait for a step",
      (f) => (void f.step("a", () => 1), f.text("b", "B?")),
      /FlowMistake at flows\.test\.ts:\d+/,
    ],
    [
      "waits for nobody in a loop",
      async (f) => {
        for (;;) await f.step("a", () => 1);
      },
      /FlowMistake at flows\.test\.ts:\d+/,
    ],
    ["has no options", (f) => f.choose("a", "A?", [], String), /FlowMistake at flows\.test\.ts:\d+/],
    ["has no key", (f) => f.text("" as never, "A?"), /FlowMistake at flows\.test\.ts:\d+/],
    ["begins anew for ever", (f) => f.again(undefined), /FlowMistake/],
  ];
  it.each(mistakes)("ends in words when it %s", async (_what, body, place) => {
    const bots = await startBots({ clinic: booking((f) => (f.say("never"), body(f))) });
    const decision = await bots.say("book");
    expect(bots.heard()).toEqual([failed]);
    expect(decision).toMatchObject({ by: "bot:clinic", trail: [{ detail: expect.stringMatching(place) }] });
    expect(await bots.rows("SELECT count(*) AS n FROM bot_dialogues")).toBe(0);
    await bots.say("hello");
    expect(bots.heard()).toEqual(["?"]);
  });

  it("makes no question anew that is answered, however many there are", async () => {
    let made = 0;
    // Only who makes a question reads which words skip it.
    const options = Object.defineProperty({ max: 20 }, "skip", { get: () => void made++, enumerable: true });
    const bots = await startBots({
      clinic: booking(async (f) => {
        for (let count = 0; count < 30; count++) await f.text(`q-${count}`, `${count}?`, options);
      }),
    });
    await bots.say("book");
    for (let count = 0; count < 29; count++) await bots.say(`answer ${count}`);
    expect(bots.heard().at(-1)).toBe("29?");
    // At each turn the one that takes the answer and the one that is asked.
    expect(made).toBeLessThanOrEqual(2 * 30);
  });

  it("refuses a journal that grows without end, and says what to do", async () => {
    const bots = await startBots({
      clinic: booking(async (f) => {
        for (;;) await f.at(f.now()).text("more", "More?", { max: 65_536 });
      }),
    });
    await bots.say("book");
    for (let count = 0; count < 17; count++) await bots.say(`${count} ${"x".repeat(65_000)}`);
    expect(bots.heard()).toContain(failed);
  });
});

describe("ids of what is said", () => {
  it("are known before it leaves, and the same after a crash: a quoted answer can be related", async () => {
    const known: string[][] = [];
    const bots = await startBots({
      a: (b: Routes) => {
        b.keyword("hi", (ctx) => {
          known.push([
            ctx.reply("one"),
            ctx.poll("Tea?", ["yes", "no"]),
            ctx.sendTo("4915550", "three"),
            ctx.react("👍"),
          ]);
        });
      },
    });
    await bots.say("hi");
    expect(bots.line.sent.map(({ waId }) => waId).toSorted()).toEqual(known[0]!.toSorted());
  });

  it("stay the same whenever a flow runs again, and are others when it begins anew", async () => {
    const known: string[] = [];
    const keys: string[] = [];
    const bots = await startBots({
      a: (b: Routes) => {
        const kitchen = b.flow("kitchen", async (f, round: number) => {
          const said = f.say("Ordering");
          const order = f.sendTo("4915550", "A new order");
          const part = f.at("x").sendTo("4915550", "Another");
          await f.step("pay", (_signal, key) => void keys.push(key));
          const name = await f.text("name", "Your name?");
          known.push([said, order, part, name].join());
          if (round < 2) return f.again(2);
        });
        b.keyword("hi", (ctx) => ctx.start(kitchen, 1));
      },
    });
    const sent = (words: string): string[] =>
      bots.line.sent.filter(({ draft }) => "text" in draft && draft.text === words).map(({ waId }) => waId);
    await bots.say("hi");
    await bots.kill();
    await bots.say("Ana");
    await bots.say("Ben");
    const rounds = ["Ana", "Ben"].map((name, round) =>
      [sent("Ordering")[round], sent("A new order")[round], sent("Another")[round], name].join(),
    );
    expect(known).toEqual(rounds);
    expect(new Set(keys).size).toBe(2);
  });
});

describe("asking a server from a flow", () => {
  const calling = (answers: [number, string][], options: object = {}) => {
    const asked: { method: string; key: string | null; body: string }[] = [];
    const http = {
      close: async () => undefined,
      async request(_address: string, { method, headers = {}, body }: OutboundRequest) {
        const [status, text] = answers[asked.length] ?? answers.at(-1)!;
        asked.push({ method, key: headers["idempotency-key"] ?? null, body: String(body ?? "") });
        return { status, headers: new Headers(), body: Buffer.from(text), url: "" };
      },
    };
    const body: Body = async (f) => {
      const got = await f
        .call<unknown>("call", "https://diary.example", options)
        .catch((error: unknown) => (error as Error).message);
      await f.text("more", `Got ${JSON.stringify(got)}. More?`);
    };
    return { asked, bots: () => startBots({ clinic: booking(body) }, { http: http as never }) };
  };

  it("keeps the answer, tries again under one key, and sends none where nothing changes", async () => {
    const { asked, bots: start } = calling(
      [
        [500, ""],
        [200, '{"n":1}'],
      ],
      { json: { a: 1 }, tries: 2 },
    );
    const bots = await start();
    await bots.say("book");
    await bots.later(3_000);
    await bots.kill();
    await bots.say("x");
    expect(bots.heard()).toEqual(['Got {"n":1}. More?']);
    const [first] = asked;
    expect(asked).toEqual([first, first]);
    expect(first).toEqual({ method: "POST", key: expect.stringMatching(/^\w{20,}$/), body: '{"a":1}' });

    const reading = calling([[204, ""]]);
    const other = await reading.bots();
    await other.say("book");
    expect(other.heard()).toEqual(["Got null. More?"]);
    expect(reading.asked).toEqual([{ method: "GET", key: null, body: "" }]);
  });

  it.each<[string, [number, string], object, RegExp]>([
    ["an error", [503, "{}"], {}, /answered 503/],
    ["what is no JSON", [200, "<html>"], {}, /JSON/],
    ["what does not fit", [200, '{"n":"one"}'], { schema: z.object({ n: z.number() }) }, /does not fit: n/],
  ])("fails for %s", async (_what, answer, options, message) => {
    const bots = await calling([answer], options).bots();
    await bots.say("book");
    expect(bots.heard().join()).toMatch(message);
  });
});
