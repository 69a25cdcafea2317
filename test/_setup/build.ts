import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { removeFolder } from "./folders.ts";
import { madeOnce, placeOf, root } from "./made-once.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** `index.mjs` of the test build; it may still be under way, see {@link whenBuilt}. */
    serverEntry: string;
  }
}

/** Everything that a build is made of. */
export const SOURCES = [
  "src",
  "routes",
  "bots",
  "drizzle",
  "nitro.config.ts",
  "package.json",
  "package-lock.json",
];
const BUILD = {
  name: "build",
  of: SOURCES,
  /** Parts of `src` that no build contains. */
  without: /^src\/(simulator|cli|demo|dev|console|client)\//,
};
/** On two cores that many share. */
export const BUILD_WITHIN_MS = 400_000;
const LOOK_EVERY_MS = 100;

/**
 * Vitest's global setup: the gateway is built once for all tests, with failpoints, and only when its sources changed; in a
 * process of its own, while tests run that need none.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const folder = placeOf(BUILD);
  project.provide("serverEntry", entryOf(folder));
  rmSync(failureOf(folder), { force: true });
  if (existsSync(folder)) return;
  const program = join(root, "test/_setup/build-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "close").then(([code]) => {
    if (code !== 0) writeFileSync(failureOf(folder), `The gateway was not built (${String(code)}):\n${said}`);
  });
  return async () => ended;
}

/** @returns the entry of a build of the present sources; several test runs at once share it */
export async function testBuild(): Promise<string> {
  return entryOf(await madeOnce({ ...BUILD, make: (folder) => buildGateway(root, folder) }));
}

/** Waits for a build that the global setup has begun. @throws with what the builder said when it failed */
export async function whenBuilt(entry: string): Promise<void> {
  const failure = failureOf(dirname(dirname(entry)));
  for (const deadline = Date.now() + BUILD_WITHIN_MS; !existsSync(entry);) {
    if (existsSync(failure)) throw new Error(readFileSync(failure, "utf8"));
    if (Date.now() > deadline) throw new Error(`There is no build at ${entry}.`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

const entryOf = (folder: string): string => join(folder, "server/index.mjs");
const failureOf = (folder: string): string => `${folder}.failed`;

/**
 * Builds the sources in `rootDir` with failpoints.
 *
 * @param into folder that gets `server/index.mjs`
 */
export async function buildGateway(rootDir: string, into: string): Promise<void> {
  // Loaded for a build only: every test with a gateway loads this file.
  const { build, createNitro, prepare } = await import("nitro/builder");
  const nitro = await createNitro({
    rootDir,
    dev: false,
    preset: "node-server",
    logLevel: 1,
    replace: { __FAILPOINTS__: "true" },
    buildDir: `${into}.tmp`,
    output: { dir: into },
  });
  await prepare(nitro);
  await build(nitro);
  await nitro.close();
  removeFolder(`${into}.tmp`);
}
