import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** `import … from "…"` and `export … from "…"` that are there when the program runs; `import("…")` is none of them. */
const STATIC = /^(?:import|export)\s(?!type\b)([^;"']*?\sfrom\s+)?["']([^"']+)["']/gm;

/** True when it brings types only: `import { type A, type B } from`. */
const isErased = (what: string | undefined): boolean =>
  what !== undefined && /^\{[^}]*\}/.test(what) && !/(?:^\{|,)\s*(?!type\s)[\w$]/.test(what);

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(STATIC)].flatMap(([, what, from]) => (isErased(what) ? [] : [from!]));
}

/** What is loaded with a file: modules of ours by their paths, packages by their names. */
function loadedWith(entry: string): Set<string> {
  const found = new Set<string>();
  const open = [join(ROOT, entry)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const name = relative(ROOT, file);
    if (found.has(name)) continue;
    found.add(name);
    for (const from of importsOf(file)) {
      const path = join(dirname(file), from);
      if (from.startsWith(".") && existsSync(path) && /\.m?ts$/.test(path)) open.push(path);
      else if (!from.startsWith(".")) found.add(from);
    }
  }
  return found;
}

it("a process that is alone loads nothing of what several need", () => {
  const loaded = loadedWith("src/start.ts");

  // What shows that imports are followed here at all.
  expect([...loaded]).toEqual(
    expect.arrayContaining(["src/app.ts", "src/webhooks/attempts/queue.ts", "pino"]),
  );
  expect([...loaded].filter((name) => /^src\/(?:cluster\/|app\/cluster)|^bullmq$/.test(name))).toEqual([]);
  expect([...loadedWith("src/app/cluster.ts")]).toEqual(expect.arrayContaining(["src/cluster/jobs.ts"]));
});
