import { spawn } from "node:child_process";
import { rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { hasNewer } from "../../cli/build.ts";

/** A page that vite builds; paths from the repository's root. */
interface BuiltPage {
  /** Where it is built into. */
  folder: string;
  /** Holds its `vite.config.ts`. */
  from: string;
  /** What it is made of. */
  sources: string[];
}

/** The console's kit and what it is made of. */
const KIT = ["src/console", "src/client", "package-lock.json"];
/** What `npm run demo` and `npm run dev` serve. */
export const PLAYGROUND: BuiltPage = {
  folder: ".playground",
  from: "src/playground",
  // With the slash: without it, it is what no build of the gateway depends on.
  sources: [...KIT, "src/playground/"],
};
/** The console, where the gateway's own build puts it: in development nothing else of that is built. */
export const CONSOLE: BuiltPage = { folder: ".output/console", from: "src/console", sources: KIT };

/**
 * Builds a page when it is missing or older than its sources.
 *
 * @param root   repository root
 * @param onWork called when there is something to do
 * @returns seconds that it took, or null when nothing had to be built
 * @throws Error with the builder's own words when the build fails
 */
export async function buildPageIfStale(
  root: string,
  page: BuiltPage,
  onWork: () => void,
): Promise<number | null> {
  const folder = join(root, page.folder);
  if (!(await isStale(root, page.sources, join(folder, "index.html")))) return null;
  onWork();
  const began = new Date();
  // Beside its place: whoever is served the page that is there gets no half of the next one.
  const beside = `${folder}.${process.pid}`;
  try {
    await runVite(root, page.from, beside);
    await utimes(join(beside, "index.html"), began, began);
    await rm(folder, { recursive: true, force: true });
    await rename(beside, folder);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
  return (Date.now() - began.getTime()) / 1_000;
}

async function isStale(root: string, sources: readonly string[], marker: string): Promise<boolean> {
  const built = await stat(marker).catch(() => null);
  if (built === null) return true;
  for (const source of sources) if (await hasNewer(root, source, built.mtimeMs)) return true;
  return false;
}

async function runVite(root: string, from: string, into: string): Promise<void> {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const args = [vite, "build", "--config", join(root, from, "vite.config.ts"), "--outDir", into];
  const child = spawn(process.execPath, args, {
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
  if (code !== 0)
    throw new Error(
      `The page could not be built (vite ended with ${code}):\n${Buffer.concat(said).toString("utf8").trim()}`,
    );
}
