import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, inject, it } from "vitest";

/** What `exports` of a package may hold: a file, or a choice by condition. */
type Target = string | null | { [condition: string]: Target } | Target[];

/** The first that fits, as Node and Bun choose; undefined when nothing does. */
function chosen(target: Target | undefined, conditions: string[]): string | undefined {
  if (typeof target === "string") return target;
  if (target === null || target === undefined || Array.isArray(target)) return undefined;
  const names = Object.keys(target).filter((name) => conditions.includes(name) || name === "default");
  for (const name of names) {
    const found = chosen(target[name], conditions);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Main entries of everything that stands in the build's `node_modules`, as they are chosen under these conditions. */
function entries(conditions: string[]): Map<string, string> {
  const found = new Map<string, string>();
  const modules = join(dirname(inject("serverEntry")), "node_modules");
  const descriptions = readdirSync(modules, { recursive: true, encoding: "utf8" }).filter((path) =>
    /(?:^|node_modules\/)(?:@[^/]+\/)?[^@/]+\/package\.json$/.test(path),
  );
  for (const path of descriptions) {
    const { exports } = JSON.parse(readFileSync(join(modules, path), "utf8")) as {
      exports?: Target;
    };
    if (typeof exports !== "object" || exports === null || Array.isArray(exports)) continue;
    const main = "." in exports ? exports["."] : exports;
    const file = chosen(main, conditions);
    if (file !== undefined) found.set(dirname(path), join(modules, dirname(path), file));
  }
  return found;
}

it.each(["import", "require"])("whatever a build has for Node's %s it has for Bun's", (kind) => {
  const onNode = entries(["node", kind]);
  const onBun = entries(["bun", "node", kind]);

  // Some are there for the other kind alone.
  const whole = [...onBun].filter(([name]) => existsSync(onNode.get(name) ?? ""));
  expect(whole.length).toBeGreaterThan(10);
  expect(whole.filter(([, file]) => !existsSync(file)).map(([name]) => name)).toEqual([]);
});
