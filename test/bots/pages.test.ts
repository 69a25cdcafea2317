import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import type { AnyBot } from "../../src/testing/index.ts";
import { removeFolder } from "../_setup/folders.ts";
import { programFile } from "../_setup/program-file.ts";
import { filesOf, have, plain, writeFiles } from "./pages.ts";

const ROOT = repositoryRoot();
const PAGES = ["bots.md", "assistant.md", "tutorial.md", "coming-from.md"];
/** What the commands say of themselves. */
const help = new Map<string, string>();
let folder: string;

/** Inside the repository: there `parley` is this one. */
beforeAll(() => {
  mkdirSync(join(ROOT, ".test"), { recursive: true });
  folder = mkdtempSync(join(ROOT, ".test/pages-"));
  for (const page of PAGES) writeFiles(join(folder, page), filesOf(page));
});
afterAll(() => removeFolder(folder));

async function run(...command: string[]): Promise<string> {
  const [program = "", ...args] = command;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [resolve(ROOT, program), ...args], {
      cwd: folder,
    });
    return stdout;
  } catch (error) {
    return `failed\n${(error as { stdout?: string }).stdout ?? ""}${(error as { stderr?: string }).stderr ?? ""}`;
  }
}

describe.each(PAGES)("docs/%s", (page) => {
  const talks = filesOf(page).filter(({ talk }) => talk !== null);

  it("has conversations", () => {
    expect(talks.length).toBeGreaterThan(0);
  });

  it.each(talks)("$path says what stands below it", async ({ path, talk }) => {
    const { default: bot } = (await import(/* @vite-ignore */ join(folder, page, path))) as {
      default: AnyBot;
    };
    expect(await have(bot, talk!)).toBe(plain(talk!));
  });

  const text = readFileSync(join(ROOT, "docs", page), "utf8");

  it("names scripts and commands that exist", async () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? "");
    expect(named.filter((name) => !Object.keys(scripts).includes(name))).toEqual([]);
    const commands = [...text.matchAll(/npm run parley -- ([a-z-]+)(?: ([a-z]+))?/g)];
    for (const [, command = "", sub] of commands) {
      const of = command === "bots" ? [command] : [];
      const key = of.join(" ");
      if (!help.has(key)) help.set(key, await run(programFile("src/cli/main.ts"), ...of, "--help"));
      expect(help.get(key), `${command} ${sub}`).toMatch(
        new RegExp(`\\b${command === "bots" ? sub : command}\\b`),
      );
    }
  }, 120_000);

  it("points at files that exist", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => match[1] ?? "");
    expect(links.filter((link) => !existsSync(join(ROOT, "docs", link)))).toEqual([]);
  });
});

describe("the code of all pages", () => {
  it("compiles", async () => {
    const options = { extends: "../../tsconfig.json", include: ["."] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
    expect(await run("node_modules/typescript/bin/tsc", "--noEmit", "-p", ".")).toBe("");
  }, 180_000);

  it("passes the tests that it has itself", async () => {
    writeFileSync(
      join(folder, "vitest.config.ts"),
      `import main from ${JSON.stringify(join(ROOT, "vitest.config.ts"))};
const { testTimeout } = main.test;
// In one process, which loads everything once.
const test = { include: ["**/*.test.*"], isolate: false, maxWorkers: 1, testTimeout };
export default { root: import.meta.dirname, resolve: main.resolve, test };`,
    );
    const output = await run("node_modules/vitest/vitest.mjs", "run", "--reporter=tap-flat");
    const results = output.split("\n").filter((line) => /^(not )?ok /.test(line));
    expect(
      results.filter((line) => line.startsWith("not ok")),
      output,
    ).toEqual([]);
    expect(results.length, output).toBeGreaterThan(3);
  }, 180_000);
});
