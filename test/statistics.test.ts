import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { describe, expect, it } from "vitest";
import { LONG_CLOSURES } from "./long-closures.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const LONGEST_FUNCTION = 60;
/** Lines of a function with all that is nested in it. */
const LONGEST_CLOSURE = 80;
const FILE_P90 = 180;
const LEAST_DOCUMENTED = 0.9;
const LONGEST_FILE = 350;
const MOST_FILES = 25;
/** Made by a command, or a list of examples. */
const NOT_WRITTEN = ["src/client/schema.ts", "src/api/openapi/examples.ts"];
/** So many that are near a limit are named when it is broken. */
const NEAREST = 5;

/** Any node of a syntax tree. */
interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}
interface Measured {
  file: string;
  lines: number;
  functions: { name: string; line: number; own: number; whole: number }[];
  exports: { name: string; line: number; documented: boolean }[];
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";
const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

/** The functions that stand directly in a node, not those within them. */
function innerFunctions(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => (FUNCTIONS.has(child.type) ? [child] : innerFunctions(child)));
}

function measure(file: string): Measured {
  const text = readFileSync(join(root, file), "utf8");
  const { program, comments } = parseSync(file, text);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const linesOf = (node: Node): number => lineAt(node.end) - lineAt(node.start) + 1;
  const functions: Measured["functions"] = [];

  /** Lines of a function itself: what stands in the functions within it is counted there, as in a class its methods. */
  function count(node: Node, name: string): void {
    const inner = innerFunctions(node);
    const own = linesOf(node) - inner.reduce((sum, child) => sum + linesOf(child) - 1, 0);
    functions.push({ name, line: lineAt(node.start), own, whole: linesOf(node) });
    for (const child of inner) count(child, (child["id"] as { name?: string } | null)?.name ?? `in ${name}`);
  }

  const top = program as unknown as Node;
  for (const node of innerFunctions(top))
    count(node, (node["id"] as { name?: string } | null)?.name ?? "anonymous");

  const documentedAt = new Set(
    comments
      .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
      .map(({ end }) => end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0)),
  );
  const exports = (top["body"] as Node[])
    .filter((node) => /^Export(Named|Default)Declaration$/.test(node.type) && isNode(node["declaration"]))
    .map((node) => {
      const declaration = node["declaration"] as Node;
      const first = (declaration["declarations"] as Node[] | undefined)?.[0] ?? declaration;
      const name = ((first["id"] ?? { name: "default" }) as { name?: string } | null)?.name ?? "default";
      return { name, line: lineAt(node.start), documented: documentedAt.has(node.start) };
    });
  return { file, lines: text.trimEnd().split("\n").length, functions, exports };
}

describe("the sources stay readable", () => {
  const measured = readdirSync(join(root, "src"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".d.ts"))
    .map((entry) => measure(relative(root, join(entry.parentPath, entry.name))));

  it("finds functions and exports in them", () => {
    expect(measured.flatMap(({ functions }) => functions).length).toBeGreaterThan(2_000);
    expect(measured.flatMap(({ exports }) => exports).length).toBeGreaterThan(800);
  });

  it(`no function has more than ${LONGEST_FUNCTION} lines of its own`, () => {
    const longest = measured
      .flatMap(({ file, functions }) => functions.map((one) => ({ ...one, file })))
      .toSorted((a, b) => b.own - a.own);
    const shown = ({ file, name, line, own }: (typeof longest)[number]): string =>
      `${file}:${line} ${name}: ${own} lines`;
    const cure = `Split the function; give it room, not just the line that is missing. Nearest to the limit:\n${longest
      .filter(({ own }) => own <= LONGEST_FUNCTION)
      .slice(0, NEAREST)
      .map(shown)
      .join("\n")}\n`;
    expect(longest.filter(({ own }) => own > LONGEST_FUNCTION).map(shown), cure).toEqual([]);
  });

  it(`no function has more than ${LONGEST_CLOSURE} lines with what is nested in it, but for those that had`, () => {
    const named = measured.flatMap(({ file, functions }) =>
      functions.map(({ name, whole }) => [`${file} ${name}`, whole] as const),
    );
    const found = Object.fromEntries(named.filter(([, whole]) => whole > LONGEST_CLOSURE));
    const known = Object.entries(LONG_CLOSURES);
    const grown = Object.entries(found).filter(([name, lines]) => lines > (LONG_CLOSURES[name] ?? 0));
    expect(grown, "Split the function by what its parts remember.").toEqual([]);
    const shorter = known.filter(([name, lines]) => (found[name] ?? 0) < lines);
    expect(shorter, "They are shorter now, which is good: say so in test/long-closures.ts.").toEqual([]);
  });

  it(`nine files of ten have fewer than ${FILE_P90} lines`, () => {
    const sorted = measured.toSorted((a, b) => a.lines - b.lines);
    const at = Math.floor(sorted.length * 0.9);
    const nearest = sorted.slice(at, at + NEAREST).map(({ file, lines }) => `${file}: ${lines}`);
    expect(
      sorted[at]!.lines,
      `Split one of the longer files. Nearest to the limit:\n${nearest.join("\n")}\n`,
    ).toBeLessThan(FILE_P90);
  });

  it(`no file has more than ${LONGEST_FILE} lines`, () => {
    const sorted = measured
      .filter(({ file }) => !NOT_WRITTEN.includes(file))
      .toSorted((a, b) => b.lines - a.lines)
      .map(({ file, lines }) => ({ lines, shown: `${file}: ${lines}` }));
    const nearest = sorted.filter(({ lines }) => lines <= LONGEST_FILE).slice(0, NEAREST);
    expect(
      sorted.filter(({ lines }) => lines > LONGEST_FILE).map(({ shown }) => shown),
      `Split the file by subject. Nearest to the limit:\n${nearest.map(({ shown }) => shown).join("\n")}\n`,
    ).toEqual([]);
  });

  it(`no folder has more than ${MOST_FILES} files of its own`, () => {
    const folders = readdirSync(join(root, "src"), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, entry.parentPath));
    const counted = [...new Set(folders)]
      .map((folder) => ({ folder, files: folders.filter((one) => one === folder).length }))
      .toSorted((a, b) => b.files - a.files)
      .map(({ folder, files }) => ({ files, shown: `${folder}: ${files} files` }));
    const nearest = counted.filter(({ files }) => files <= MOST_FILES).slice(0, NEAREST);
    expect(
      counted.filter(({ files }) => files > MOST_FILES).map(({ shown }) => shown),
      `Make a folder of what belongs together. Nearest to the limit:\n${nearest.map(({ shown }) => shown).join("\n")}\n`,
    ).toEqual([]);
  });

  it(`${LEAST_DOCUMENTED * 100} % of what is exported says what it is`, () => {
    const exported = measured.flatMap(({ file, exports }) =>
      exports.map(({ name, line, documented }) => ({ place: `${file}:${line} ${name}`, documented })),
    );
    const bare = exported.filter(({ documented }) => !documented).map(({ place }) => place);
    const share = 1 - bare.length / exported.length;
    expect(share, `Write a doc comment for some of these:\n${bare.join("\n")}`).toBeGreaterThanOrEqual(
      LEAST_DOCUMENTED,
    );
  });
});
