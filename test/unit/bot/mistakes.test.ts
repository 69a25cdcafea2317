import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { readBot } from "../../../src/bot/routes/define.ts";
import { fields } from "../../../src/bot/index.ts";
import { loadBots } from "../../../src/bot/files/load.ts";
import { nearest, placeIn } from "../../../src/bot/place.ts";
import type { AnyContext, Routes } from "../../../src/bot/types.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { bot, onHi, startBots } from "./harness.ts";
import { listeningLog } from "./messages.ts";

const file = import.meta.filename;
/** Where in this file a mark stands. */
const lineOf = (mark: string): number =>
  readFileSync(file, "utf8")
    .split("\n")
    .findIndex((line) => line.endsWith(`// ${mark}`)) + 1;

/** A folder of bots as an operator has one. */
async function load(files: Record<string, string>) {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { log, lines } = listeningLog();
  const { registry } = await loadBots({ buildTime: {}, botsDir: folder, log });
  const found = (id: string) => registry.list().find((bot) => bot.id === id)!;
  return { found, lines, registry };
}

describe("what an author did not mean is said with file and line", () => {
  const mistakes: [string, string, "error" | "warnings", string | RegExp][] = [
    [
      "an option that nobody knows",
      `export default {\n  prioriti: 10,\n  routes(b) {},\n};`,
      "warnings",
      'Option "prioriti" is not known and is ignored. Did you mean "priority"? (shop.mjs:2)',
    ],
    [
      "two options with one label",
      `export default (b) => {\n\n  b.menu("m", { text: "?", options: { a: { label: "Hours", reply: "1" }, b: { label: "hours!", reply: "2" } } });\n};`,
      "error",
      /menu\("m"\): "a" and "b" have the same label, "hours!".*\(shop\.mjs:3\)$/,
    ],
    [
      "a keyword twice",
      `export default (b) => {\n  b.keyword("hi", () => 1);\n  b.keyword(["yo", "Hi!"], () => 2);\n};`,
      "warnings",
      'b.keyword("Hi!") exists twice: the first one is asked first. (shop.mjs:3)',
    ],
    [
      "an option of a menu that does nothing",
      `export default (b) => {\n  b.menu("m", { text: "?", options: { a: { label: "A" } } });\n};`,
      "warnings",
      'menu("m"): option "a" does nothing: give it `run`, `reply` or `start`. (shop.mjs:2)',
    ],
    [
      "options whose order JavaScript changes",
      `export default (b) => {\n  b.menu("m", { text: "?", options: { b: { label: "B", reply: "b" }, 7: { label: "A", reply: "a" } } });\n};`,
      "error",
      /menu\("m"\): JavaScript puts keys that are numbers \(7\) before all other keys.*\(shop\.mjs:2\)$/,
    ],
    [
      "questions whose order JavaScript changes",
      `export default (b) => {\n  b.form("f", { name: b.fields.text("?"), 2: b.fields.text("?") }, () => 1);\n};`,
      "error",
      /form\("f"\): JavaScript puts keys that are numbers \(2\).*\(shop\.mjs:2\)$/,
    ],
    [
      "a filter that is misspelt",
      `export default (b) => {\n  b.on("media:imge", () => 1);\n};`,
      "error",
      /b\.on\("media:imge"\): did you mean "media:image"\? .*\(shop\.mjs:2\)$/,
    ],
    [
      "what a file beside it throws",
      `import { add } from "./_parts/add.mjs";\nexport default (b) => add(b);`,
      "error",
      /b\.keyword needs a handler.*\(_parts\/add\.mjs:2\)$/,
    ],
  ];

  it.each(mistakes)("%s", async (_what, text, kind, said) => {
    const { found, lines } = await load({
      "shop.mjs": text,
      "_parts/add.mjs": `export const add = (b) =>\n  b.keyword("x", "y");`,
    });
    const record = found("shop");
    expect(kind === "error" ? record.error : record.warnings.join("|")).toEqual(
      typeof said === "string" ? said : expect.stringMatching(said),
    );
    // In the log as well.
    const shown = (kind === "error" ? record.error! : record.warnings[0]!).slice(0, 20);
    expect(lines.join("\n")).toContain(JSON.stringify(shown).slice(1, -1));
  });

  it("a route that is added after the bot was loaded, which is in no table", async () => {
    const { found, registry, lines } = await load({
      "shop.mjs": `export default (b) => {
  b.keyword("now", () => 1);
  setImmediate(() => b.keyword("late", () => 2));
};`,
    });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const said =
      "b.keyword was called after the bot was loaded and does nothing. Add all routes synchronously. (shop.mjs:3)";
    expect(found("shop").warnings).toEqual([said]);
    expect(registry.bots[0]!.routes).toHaveLength(1);
    expect(lines.join("\n")).toContain(said);
  });

  it("nothing at all of a bot as it should be", async () => {
    const { found } = await load({
      "shop.mjs": `export default (b) => {
  b.menu("m", { text: "?", options: { 1: { label: "A", reply: "a" }, 2: { label: "B", reply: "b" } } });
  b.keyword("hi", () => 1); b.word("hi", () => 1); b.command("hi", () => 1);
};`,
    });
    expect(found("shop").warnings).toEqual([]);
    expect(found("shop").error).toBeUndefined();
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      "choices with one label",
      () => fields.choice("?", { a: "A", b: "a" }),
      /"a" and "b" have the same label/,
    ],
    ["choices out of order", () => fields.choice("?", { b: "B", 3: "C" }), /keys that are numbers \(3\)/],
  ])("%s", (_what, make, problem) => expect(make).toThrow(problem));
});

