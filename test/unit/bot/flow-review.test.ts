import { describe, expect, it } from "vitest";
import type { FlowContext, Routes } from "../../../src/bot/index.ts";
import { startBots } from "./harness.ts";

const booking =
  (body: (f: FlowContext) => unknown, locale = "en") =>
  (b: Routes): void => {
    const flow = b.flow("booking", body as never);
    b.keyword("book", (ctx) => {
      ctx.setLocale(locale);
      ctx.start(flow);
    });
  };

const table = async (f: FlowContext): Promise<unknown> => {
  const firstName = await f.text("firstName", "Your name?");
  const people = await f.number("people", "For how many?");
  const inside = await f.confirm("inside", "Inside?");
  const right = await f.review("right", "Is this right?", { firstName, people, inside, price: "20 €" });
  return f.say(right ? `Booked for ${firstName}, ${people}.` : "As you like.");
};

describe("a review", () => {
  it("shows the answers, has each corrected by its name, and books what it showed last", async () => {
    const bots = await startBots({ clinic: booking(table) });
    for (const words of ["book", "Ana", "2", "yes"]) await bots.say(words);
    bots.heard();
    await bots.say("change people");
    await bots.kill();
    await bots.say("we are four");
    await bots.say("first name");
    await bots.say("Eva");
    expect(bots.heard()).toEqual([
      "For how many?",
      "First name: Ana\nPeople: 4\nInside: yes\nPrice: 20 €\n\nIs this right?\nTo correct something, write for instance: change first name",
      "Your name?",
      expect.stringContaining("First name: Eva\nPeople: 4"),
    ]);
    // What is no answer of the flow is shown alone.
    await bots.say("change price");
    expect(bots.heard()[0]).toBe("Sorry, I did not understand that.");
    await bots.say("yes");
    expect(bots.heard()).toEqual(["Booked for Eva, 4."]);
  });

  it("is a no when somebody says no", async () => {
    const bots = await startBots({ clinic: booking(table) });
    for (const words of ["book", "Ana", "2", "yes", "no"]) await bots.say(words);
    expect(bots.heard().at(-1)).toBe("As you like.");
  });

  it.each([
    ["es", "cambiar nombre", "Para corregir algo, escriba por ejemplo: cambiar nombre"],
    ["pt", "mudar nome", "Para corrigir algo, escreva por exemplo: mudar nome"],
    ["id", "ubah nama", "Untuk mengubah sesuatu, tulis misalnya: ubah nama"],
  ])("speaks and understands %s", async (locale, words, hint) => {
    const locales = {
      en: { "field.name": "Name" },
      es: { "field.name": "Nombre" },
      pt: { "field.name": "Nome" },
      id: { "field.name": "Nama" },
    };
    const body = async (f: FlowContext): Promise<unknown> => {
      const name = await f.text("name", "?");
      const labels = { name: "field.name" };
      await f.review("right", "OK?", { name }, { labels });
      return f.say(`Booked ${name}.`);
    };
    const bots = await startBots({ clinic: booking(body, locale) }, { locales });
    await bots.say("book");
    await bots.say("Ana");
    expect(bots.heard().at(-1)).toContain(hint);
    await bots.say(words);
    await bots.say("Eva");
    expect(bots.heard()).toEqual(["?", expect.stringContaining(": Eva")]);
  });

  it("finds the answer of its own part, where a flow asks the same for several", async () => {
    const bots = await startBots({
      clinic: booking(async (f) => {
        for (const guest of [1, 2]) {
          const g = f.at(guest);
          const name = await g.text("name", `Guest ${guest}?`);
          await g.review("right", `Guest ${guest} right?`, { name });
        }
        f.say("Thanks.");
      }),
    });
    for (const words of ["book", "Ana", "yes", "Ben"]) await bots.say(words);
    bots.heard();
    await bots.say("name");
    expect(bots.heard()).toEqual(["Guest 2?"]);
  });

  it("names what cannot be shown", async () => {
    const bots = await startBots({
      clinic: booking((f) => f.review("right", "OK?", { at: new Date(0) as never })),
    });
    await bots.say("book");
    expect(bots.log.text()).toMatch(
      /f\.review\(\): .*is no text\. Give what is to be shown of it: { at: show\(at\) }/,
    );
  });
});
