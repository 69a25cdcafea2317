import { describe, expect, it, onTestFinished } from "vitest";
import { defineBot, type FlowContext } from "../../../src/bot/index.ts";
import { createTestChat, type TestChat } from "../../../src/testing/index.ts";

type Body = (f: FlowContext) => unknown;

const bot = (body: Body) =>
  defineBot((b) => {
    const flow = b.flow("booking", body as never);
    b.keyword("go", (ctx) => ctx.start(flow));
  });

/** Every text of a conversation in its order, what the person writes behind `>`. `kill` and other code are steps of it. */
async function talk(first: Body, ...steps: (string | Body | { kill: true })[]): Promise<string[]> {
  const chat: TestChat = await createTestChat({ shop: bot(first) });
  onTestFinished(() => chat.close());
  const said: string[] = [];
  let seen = 0;
  for (const step of ["go", ...steps]) {
    if (typeof step === "function") await chat.deploy({ shop: bot(step) });
    else if (typeof step === "object") await chat.kill();
    else {
      await chat.user(step);
      said.push(`> ${step}`);
    }
    const replies = chat.replies();
    for (const reply of replies.slice(seen)) {
      const { text, kind } = reply as { text?: string; kind: string };
      said.push(text ?? kind);
    }
    seen = replies.length;
  }
  return said;
}

describe("change", () => {
  const days: Body = async (f) => {
    const people = await f.number("people", "How many?");
    const day = await f.choice("day", "Day?", people > 4 ? ["Mon"] : ["Mon", "Tue", "Wed"]);
    const ok = await f.confirm("ok", "Right?");
    f.say(`done ${people} ${day} ${ok}`);
  };

  it("asks again for an answer that is not offered any more", async () => {
    expect(await talk(days, "2", "Wed", "change people", "6", "Mon", "yes")).toEqual([
      "> go",
      "How many?",
      "> 2",
      "Day?\n\n1. Mon\n2. Tue\n3. Wed",
      "> Wed",
      "Right?",
      "> change people",
      "How many?",
      "> 6",
      "Day?\n\n1. Mon",
      "> Mon",
      "Right?",
      "> yes",
      "done 6 Mon true",
    ]);
  });

  it("asks again for an item of a list that is not in it any more, and for no other", async () => {
    const slots: Body = async (f) => {
      const people = await f.number("people", "How many?");
      const list = people > 4 ? [{ id: 1, day: "Mon" }] : ["Mon", "Tue"].map((day, id) => ({ id, day }));
      const slot = await f.choose("day", "Day?", list, ({ day }) => day);
      await f.text("note", "Note?");
      f.say(`done ${people} ${JSON.stringify(slot)}`);
    };
    expect((await talk(slots, "2", "Tue", "change people", "3")).slice(-2)).toEqual(["> 3", "Note?"]);
    expect((await talk(slots, "2", "Tue", "change people", "6", "1", "-")).slice(-5)).toEqual([
      "Day?\n\n1. Mon",
      "> 1",
      "Note?",
      "> -",
      'done 6 {"id":1,"day":"Mon"}',
    ]);
  });

  it("asks for a confirmation again when what it confirmed is another", async () => {
    const pay: Body = async (f) => {
      const a = await f.text("a", "What?");
      const ok = await f.confirm("ok", `Pay 10 for ${a}?`);
      const z = await f.text("z", "Anything else?");
      f.say(`${a} ${ok} ${z}`);
    };
    expect(await talk(pay, "apple", "yes", "change a", { kill: true }, "car", "yes", "no")).toEqual([
      "> go",
      "What?",
      "> apple",
      "Pay 10 for apple?",
      "> yes",
      "Anything else?",
      "> change a",
      "What?",
      "> car",
      "Pay 10 for car?",
      "> yes",
      "Anything else?",
      "> no",
      "car true no",
    ]);
    expect((await talk(pay, "apple", "yes", "change a", "apple")).slice(-2)).toEqual([
      "> apple",
      "Anything else?",
    ]);
  });

  it("asks for a question again that says what it depends on", async () => {
    const pay: Body = async (f) => {
      const a = await f.text("a", "What?");
      await f.confirm("ok", "Is that right?", { of: a });
      await f.text("z", "Anything else?");
    };
    expect((await talk(pay, "apple", "yes", "change a", "car")).slice(-1)).toEqual(["Is that right?"]);
  });

  it("asks again for a field whose list is made when it is asked", async () => {
    const { fields } = await import("../../../src/bot/index.ts");
    const list: Body = async (f) => {
      const people = await f.number("people", "How many?");
      const day = await f.ask(
        "day",
        fields.choice("Day?", () => (people > 4 ? ["Mon"] : ["Mon", "Tue"])),
      );
      await f.text("note", "Note?");
      f.say(`done ${people} ${day}`);
    };
    expect((await talk(list, "2", "Tue", "change people", "6", "1", "-")).slice(-5)).toEqual([
      "Day?\n\n1. Mon",
      "> 1",
      "Note?",
      "> -",
      "done 6 Mon",
    ]);
  });
});