describe("what a handler does wrong is in the decision with name, file and line", () => {
  const failing = async (handler: (ctx: AnyContext) => unknown, session?: unknown) => {
    const definition =
      session === undefined ? onHi(handler) : bot((b) => b.keyword("hi", handler), { session } as never);
    const bots = await startBots({
      a: definition,
      z: bot((b: Routes) => b.fallback((ctx) => ctx.reply("next"))),
    });
    const { trail } = await bots.say("hi");
    expect(bots.heard()).toEqual(["next"]);
    return { detail: trail[0]!.detail, log: bots.log.text() };
  };

  it("when it throws", async () => {
    const { detail, log } = await failing(() => {
      throw new RangeError("no such order"); // thrown
    });
    const place = `mistakes.test.ts:${lineOf("thrown")}`;
    expect(detail).toBe(`RangeError at ${place}`);
    expect(log).toContain(`"place":"${place}"`);
  });

  it("when an observer throws, in the log", async () => {
    const observed = bot((b) =>
      b.tap(() => {
        throw new RangeError("no such order"); // observed
      }),
    );
    const bots = await startBots({ a: observed });
    await bots.say("hi");
    await vi.waitFor(() =>
      expect(bots.log.text()).toContain(`"place":"mistakes.test.ts:${lineOf("observed")}"`),
    );
  });

  it("when a step of a flow fails: the key of the step, in the decision and in the log", async () => {
    const paying = bot((b) => {
      const flow = b.flow("pay", async (f) => {
        await f.step(
          "charge",
          () => {
            throw new RangeError("no such card");
          },
          { tries: 1 },
        );
      });
      b.keyword("hi", (ctx) => ctx.start(flow));
    });
    const bots = await startBots({ a: paying });
    const { trail } = await bots.say("hi");
    expect(trail[0]!.detail).toMatch(/^failed: StepFailedError in step "charge"/);
    expect(bots.log.text()).toMatch(/"step":"charge".*the code of a dialogue threw/);
  });

  it("when it does one effect twice under one key: said once, in the log and the list", async () => {
    let done = 0;
    const twice = onHi(async (ctx) => {
      await ctx.step("pay", () => ++done);
      await ctx.step("pay", () => ++done); // paid twice
      ctx.reply("paid");
    });
    const bots = await startBots({ a: twice });
    await bots.say("hi");
    await bots.say("hi");
    const said = `ctx.step("pay") was called twice for one message: the second call does nothing. (mistakes.test.ts:${lineOf("paid twice")})`;
    expect(bots.run.path.bindings.list(1)[0]!.warnings).toEqual([said]);
    expect(bots.log.text().split("called twice")).toHaveLength(2);
    expect([done, bots.heard()]).toEqual([2, ["paid", "paid"]]);
  });

  it.each([
    ["a Map", () => ({ cart: new Map([["mug", 1]]) }), "cart is a Map: use an object"],
    ["a Date", () => ({ seen: [new Date(0)] }), "seen.0 is a Date"],
    ["a number that is none", () => ({ total: Number.NaN }), "total is NaN"],
    ["a BigInt", () => ({ id: 7n }), "id is a bigint"],
    ["an object of a class", () => ({ at: new URL("http://x") }), "at is a URL"],
  ])("when it puts %s into the session", async (_what, value, said) => {
    const { detail, log } = await failing((ctx) => void (ctx.session = value()), { initial: () => ({}) });
    expect(detail).toMatch(/^SessionRefused/);
    expect(log).toContain(`The session cannot be kept: ${said}`);
  });
});

describe("a place", () => {
  it("is the first that is neither the gateway's nor a package's nor Node's", () => {
    const stack = `Error: (x:1:2)
    at Object.keyword (${join(import.meta.dirname, "../../../src/bot/routes/route-builder.ts")}:9:9)
    at node:internal/process:1:1
    at run (/app/node_modules/zod/index.js:1:1)
    at async default (file:///srv/my%20bots/sales/menu.mjs?reading=2:12:5)`;
    expect(placeIn(stack, "/srv/my bots/sales/menu.mjs")).toBe("menu.mjs:12");
    expect(placeIn(stack, null)).toBe("menu.mjs:12");
    expect(placeIn("Error\n    at node:internal/x:1:1", null)).toBeNull();
    expect(placeIn(undefined, null)).toBeNull();
  });

  it("takes no time to find in what somebody made long", () => {
    expect(placeIn(`Error\n${"at (".repeat(100_000)}`, null)).toBeNull();
  });

  it("is given to names that are near", () => {
    expect(nearest("prioriti", ["priority", "chats"])).toBe("priority");
    expect(nearest("colour", ["priority", "chats"])).toBeNull();
    expect(
      readBot(
        "a",
        bot(() => null, { colour: 1 } as never),
      ).warnings,
    ).toEqual(['Option "colour" is not known and is ignored.']);
  });
});
