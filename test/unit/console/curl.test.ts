import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../../src/console/", import.meta.url));
const sources = new Map(
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(vue|ts)$/.test(path))
    .map((path) => [path, readFileSync(folder + path, "utf8")]),
);

/** Nobody clicks for these: a chat is read by being looked at, and groups are read by POST. */
const BY_ITSELF = new Set(["readCall", "listCall"]);
const WRITE = /method: "(?:POST|PUT|PATCH|DELETE)"/;
/** What is declared at the left edge, with its text up to the next one. */
const declared = (source: string): [name: string, text: string][] =>
  [
    ...source.matchAll(
      /^(?:export )?(?:async )?(?:const|function) (\w+)([\s\S]*?)(?=^(?:export|const|async|function|let|watch|\/\*\*|<)|(?![\s\S]))/gm,
    ),
  ].map(([, name, text]) => [name!, text!]);
/** Calls that other files make, by what they begin: some are made of others. */
const made = new Map<string, boolean>();
for (const [path, source] of sources) {
  if (!path.endsWith(".ts")) continue;
  const all = declared(source).filter(([name]) => /Call$|^write$/.test(name));
  for (const [name, text] of all) made.set(name, WRITE.test(text));
  for (const [name, text] of all) if (/\bwrite\(/.test(text)) made.set(name, true);
}

/** Writes that a component begins and shows no command for. */
function unshown(source: string): string[] {
  const own = declared(source);
  const names = [
    ...own.filter(([, text]) => WRITE.test(text)).map(([name]) => name),
    ...[...made]
      .filter(([name, writes]) => writes && new RegExp(`\\b${name}\\(`).test(source))
      .map(([name]) => name),
  ];
  const shown = new Set(
    [...source.matchAll(/:calls?="([^"]*)"|copyCurl\(([^;]*)\)/g)].flatMap(([, given, copied]) =>
      (given ?? copied ?? "").split(/\W+/),
    ),
  );
  // What is shown may be made of other calls.
  for (let before = -1; before !== shown.size;) {
    before = shown.size;
    for (const [name, text] of own)
      if (shown.has(name)) for (const word of text.split(/\W+/)) shown.add(word);
  }
  return names.filter((name) => !shown.has(name) && !BY_ITSELF.has(name));
}

it("everything that a screen changes can be copied as curl", () => {
  expect([...made.values()].filter(Boolean).length).toBeGreaterThan(10);
  const wrong = [...sources]
    .filter(([path]) => path.endsWith(".vue"))
    .flatMap(([path, source]) => unshown(source).map((name) => `${path}: ${name}`));
  expect(wrong, "Show CopyAsCurl for it, or give it to a dialog as :call.").toEqual([]);
});
