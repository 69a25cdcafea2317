import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig, repositoryRoot, type Config } from "../src/config.ts";

const ROOT = repositoryRoot();
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const TABLE = 'Correct the table "Setting | Default | Meaning" of README.md.';

/** Rows of the settings table: names, and the texts in the column of defaults. */
function settings(): { names: string[]; defaults: string[] }[] {
  const table = /\| Setting \| Default \| Meaning \|\n.*\n([^]*?)\n\n/.exec(README)?.[1] ?? "";
  return table.split("\n").map((row) => {
    const [, names, defaults] = row.split("|");
    return { names: codeIn(names), defaults: codeIn(defaults) };
  });
}

const codeIn = (text = ""): string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
const toCamelCase = (name: string): string =>
  name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** What README.md says of the sources. Its commands and bots are run in `readme.test.ts`. */
describe("README.md", () => {
  it("names scripts that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const named = [...README.matchAll(/npm (?:run )?([\w:]+)/g)].map((match) => match[1] ?? "");
    const known = [...Object.keys(scripts), "ci", "run"];
    expect(named.length).toBeGreaterThan(8);
    expect(
      named.filter((name) => !known.includes(name)),
      "README.md names scripts that package.json does not have.",
    ).toEqual([]);
  });

  it("lists every setting that the gateway reads, and no other", () => {
    const source = ["src/config.ts", "src/model/media/media-store-setting.ts"]
      .map((file) => readFileSync(join(ROOT, file), "utf8"))
      .join("");
    const read = [...source.matchAll(/"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"/g)].map((match) => match[1] ?? "");
    const listed = settings().flatMap(({ names }) => names);
    expect(listed.toSorted(), `${TABLE} Settings are what src/config.ts reads.`).toEqual(
      [...new Set(read)].toSorted(),
    );
  });

  it("gives the defaults that hold", () => {
    const config = loadConfig({}) as Config & Record<string, unknown>;
    const wrong = settings().flatMap(({ names, defaults }) =>
      names
        .map((name, index) => ({ name, shown: defaults[index], real: config[toCamelCase(name)] }))
        .filter(({ shown, real }) => /^\d+$/.test(shown ?? "") && Number(shown) !== real),
    );
    expect(wrong, TABLE).toEqual([]);
    expect(
      settings()
        .find(({ names }) => names[0] === "PLAN_BASIC")
        ?.defaults.map((text) => JSON.parse(text)),
    ).toEqual([config.plans.basic, config.plans.pro]);
  });

  it("points at files and folders that exist", () => {
    const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? "");
    const table = /\| Section \| Where \| State \|\n.*\n([^]*?)\n\n/.exec(README)?.[1] ?? "";
    const places = [...table.matchAll(/`((?:src|bots|routes)[^`]*)`/g)].map((match) => match[1] ?? "");
    expect(places.length).toBeGreaterThan(5);
    expect(
      [...links, ...places].filter((path) => !existsSync(join(ROOT, path))),
      "README.md links to files that do not exist.",
    ).toEqual([]);
  });
});
