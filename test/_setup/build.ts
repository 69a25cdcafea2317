import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { mkdir, rename, rmdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, createNitro, prepare } from "nitro/builder";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** `index.mjs` of the test build. */
    serverEntry: string;
  }
}

export const root = fileURLToPath(new URL("../../", import.meta.url));
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
/** Parts of `src` that no build contains. */
const NOT_BUILT = /^src\/(simulator|cli|demo|dev)\//;
const BUILDS_KEPT = 3;
/** A build takes seconds; what holds the lock for longer has died. */
const LOCK_STALE_MS = 180_000;

/** Vitest's global setup: the gateway is built once for all tests, with failpoints, and only when its sources changed. */
export default async function setup(project: TestProject): Promise<void> {
  project.provide("serverEntry", await testBuild());
}

/** @returns the entry of a build of the present sources; several test runs at once share it */
export async function testBuild(): Promise<string> {
  const folder = join(root, ".test", `build-${sourcesHash()}`);
  const entry = join(folder, "server/index.mjs");
  await mkdir(join(root, ".test"), { recursive: true });
  if (!existsSync(entry))
    await withLock(`${folder}.lock`, async () => existsSync(entry) || buildInto(folder));
  utimesSync(folder, new Date(), new Date());
  removeOldBuilds();
  return entry;
}

async function buildInto(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  await buildGateway(root, unfinished);
  // In one step, so that nobody ever runs half a build.
  await rename(unfinished, folder);
}

/**
 * Builds the sources in `rootDir` with failpoints.
 *
 * @param into folder that gets `server/index.mjs`
 */
export async function buildGateway(rootDir: string, into: string): Promise<void> {
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
  rmSync(`${into}.tmp`, { recursive: true, force: true });
}

function sourcesHash(): string {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap(filesUnder)) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

function filesUnder(path: string): string[] {
  const full = join(root, path);
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !NOT_BUILT.test(file))
    .toSorted();
}

async function withLock(lock: string, work: () => Promise<unknown>): Promise<void> {
  while (!(await takeLock(lock))) await new Promise((resolve) => setTimeout(resolve, 100));
  try {
    await work();
  } finally {
    await rmdir(lock);
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > LOCK_STALE_MS) await rmdir(lock).catch(() => {});
    return false;
  }
}

function removeOldBuilds(): void {
  const folders = readdirSync(join(root, ".test"))
    .filter((name) => /^build-[0-9a-f]{16}$/.test(name))
    .map((name) => join(root, ".test", name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const folder of folders.slice(BUILDS_KEPT)) rmSync(folder, { recursive: true, force: true });
}
