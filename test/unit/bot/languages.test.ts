import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fields } from "../../../src/bot/index.ts";
import type { Routes } from "../../../src/bot/types.ts";
import { readLocales } from "../../../src/bot/files/locales.ts";
import { bot, startBots } from "./harness.ts";

const offGuard = { env: { LOOP_GUARD_PER_MINUTE: "0" } };

it("a number's language is its bot's, also of a bot whose schema does not know it", async () => {
  const bots = await startBots(
    {
      a: { config: z.object({}), routes: (b: Routes) => b.keyword("hi", (ctx) => ctx.reply(ctx.t("hello"))) },
    },
    { config: { locale: "es" }, locales: { en: { hello: "Hello" }, es: { hello: "Hola" } } },
  );
  await bots.say("hi");
  expect(bots.heard()).toEqual(["Hola"]);
});

describe("what is no choice of a menu", () => {
  const menuOf = (more: object = {}) =>
    bot((b: Routes) => {
      const menu = b.menu("m", { text: "Which?", options: { a: { label: "A", reply: "a!" } }, ...more });
      b.keyword("menu", (ctx) => ctx.start(menu));
      b.keyword("hours", (ctx) => ctx.reply("9 to 18"));
    });
  const other = bot((b) => b.keyword("ping", (ctx) => ctx.reply("pong")));

  it("is for other routes and other bots, and the menu stays open", async () => {
    const bots = await startBots({ a: menuOf(), z: other }, offGuard);
    for (const text of ["menu", "hours", "ping", "whatever", "1"]) await bots.say(text);
    expect(bots.heard()).toEqual(["Which?\n\n1. A", "9 to 18", "pong", "a!"]);
  });

  it("is asked for again where the menu says so", async () => {
    const bots = await startBots({ a: menuOf({ otherwise: "ask_again" }), z: other }, offGuard);
    for (const text of ["menu", "ping"]) await bots.say(text);
    expect(bots.heard().slice(1)).toEqual(["Sorry, I did not understand that.", "Which?\n\n1. A"]);
  });
});

describe("a file, a place or a contact where something else is wanted", () => {
  const form = bot((b: Routes) => {
    const f = b.form(
      "f",
      {
        name: fields.text("Name?", { retry: "That is no name." }),
        size: fields.choice("Size?", ["S", "M"]),
        photo: fields.file("Photo?", { kinds: ["image"] }),
        place: fields.location("Where?"),
      },
      (ctx, { name, size, photo }) => ctx.reply(`${name} ${size} ${photo.kind}`),
      { tries: 1 },
    );
    b.keyword("go", (ctx) => ctx.start(f));
  });
  const media = (kind: "image" | "voice") => ({
    type: kind,
    text: "look",
    media: { kind, mimetype: "x/y", fileName: "", size: 1 },
  });
  const location = {
    type: "location" as const,
    location: { latitude: 1, longitude: 2, name: null, address: null },
  };

  it("says what is wanted, and uses up no try", async () => {
    const bots = await startBots({ a: form }, offGuard);
    const said = async (message: never): Promise<string[]> => {
      await bots.say(message);
      return bots.heard();
    };
    expect(await said("go" as never)).toEqual(["Name?"]);
    for (const what of [media("voice"), media("image"), location])
      expect(await said(what as never)).toEqual(["Please answer in writing.", "Name?"]);
    expect(await said("Ana" as never)).toEqual(["Size?\n\n1. S\n2. M"]);
    expect(await said(media("image") as never)).toEqual(["Please answer in writing.", "Size?\n\n1. S\n2. M"]);
    expect(await said("M" as never)).toEqual(["Photo?"]);
    expect(await said(location as never)).toEqual(["Please send a file for this.", "Photo?"]);
    expect(await said(media("voice") as never)).toEqual(["Please send a file for this.", "Photo?"]);
    expect(await said(media("image") as never)).toEqual(["Where?"]);
    expect(await said(media("image") as never)).toEqual(["Please share a location for this.", "Where?"]);
    expect(await said(location as never)).toEqual(["Ana M image"]);
  });
});

describe("dialogues", () => {
  const form = bot((b: Routes) => {
    const f = b.form(
      "f",
      { n: fields.number("?"), ok: fields.confirm("OK?", { onNo: "go_on" }) },
      (ctx, { ok }) => ctx.reply(String(ok)),
    );
    b.prefix("go", (ctx) => {
      ctx.setLocale(ctx.match);
      ctx.start(f);
    });
  });

  it.each([
    ["es", "Perdón, no lo he entendido.", "Sí", "true", "Cancelar", "De acuerdo, cancelado."],
    ["pt-BR", "Desculpe, não entendi.", "não", "false", "cancelar", "Tudo bem, cancelado."],
    ["id", "Maaf, saya tidak mengerti.", "tidak", "false", "batal", "Baik, dibatalkan."],
    ["en", "Sorry, I did not understand that.", "yes", "true", "stop", "All right, cancelled."],
    ["xx", "Sorry, I did not understand that.", "yes", "true", "cancel", "All right, cancelled."],
    ["es", "Perdón, no lo he entendido.", "no", "false", "stop", "De acuerdo, cancelado."],
  ])("speak and understand %s", async (language, retry, word, value, cancel, cancelled) => {
    const bots = await startBots({ a: form }, offGuard);
    for (const text of [`go ${language}`, "x", "1", word, `go ${language}`, cancel]) await bots.say(text);
    expect(bots.heard()).toEqual(["?", retry, "?", "OK?", value, "?", cancelled]);
  });

  it("say nothing twice of a text that is missing, and all of what is", async () => {
    const talk = bot((b: Routes) =>
      b.on("text", (ctx) => {
        ctx.setLocale("es");
        ctx.reply(
          [ctx.t("a.hello"), ctx.t("only.english"), ctx.t("not.there"), ctx.t("Plain words")].join(" | "),
        );
      }),
    );
    const locales = {
      en: { a: { hello: "Hello {name}" }, only: { english: "English" } },
      es: { a: { hello: "Hola {name}" } },
    };
    const bots = await startBots({ a: talk }, { ...offGuard, locales });
    await bots.say("x");
    await bots.say("x");
    expect(bots.heard()[0]).toBe("Hola {name} | English | not.there | Plain words");
    const said = bots.log.lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith("ctx.t"));
    expect(said.map(({ bot: id, key, locale, value }) => [id, key, locale, value])).toEqual([
      ["a", "a.hello", "es", "name"],
      ["a", "only.english", "es", undefined],
      ["a", "not.there", "es", undefined],
    ]);
  });
});

describe("files of texts", () => {
  it("are compared: what one language lacks is said, and what takes other values", () => {
    const { problems } = readLocales({
      en: { hello: "Hello {name}", bye: "Bye", same: "{a} {b}" },
      es: { hello: "Hola {nombre}", same: "{b} {a}", more: "Más" },
      "es-MX": { bye: "Bye" },
    });
    expect(problems).toEqual([
      'locales/en.json has no "more", which es.json has.',
      'locales/es.json: "hello" takes different values from en.json ({name}).',
      'locales/es.json has no "bye", which en.json has.',
    ]);
  });

  it("are said at most 20 times", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, "x"]));
    const { problems } = readLocales({ en: many, es: {} });
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toBe("locales: 80 more texts are missing.");
  });
});
