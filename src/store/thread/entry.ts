import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { ThreadData } from "./protocol.ts";

/** The file that the build makes of `main.ts`, see `nitro.config.ts`. */
const THREAD_FILE = "store-thread.mjs";

/**
 * Starts the thread's code: in a build it is a file of its own beside the bundle, or above the chunk that holds this; in
 * the sources it is `main.ts`, read with tsx, which takes a fifth of a second.
 *
 * @throws Error when neither is there
 */
export function spawnThread(workerData: ThreadData, from: string = import.meta.url): Worker {
  const sources = new URL("./main.ts", from);
  if (from.endsWith(".ts") && existsSync(sources)) {
    const tsx = new URL(
      "dist/esm/api/index.mjs",
      pathToFileURL(createRequire(from).resolve("tsx/package.json")),
    ).href;
    const code = `import(${JSON.stringify(tsx)}).then(({ register }) => (register(), import(${JSON.stringify(sources.href)})))`;
    return new Worker(code, { eval: true, execArgv: [], workerData });
  }
  return new Worker(builtThread(from), { execArgv: [], workerData });
}

function builtThread(from: string): URL {
  for (let folder = dirname(fileURLToPath(from)); ; folder = dirname(folder)) {
    const built = join(folder, THREAD_FILE);
    if (existsSync(built)) return pathToFileURL(built);
    if (folder === dirname(folder)) throw new Error(`${THREAD_FILE} is missing beside ${from}; build anew.`);
  }
}
