import { Worker } from "node:worker_threads";
import { builtFile, sourceFile, tsxFile } from "../../model/built-file.ts";
import type { ThreadData } from "./protocol.ts";

/** The file that the build makes of `main.ts`, see `nitro.config.ts`. */
const THREAD_FILE = "store-thread.mjs";

/**
 * Starts the thread's code: in a build it is a file of its own; in the sources it is `main.ts`, read with tsx, which takes a
 * fifth of a second.
 *
 * @throws Error when neither is there
 */
export function spawnThread(workerData: ThreadData, from: string = import.meta.url): Worker {
  const source = sourceFile("./main.ts", from);
  if (source === null) return new Worker(builtFile(THREAD_FILE, from), { execArgv: [], workerData });
  const tsx = JSON.stringify(tsxFile("esm/api/index.mjs", from));
  const code = `import(${tsx}).then(({ register }) => (register(), import(${JSON.stringify(source.href)})))`;
  return new Worker(code, { eval: true, execArgv: [], workerData });
}
