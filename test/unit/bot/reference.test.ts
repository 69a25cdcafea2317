import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { fields } from "../../../src/bot/index.ts";
import { MODULES, writeReference } from "../../../src/cli/reference/reference.ts";
import { repositoryRoot } from "../../../src/config.ts";

const root = repositoryRoot();
const committed = readFileSync(join(root, "docs/reference.md"), "utf8");

const headings = (page: string): string[] =>
  [...page.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading!);

/** Names of an index file by its text alone, so that what the reference's own reader overlooks is noticed. */
function exportedNames(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) =>
    names!
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter((name) => name !== ""),
  );
}

describe("docs/reference.md", () => {
  it("is what the doc comments say today (else: npm run docs:bots)", () => {
    expect(committed === writeReference(root), "Run npm run docs:bots, and commit docs/reference.md.").toBe(
      true,
    );
  });

  it.each(Object.entries(MODULES))("has a section for every export of %s", (_module, path) => {
    const names = exportedNames(path);
    expect(names.length).toBeGreaterThan(10);
    const missing = names.filter((name) => !headings(committed).includes(name));
    expect(missing).toEqual([]);
  });

  it("has a section for every kind of question", () => {
    const missing = Object.keys(fields).filter((name) => !headings(committed).includes(`fields.${name}`));
    expect(missing).toEqual([]);
  });

  it("has links that lead to sections", () => {
    const anchors = new Set<string>();
    for (const heading of headings(committed)) {
      const anchor = heading.toLowerCase().replaceAll(/[./]/g, "").replaceAll(" ", "-");
      anchors.add(anchors.has(anchor) ? `${anchor}-1` : anchor);
    }
    const links = [...committed.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!);
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((anchor) => !anchors.has(anchor))).toEqual([]);
  });
});

describe("the reference of other sources", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  function referenceOf(bot: string, other = ""): string {
    const folder = mkdtempSync(join(tmpdir(), "parley-reference-"));
    folders.push(folder);
    for (const [path, text] of Object.entries({
      "bot/index.ts": bot,
      "bot/other.ts": other,
      "testing/index.ts": "",
    })) {
      mkdirSync(join(folder, "src", path, ".."), { recursive: true });
      writeFileSync(join(folder, "src", path), text);
    }
    return writeReference(folder);
  }

  it("shows fields, methods, links and tags", () => {
    const page = referenceOf(
      `export { open, type Door } from "./other.ts";`,
      `/** Where one goes in. See {@link open}. */
export interface Door {
  /** Centimetres, or \`null\`. */
  width: number | null;
  /**
   * Shuts it.
   *
   * @param how loudly, or
   *            not
   * @throws {TypeError} when it *is* shut
   */
  shut(
    how: string,
  ): void;
}

/** Opens one. */
export async function open(door: Door): Promise<void> {
  door.shut("");
}
`,
    );
    expect(page).toContain("Where one goes in. See [open](#open).\n");
    expect(page).toContain("- `width: number | null`: Centimetres, or `null`.\n");
    expect(page).toContain(
      "- `shut(how: string): void`: Shuts it.\n  - `how`: loudly, or not\n  - Throws `TypeError`: when it \\*is\\* shut\n",
    );
    expect(page).toContain(
      "```ts\nfunction open(door: Door): Promise<void>\n```\n\nOpens one.\n\nSee [Door](#door).\n",
    );
    expect(page).not.toContain("door.shut");
  });

  it("shows types that are named without being exported", () => {
    const page = referenceOf(`/** A house. */
export interface House { door: Door }
/** Its door. */
interface Door { width: number }
`);
    expect(page).toMatch(/## Further types\n[^#]*### Door\n\nIts door\./);
  });

  it.each([
    [
      "an export without a comment",
      `export interface Door { width: number }`,
      /^Door \(.*\) has no doc comment/m,
    ],
    [
      "a comment that belongs to the file",
      `/** All doors. */\n\nexport type Door = string;`,
      /^Door .*has no doc comment/m,
    ],
    [
      "a named type without a comment",
      `/** A. */\nexport type House = Door;\ntype Door = string;`,
      /^Door .*has no doc/m,
    ],
    [
      "a link that leads nowhere",
      `/** See {@link Dor}. */\nexport type Door = string;`,
      /Door: \{@link Dor\} leads nowhere/,
    ],
    [
      "a tag that it does not know",
      `/**\n * A.\n * @deprecated\n */\nexport type Door = string;`,
      /@deprecated/,
    ],
    [
      "a kind of export that it does not know",
      `/** A. */\nexport enum Door { Open }`,
      /index\.ts:2: cannot document/,
    ],
    ["an export that is not there", `export { Door } from "./other.ts";`, /Door, which is not there/],
    [
      "a kind of member that it does not know",
      `/** A. */\nexport interface Door { [key: string]: number }`,
      /TSIndexSignature/,
    ],
    ["what is no TypeScript", `export type = ;`, /index\.ts/],
  ])("is refused for %s", (_what, source, problem) => {
    expect(() => referenceOf(source)).toThrow(problem);
  });
});