describe("a deploy", () => {
  const booked: string[] = [];
  const summary =
    (...more: string[]): Body =>
    async (f) => {
      const what = [await f.text("name", "Name?")];
      for (const key of more) what.push(await f.text(key, `What ${key}?`));
      if (!(await f.confirm("ok", `Book for ${what.join(" at ")}?`))) return;
      await f.step("book", () => void booked.push(what.join(" at ")));
      f.say(`booked ${what.join(" at ")}`);
    };

  it("that asks more before an open summary has the summary confirmed that shows it", async () => {
    expect(await talk(summary(), "Ana", summary("hour"), "yes", "20:00", "yes")).toEqual([
      "> go",
      "Name?",
      "> Ana",
      "Book for Ana?",
      "> yes",
      "What hour?",
      "> 20:00",
      "Book for Ana at 20:00?",
      "> yes",
      "booked Ana at 20:00",
    ]);
    expect(booked).toEqual(["Ana at 20:00"]);
  });

  it("that says the summary before it asks whether it is right, has it confirmed as well", async () => {
    const said =
      (hasHour: boolean): Body =>
      async (f) => {
        let what = await f.text("name", "Name?");
        if (hasHour) what += ` at ${await f.text("hour", "What hour?")}`;
        f.say(`Book for ${what}`);
        await f.confirm("ok", "Right?");
        f.say("booked");
      };
    expect((await talk(said(false), "Ana", said(true), "yes", "20:00", "yes")).slice(-5)).toEqual([
      "> 20:00",
      "Book for Ana at 20:00",
      "Right?",
      "> yes",
      "booked",
    ]);
  });

  it("with another price has it confirmed again, whether the answer is given or open", async () => {
    const pay =
      (price: number): Body =>
      async (f) => {
        await f.confirm("ok", `Pay ${price}?`);
        await f.text("z", "Anything else?");
        f.say(`paid ${price}`);
      };
    expect((await talk(pay(10), "yes", pay(20), "no", "yes")).slice(-4)).toEqual([
      "> no",
      "Pay 20?",
      "> yes",
      "paid 20",
    ]);
    expect((await talk(pay(10), pay(20), "yes", "yes")).slice(-4)).toEqual([
      "> yes",
      "Pay 20?",
      "> yes",
      "Anything else?",
    ]);
  });

  const choosing =
    (before: readonly string[], list: readonly string[]): Body =>
    async (f) => {
      for (const key of before) await f.text(key, `${key}?`);
      const slot = await f.choose("slot", "Which?", list, (one) => one);
      await f.step("book", () => slot);
      f.say(`booked ${slot}`);
    };

  it("that adds a question before an open list takes what was chosen from it, over kills", async () => {
    const kill = { kill: true } as const;
    const two = choosing(["name", "size"], ["Mon", "Tue"]);
    const talked = await talk(choosing([], ["Mon", "Tue"]), two, kill, "2", kill, "Ana", kill, "large");
    expect(talked.slice(-6)).toEqual(["> 2", "name?", "> Ana", "size?", "> large", "booked Tue"]);
  });

  it("that adds a question, and then another, takes it still", async () => {
    const one = choosing(["name"], ["Mon", "Tue"]);
    const two = choosing(["name", "size"], ["Mon", "Tue"]);
    const talked = await talk(choosing([], ["Mon", "Tue"]), one, "2", two, "Ana", "large");
    expect(talked.slice(-4)).toEqual(["> Ana", "size?", "> large", "booked Tue"]);
  });

  it("that takes what was chosen out of the list has it asked again: open, and answered", async () => {
    expect((await talk(choosing([], ["Mon", "Tue"]), choosing([], ["Mon"]), "2", "1")).slice(-5)).toEqual([
      "> 2",
      "Sorry, that is no longer available.",
      "Which?\n\n1. Mon",
      "> 1",
      "booked Mon",
    ]);
    const then =
      (list: string[]): Body =>
      async (f) => {
        const slot = await f.choose("slot", "Which?", list, (day) => day);
        await f.text("note", "Note?");
        f.say(`booked ${slot}`);
      };
    expect((await talk(then(["Mon", "Tue"]), "2", then(["Mon"]), "-", "1")).slice(-4)).toEqual([
      "> -",
      "Which?\n\n1. Mon",
      "> 1",
      "booked Mon",
    ]);
  });

  it("that makes another kind of question of it never hands on null, nor what the other kind had", async () => {
    const kinds: Record<string, Body> = {
      choose: async (f) => {
        const day = await f.choose("day", "Day?", ["Mon", "Tue"], (one) => one);
        f.say(`booked ${String(day)}`);
      },
      choice: async (f) => f.say(`booked ${await f.choice("day", "Day?", ["Mon", "Tue"])}`),
      text: async (f) => f.say(`booked ${await f.text("day", "Day?")}`),
      number: async (f) => f.say(`booked ${await f.number("day", "Day?")}`),
    };
    for (const first of Object.values(kinds))
      for (const second of Object.values(kinds)) {
        const talked = await talk(first, second, "2", "1");
        expect(talked.join("\n")).not.toMatch(/null|undefined|item-/);
        expect(talked.filter((text) => text.startsWith("booked "))).toHaveLength(1);
      }
  });

  it("after which a question must be answered has it asked when it was skipped", async () => {
    const email =
      (options: object): Body =>
      async (f) => {
        const mail = await f.email("mail", "E-mail?", options);
        await f.text("note", "Note?");
        f.say(`booked ${mail}`);
      };
    expect((await talk(email({ skip: "skip" }), "skip", email({}), "-", "a@b.de")).slice(-4)).toEqual([
      "> -",
      "E-mail?",
      "> a@b.de",
      "booked a@b.de",
    ]);
  });
});

describe("a form", () => {
  it("whose summary is open when a deploy asks more, has the summary confirmed that shows it", async () => {
    const form = (...more: string[]) =>
      defineBot((b) => {
        const { text, confirm } = b.fields;
        const words = (values: object): string =>
          ["name", ...more].map((key) => (values as Record<string, string>)[key]).join(" at ");
        const booking = b.form(
          "booking",
          {
            name: text("Name?"),
            ...Object.fromEntries(more.map((key) => [key, text(`What ${key}?`)])),
            ok: confirm((_ctx, values) => `Book for ${words(values)}?`),
          },
          (ctx, values) => ctx.reply(`booked ${words(values)}`),
        );
        b.keyword("go", (ctx) => ctx.start(booking));
      });
    const chat = await createTestChat({ shop: form() });
    onTestFinished(() => chat.close());
    for (const text of ["go", "Ana"]) await chat.user(text);
    await chat.deploy({ shop: form("hour") });
    for (const text of ["yes", "20:00", "yes"]) await chat.user(text);
    expect(chat.replies().map(({ text }) => text)).toEqual([
      "Name?",
      "Book for Ana?",
      "What hour?",
      "Book for Ana at 20:00?",
      "booked Ana at 20:00",
    ]);
  });
});
