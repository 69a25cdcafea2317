import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdir, open, readFile, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Written by Nitro when the bundle is done; its time is the build's. */
const MARKER = ".output/nitro.json";
/** What a whole build has as well: a build that was broken off or failed lacks one of them. The last is copied last. */
const PARTS = [
  ".output/server/index.mjs",
  ".output/cli.mjs",
  ".output/server/drizzle/migrations/meta/_journal.json",
];
/** What the gateway is built from. */
const SOURCES = ["src", "bots", "routes", "drizzle", "docs", "nitro.config.ts", "package-lock.json"];
/** Development tools inside `src`, never part of the gateway. */
const NOT_BUILT = ["src/simulator", "src/demo", "src/playground", "src/dev"];
const LOCK = ".nitro/building";
const LONGEST_BUILD_MS = 300_000;

/**
 * Is the built gateway missing, or older than anything that it is built from? Folders count with their own times, so
 * that a deleted file is noticed as well.
 *
 * @param root absolute path of the repository
 */
export async function isStale(root: string): Promise<boolean> {
  const built = await modifiedAt(join(root, MARKER));
  if (built === null || !(await isWhole(root))) return true;
  for (const source of SOURCES) {
    if (await hasNewer(root, source, built)) return true;
  }
  return false;
}

/**
 * Builds the gateway when {@link isStale}. Two callers at the same time build once: the second waits.
 *
 * @param root   absolute path of the repository
 * @param onWork called when there is something to do, with what it is
 * @returns seconds that it took, or null when nothing had to be built
 * @throws Error with the builder's own words when the build fails
 */
export async function buildIfStale(
  root: string,
  onWork: (doing: string) => void = () => {},
): Promise<number | null> {
  if (!(await isStale(root))) return null;
  const began = Date.now();
  const unlock = await lock(root, () => onWork("waiting for another build"));
  try {
    if (!(await isStale(root))) return null;
    onWork("building the gateway");
    const sourcesAsOf = new Date();
    await runNitro(root);
    // A file saved during the build may have missed it: the build counts from its beginning.
    await utimes(join(root, MARKER), sourcesAsOf, sourcesAsOf);
    return (Date.now() - began) / 1_000;
  } finally {
    unlock();
  }
}

/** Is anything at or below a path newer than a time (milliseconds since 1970)? What is not built does not count. */
export async function hasNewer(root: string, path: string, than: number): Promise<boolean> {
  if (NOT_BUILT.includes(path)) return false;
  const info = await stat(join(root, path)).catch(() => null);
  if (!info) return false;
  if (info.mtimeMs > than) return true;
  if (!info.isDirectory()) return false;
  for (const name of await readdir(join(root, path))) {
    if (await hasNewer(root, `${path}/${name}`, than)) return true;
  }
  return false;
}

async function modifiedAt(path: string): Promise<number | null> {
  return stat(path).then(
    (info) => info.mtimeMs,
    () => null,
  );
}

/** A file that holds the builder's process id. One that is left behind by a process that ended does not count. */
async function lock(root: string, onWait: () => void): Promise<() => void> {
  const path = join(root, LOCK);
  await mkdir(join(root, ".nitro"), { recursive: true });
  for (let waiting = false; ; waiting = true) {
    try {
      const file = await open(path, "wx");
      await file.write(String(process.pid));
      await file.close();
      const unlock = () => rmSync(path, { force: true });
      process.once("exit", unlock);
      return () => {
        process.off("exit", unlock);
        unlock();
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (!waiting) onWait();
    await pause(200);
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => null);
  const owner = Number(await readFile(path, "utf8").catch(() => ""));
  const age = info === null ? 0 : Date.now() - info.mtimeMs;
  // Between creating the file and writing the id it is empty for a moment. Ids are used again: an old lock is nobody's.
  if (!owner || age > LONGEST_BUILD_MS) return age > 5_000;
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

async function runNitro(root: string): Promise<void> {
  const child = spawn(process.execPath, [join(root, "node_modules/nitro/dist/cli/index.mjs"), "build"], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production", NO_COLOR: "1", FORCE_COLOR: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
  const abandon = () => child.kill();
  process.once("exit", abandon);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  process.off("exit", abandon);
  if (code === 0 && (await isWhole(root))) return;
  await rm(join(root, MARKER), { force: true });
  throw new Error(
    `The build failed (nitro ended with ${code}):\n${Buffer.concat(said).toString("utf8").trim()}`,
  );
}

async function isWhole(root: string): Promise<boolean> {
  const times = await Promise.all([MARKER, ...PARTS].map((file) => modifiedAt(join(root, file))));
  return times.every((time) => time !== null);
}
