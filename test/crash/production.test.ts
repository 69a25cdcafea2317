import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, inject, it } from "vitest";
import { buildIfStale } from "../../src/cli/build.ts";
import { root } from "../_setup/made-once.ts";

const source = readFileSync(join(root, "src/model/failpoint.ts"), "utf8");
/** Those of the gateway: a build has no commands. */
const names = [...source.split("CommandFailpointName =")[0]!.matchAll(/\| "([a-z-]+)"/g)].map(
  ([, name]) => name!,
);

/** The one of `npm run build` and `npm start`, which the demo's tests run as well. */
async function productionBuild(): Promise<string> {
  await buildIfStale(root);
  return join(root, ".output/server");
}

function namesIn(folder: string): string[] {
  const text = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
    .filter(({ parentPath }) => !parentPath.includes("node_modules"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
  return [...names, "CRASH_AT", "CRASH_FILE", "EVERYDAY_MIX"].filter(
    (name) => text.includes(`"${name}"`) || text.includes(`.${name}`),
  );
}

it("a production build has no failpoint, a test build has every one", { timeout: 240_000 }, async () => {
  expect(names.length).toBeGreaterThan(20);
  expect(namesIn(dirname(inject("serverEntry")))).toEqual(expect.arrayContaining(names));
  expect(namesIn(await productionBuild())).toEqual([]);
});
