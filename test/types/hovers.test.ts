import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";

// The compiler of the project has no interface for programs; that of the tool which rolls declarations up has the one that editors use.
const require = createRequire(createRequire(import.meta.url).resolve("@microsoft/api-extractor"));
const ts = require("typescript") as typeof import("@ts-morph/common").ts;
const ROOT = repositoryRoot();
const FILE = join(ROOT, "test/types/hovered.ts");
/** Of a window of 80 columns, ten full lines. */
const MOST_CHARACTERS = 800;
/** A name is hovered where `/*n*\/` stands before it. */
const SOURCE = `import { z } from "zod";
import { defineBot, fields } from "parley";

export default /*defineBot*/defineBot(
  {
    config: z.object({ city: z.string(), rooms: z.number() }),
    session: { schema: z.object({ cart: z.array(z.object({ dish: z.string(), count: z.number() })) }), initial: () => ({ cart: [] }) },
  },
  (/*b*/b) => {
    b./*keyword*/keyword("hi", (/*ctx*/ctx) => ctx./*reply*/reply(ctx./*session*/session.cart.length.toString()));
    b.on("media:image", (/*image*/image) => image./*message*/message.text);
    const /*form*/form = b./*bform*/form("order", { dish: fields.text("?"), size: fields.choice("?", ["S", "M"]), note: fields.text("?", { skip: "no" }) }, (ctx, /*values*/values) => {
      ctx./*config*/config.city.trim();
      values.dish.trim();
    });
    const /*flow*/flow = b./*bflow*/flow("booking", { expire: "2h" }, async (/*f*/f) => {
      const /*people*/people = await f./*number*/number("people", "?");
      const /*free*/free = await f./*step*/step("free", () => [{ at: new Date(), seats: people }]);
      const /*slot*/slot = await f./*choose*/choose("slot", "?", free, (one) => one.at);
      const /*size*/size = await f./*choice*/choice("size", "?", { s: "Small", l: "Large" }, { skip: "no" });
      f.say(slot.at + size);
    });
    b.keyword("form", (c) => c./*start*/start(form));
    b.keyword("flow", async (c) => {
      const /*made*/made = await c./*ctxstep*/step("k", () => ({ at: new Date() }));
      c.reply(made.at);
      c./*after*/after("1h", "remind");
      c.start(flow);
    });
  },
);
`;

/** What an editor shows at each mark, as TypeScript's language service says it. */
function hovers(): Record<string, string> {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT);
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [FILE],
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const text = file === FILE ? SOURCE : ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => file === FILE || ts.sys.fileExists(file),
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
  });
  const problems = [...service.getSyntacticDiagnostics(FILE), ...service.getSemanticDiagnostics(FILE)];
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
  const marks = [...SOURCE.matchAll(/\/\*(\w+)\*\//g)];
  return Object.fromEntries(
    marks.map((mark) => {
      const at = mark.index + mark[0].length;
      const info = service.getQuickInfoAtPosition(FILE, at);
      return [mark[1]!, ts.displayPartsToString(info?.displayParts ?? [])];
    }),
  );
}

describe("what an editor shows of names in a bot", () => {
  it("fits on a screen, and names what it is", () => {
    const shown = hovers();
    const long = Object.entries(shown).filter(([, text]) => text.length > MOST_CHARACTERS);
    expect(long).toEqual([]);
    expect(shown["ctx"]).toMatch(/^\(parameter\) ctx: Context<Message, null, \{/);
    expect(shown["f"]).toMatch(/^\(parameter\) f: FlowContext<undefined, \{/);
    expect(shown["values"]).toBe(
      '(parameter) values: {\n    dish: string;\n    size: "S" | "M";\n    note: string | null;\n}',
    );
    expect(shown["people"]).toBe("const people: number");
    expect(shown["slot"]).toBe("const slot: {\n    at: string;\n    seats: number;\n}");
    expect(shown["size"]).toBe('const size: "s" | "l" | null');
    expect(shown["made"]).toBe("const made: {\n    at: string;\n}");
  }, 240_000);
});
