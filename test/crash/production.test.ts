import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, createNitro, prepare } from "nitro/builder";
import { expect, inject, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const source = readFileSync(join(root, "src/model/failpoint.ts"), "utf8");
/** Those of the gateway: a build has no commands. */
const names = [...source.split("CommandFailpointName =")[0]!.matchAll(/\| "([a-z-]+)"/g)].map(
  ([, name]) => name!,
);

async function productionBuild(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-build-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const output = join(folder, "output");
  const nitro = await createNitro({
    rootDir: root,
    dev: false,
    preset: "node-server",
    logLevel: 1,
    buildDir: join(folder, "work"),
    output: { dir: output },
  });
  await prepare(nitro);
  await build(nitro);
  await nitro.close();
  return join(output, "server");
}

function namesIn(folder: string): string[] {
  const text = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?js$/.test(entry.name))
    .filter(({ parentPath }) => !parentPath.includes("node_modules"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
  return [...names, "CRASH_AT", "CRASH_FILE"].filter(
    (name) => text.includes(`"${name}"`) || text.includes(`.${name}`),
  );
}

it("a production build has no failpoint, a test build has every one", { timeout: 240_000 }, async () => {
  expect(names.length).toBeGreaterThan(20);
  expect(namesIn(dirname(inject("serverEntry")))).toEqual(expect.arrayContaining(names));
  expect(namesIn(await productionBuild())).toEqual([]);
});
