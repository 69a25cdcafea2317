import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { loadAttacks } from "../attack/load.ts";

const root = new URL("../../", import.meta.url);
const linesOf = (file: string): string[] =>
  readFileSync(new URL(file, root), "utf8")
    .split("\n")
    // Sums of what was measured promise nothing.
    .filter((line) => line.startsWith("| **") && !line.startsWith("| **all**"));
const security = linesOf("docs/security.md");
const lines = security.filter((line) => /^\| \*\*\d/.test(line));
const classes = security.filter((line) => !lines.includes(line));

/** `test/x.test.ts` "title", "title"; … */
function testsOf(line: string): { file: string; titles: string[] }[] {
  const named = line.split("|").at(-2)!;
  return Array.from(named.matchAll(/`(test\/[^`]+)`((?:,? "[^"]+")+)/g), ([, file, titles]) => ({
    file: file!,
    titles: Array.from(titles!.matchAll(/"([^"]+)"/g), ([, title]) => title!),
  }));
}

describe("docs/security.md", () => {
  it("has a line for each of the ten", () => {
    const numbers = lines.map((line) => Number(/^\| \*\*(\d+) /.exec(line)?.[1]));
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("has a line for the class of every attack", async () => {
    const attacks = await loadAttacks();
    const known = classes.map((line) => /^\| \*\*([A-Z]\d+)\*\* /.exec(line)?.[1]);
    expect(attacks.length).toBeGreaterThan(0);
    expect(attacks.filter((attack) => !known.includes(attack.class))).toEqual([]);
  });

  it.each(named(security))("names tests that exist for %s", (_, line) => {
    expect(missingTests(line), "Correct the file or the title that the page names.").toEqual([]);
  });
});

describe("docs/guarantees.md", () => {
  it.each(named(linesOf("docs/guarantees.md")))("names tests that exist for: %s", (_, line) => {
    expect(missingTests(line), "Correct the file or the title that the page names.").toEqual([]);
  });
});

/** Each line with what it is about. */
function named(of: string[]): [string, string][] {
  return of.map((line) => [/\*\*(.+?)\*\*/.exec(line)![1]!, line]);
}

/** What a line names and nobody has. */
function missingTests(line: string): string[] {
  const tests = testsOf(line);
  // As many files are named as were understood: a slip in the writing must not pass for a test.
  const written = line.split("`test/").length - 1;
  if (tests.length === 0 || tests.length !== written)
    return [`${tests.length} of ${written} were understood`];
  return tests.flatMap(({ file, titles }) => {
    const path = fileURLToPath(new URL(file, root));
    if (!existsSync(path)) return [file];
    const source = readFileSync(path, "utf8");
    return titles.filter((title) => !isTitle(source, title)).map((title) => `${file} "${title}"`);
  });
}

/** The first argument of `describe` or `it`, or its beginning when the rest is made while the test runs. */
function isTitle(source: string, title: string): boolean {
  const at = ['"', "`"].map((quote) => source.indexOf(quote + title)).find((index) => index >= 0);
  return (
    at !== undefined &&
    /(describe|it)(\.each[\s\S]{0,400})?\(\s*$/.test(source.slice(Math.max(0, at - 500), at))
  );
}
