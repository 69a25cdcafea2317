import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadBots } from "../../../src/bot/files/load.ts";
import { translate } from "../../../src/bot/files/locales.ts";
import { placeIn } from "../../../src/bot/place.ts";
import type { Routes } from "../../../src/bot/index.ts";
import { StartError } from "../../../src/model/errors/errors.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { listeningLog } from "./messages.ts";

const HELLO = `export default (b) => { b.keyword("hi", (ctx) => ctx.reply("hello")) }`;

function folderOf(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function load(files: Record<string, string>, buildTime: Record<string, unknown> = {}) {
  const { log, text } = listeningLog();
  const botsDir = folderOf(files);
  const loaded = await loadBots({ buildTime, botsDir, log });
  return { botsDir, loaded, registry: loaded.registry, logged: text };
}

const keyword = (pattern: string) => ({ kind: "keyword", pattern });
const bot = (b: Routes): void => b.keyword("x", () => undefined);

describe("BOTS_DIR", () => {
  it("gives bots in every form, by the ids of their paths", async () => {
    const { registry } = await load({
      "hello.mjs": HELLO,
      "sales/menu.mjs": `export default { priority: 7, chats: ["dm", "group"], enable: "bound", routes(b) { b.match(/order (\\d+)/i, () => {}); b.on(["image", "video"], () => {}); b.fallback(() => {}) } }`,
      "pizzeria/index.mjs": HELLO,
      "plain.js": HELLO,
      "common.js": `module.exports = (b) => { b.keyword(["a", "b"], () => {}) }`,
      "compiled.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = (b) => { b.keyword("x", () => {}) }`,
    });

    expect(registry.list()).toEqual([
      {
        id: "common",
        priority: 50,
        enable: "all",
        routes: [keyword("a"), keyword("b")],
        warnings: [],
        schema: null,
      },
      { id: "compiled", priority: 50, enable: "all", routes: [keyword("x")], warnings: [], schema: null },
      { id: "hello", priority: 50, enable: "all", routes: [keyword("hi")], warnings: [], schema: null },
      { id: "pizzeria", priority: 50, enable: "all", routes: [keyword("hi")], warnings: [], schema: null },
      { id: "plain", priority: 50, enable: "all", routes: [keyword("hi")], warnings: [], schema: null },
      {
        id: "sales/menu",
        priority: 7,
        enable: "bound",
        routes: [
          { kind: "match", pattern: "/order (\\d+)/i" },
          { kind: "on", pattern: "image|video" },
          { kind: "fallback", pattern: "*" },
        ],
        warnings: [],
        schema: null,
      },
    ]);
  });

  it("leaves out what is no bot file", async () => {
    const { registry } = await load({
      "_shared.mjs": `throw new Error("imported")`,
      "_lib/tool.mjs": `throw new Error("imported")`,
      ".hidden.mjs": `throw new Error("imported")`,
      "node_modules/x/index.js": `throw new Error("imported")`,
      "notes.txt": "x",
      "data.json": "{}",
      "typed.d.ts": HELLO,
      "hello.ts": `throw new Error("imported")`,
      "hello.test.mjs": `throw new Error("imported")`,
      "hello.mjs": `import { word } from "./_words.mjs"; export default (b) => { b.keyword(word, () => {}) }`,
      "_words.mjs": `export const word = "hey"`,
    });
    expect(registry.list()).toEqual([
      {
        id: "hello",
        priority: 50,
        enable: "all",
        routes: [{ kind: "keyword", pattern: "hey" }],
        warnings: [],
        schema: null,
      },
    ]);
  });

  it("reads TypeScript, with what it imports and parley of the gateway, and anew at each reading", async () => {
    const files = {
      "sales/typed.ts": `import { defineBot, type Routes } from "parley";
import { word } from "../_words.ts";
export default defineBot((b: Routes) => {
  b.keyword(word, () => {
    throw new RangeError("here");
  });
});`,
      "_words.ts": `export const word: string = "hey";`,
      "broken.ts": "export default (b: => {",
      "hello.mjs": HELLO,
    };
    const { botsDir, registry, loaded } = await load(files);
    expect(registry.bots.map(({ id }) => id)).toEqual(["hello", "sales/typed"]);
    const [, typed] = registry.bots;
    expect(typed!.routes.map(({ pattern }) => pattern)).toEqual(["hey"]);
    const thrown = await Promise.resolve()
      .then(() => (typed!.routes[0] as unknown as { handler(): void }).handler())
      .catch((error: Error) => error);
    expect(placeIn((thrown as Error).stack, join(botsDir, "sales/typed.ts"))).toBe("typed.ts:5");
    const broken = registry.list().find(({ id }) => id === "broken")!;
    expect(broken.error).toMatch(/^SyntaxError: .*[Uu]nexpected.* \(broken\.ts:\d+\)$/);
    expect(broken.error).not.toContain(botsDir);

    writeFileSync(join(botsDir, "_words.ts"), `export const word: string = "ho";`);
    const again = await loadBots({ buildTime: {}, botsDir, log: listeningLog().log, previous: loaded });
    expect(again.registry.bots[1]!.routes.map(({ pattern }) => pattern)).toEqual(["ho"]);
  });

  it("follows links, and ends where they go round in a circle", async () => {
    const elsewhere = folderOf({ "hello.mjs": HELLO });
    const folder = folderOf({ "sub/own.mjs": HELLO });
    symlinkSync(join(elsewhere, "hello.mjs"), join(folder, "linked.mjs"));
    symlinkSync(join(folder, "gone.mjs"), join(folder, "dangling.mjs"));
    symlinkSync(folder, join(folder, "sub", "circle"));
    const { registry } = await loadBots({ buildTime: {}, botsDir: folder, log: listeningLog().log });
    expect(registry.bots.map((bot) => bot.id)).toEqual(["linked", "sub/own"]);
  });

  it.each([
    ["does not parse", "export default (b) => {", /SyntaxError|syntax/],
    ["throws", `throw new Error("no database")`, /no database \(broken\.mjs:1\)$/],
    ["throws while it adds routes", `export default () => { throw new Error("no words") }`, /no words/],
    ["imports what is not there", `import "./missing.mjs"; ${HELLO}`, /missing\.mjs/],
    ["exports nothing", "export const x = 1", /default export is not a bot/],
    ["exports a wrong priority", "export default { priority: 101, routes() {} }", /priority.*0.*100/],
    ["exports wrong chats", "export default { chats: ['everyone'], routes() {} }", /chats/],
    ["exports a wrong enable", "export default { enable: true, routes() {} }", /'all' or 'bound'/],
    ["gives a keyword that is nothing", `export default (b) => b.keyword("  ", () => {})`, /keyword/],
    ["gives no handler", `export default (b) => b.keyword("x")`, /needs a handler/],
    ["gives a text as expression", `export default (b) => b.match("x", () => {})`, /regular expression/],
    ["names an unknown type", `export default (b) => b.on("picture", () => {})`, /message types/],
    ["adds its routes later", `export default async (b) => { throw new Error("x") }`, /async/],
  ])("a file that %s is off, reported, and alone in that", async (_what, broken, why) => {
    const { botsDir, registry, logged } = await load({ "broken.mjs": broken, "hello.mjs": HELLO });

    expect(registry.bots.map((bot) => bot.id)).toEqual(["hello"]);
    const [first, second] = registry.list();
    expect(first).toMatchObject({ id: "broken", routes: [], error: expect.stringMatching(why) });
    expect(second).not.toHaveProperty("error");
    expect(logged()).toMatch(/"bot":"broken","file":"BOTS_DIR\/broken\.mjs"/);
    expect(JSON.stringify(registry.list())).not.toContain(botsDir);
  });

  it("a file whose id is taken is reported, the first goes on", async () => {
    const buildTime = {
      hello: async () => ({ default: (b: Routes) => b.fallback(() => 1) }),
    };
    const { registry } = await load(
      { "hello.mjs": HELLO, "twice.js": HELLO, "twice/index.js": HELLO },
      buildTime,
    );

    expect(registry.bots.map(({ id, routes }) => `${id} ${routes[0]!.kind}`)).toEqual([
      "hello fallback",
      "twice keyword",
    ]);
    const errors = registry.list().map(({ id, error }) => [id, error ?? ""]);
    expect(errors).toEqual([
      ["hello", ""],
      [
        "hello",
        expect.stringMatching(/^BOTS_DIR\/hello\.mjs is not loaded: bots\/hello already has the id "hello"/),
      ],
      ["twice", ""],
      ["twice", expect.stringMatching(/twice\/index\.js is not loaded: .*twice\.js already has the id/)],
    ]);
  });

  it("that is missing or a file stops the start and says which", async () => {
    const { log } = listeningLog();
    const folder = folderOf({ "a.mjs": HELLO });
    for (const botsDir of [join(folder, "missing"), join(folder, "a.mjs")]) {
      const loading = loadBots({ buildTime: {}, botsDir, log });
      await expect(loading).rejects.toThrow(StartError);
      await expect(loading).rejects.toThrow(`BOTS_DIR: ${botsDir} is not a folder`);
    }
  });

  it("puts its texts in the place of those of the build, key by key, and no language is asked for what is not its own", async () => {
    const buildTimeLocales = {
      en: { menu: { hello: "Hello {name}", bye: "Bye" }, only: "English" },
      es: { menu: { hello: "Hola {name}", bye: "Adiós" }, only: "Español" },
      "pt-BR": { menu: { hello: "Olá {name}", bye: "Tchau" }, only: "Português" },
    };
    const { log, text } = listeningLog();
    const botsDir = folderOf({
      "locales/en.json": JSON.stringify({ "menu.bye": "See you", shop: { open: "Open" } }),
      "locales/pt-br.json": JSON.stringify({ "shop.open": "Aberto" }),
      "locales/id.json": JSON.stringify({ shop: { open: "Buka" } }),
      "locales/es.json": "{",
    });
    const { locales } = await loadBots({ buildTime: {}, buildTimeLocales, botsDir, log });
    const say = (language: string, ...keys: string[]): string[] =>
      keys.map((key) => translate(locales, [language, "en"], key, { name: "Ana" }));
    expect(say("en", "menu.hello", "menu.bye", "shop.open", "only")).toEqual([
      "Hello Ana",
      "See you",
      "Open",
      "English",
    ]);
    expect(say("es", "menu.hello", "menu.bye", "shop.open")).toEqual(["Hola Ana", "Adiós", "Open"]);
    expect(say("pt-BR", "menu.hello", "shop.open")).toEqual(["Olá Ana", "Aberto"]);
    const warned = text()
      .split("\n")
      .filter((line) => line.includes('"level":40') || line.includes("locales"));
    expect(warned.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'locales/es.json: "" is not a text.',
    ]);
  });

  it("with a file of texts that says nothing new is silent", async () => {
    const buildTimeLocales = { en: { a: "A", b: "B" }, es: { a: "A", b: "B" } };
    const { log, text } = listeningLog();
    const botsDir = folderOf({ "locales/en.json": JSON.stringify({ greeting: "Hi" }) });
    await loadBots({ buildTime: {}, buildTimeLocales, botsDir, log });
    expect(text()).not.toContain("locales/");
  });

  it("warns of an option that Parley does not know", async () => {
    const { registry, logged } = await load({
      "a.mjs": `export default { priorty: 1, routes(b) { b.fallback(() => {}) } }`,
    });
    expect(registry.bots).toHaveLength(1);
    expect(logged()).toMatch(/priorty/);
  });
});

describe("bots of the build", () => {
  it("come as modules or as functions that import one; one that throws is alone in that", async () => {
    const buildTime = {
      broken: () => Promise.reject(new Error("at import")),
      module: { default: bot },
      "nested/index": async () => ({ default: bot }),
    };
    const { registry } = await loadBots({ buildTime, botsDir: null, log: listeningLog().log });
    expect(registry.bots.map(({ id }) => id)).toEqual(["module", "nested"]);
    expect(registry.list()[0]).toMatchObject({
      id: "broken",
      error: expect.stringMatching(/^Error: at import \(load\.test\.ts:\d+\)$/),
    });
  });
});
