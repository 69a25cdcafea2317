import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** What the copying thread says when it is done: null, or what went wrong. */
type Outcome = string | null;
const BROKEN_OFF = "it was interrupted";

// The driver blocks its thread until the copy is written. `VACUUM INTO` reads one snapshot, whatever is committed
// meanwhile, and holds up no writer. As text, because a bundle has no file for the thread to start from.
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const Database = require(workerData.driver);
const { closeSync, fsyncSync, openSync } = require("node:fs");
const copy = () => {
  const source = new Database(workerData.from);
  try {
    source.exec("PRAGMA busy_timeout = 10000");
    source.prepare("VACUUM INTO ?").run([workerData.to]);
  } finally {
    source.close();
  }
  const made = new Database(workerData.to, { readonly: true });
  try {
    const found = made.prepare("PRAGMA integrity_check(1)").raw(true).all([])[0][0];
    if (found !== "ok") return "the copy is damaged: " + found;
  } finally {
    made.close();
  }
  const file = openSync(workerData.to, "r");
  fsyncSync(file);
  closeSync(file);
  return null;
};
let outcome;
try {
  outcome = copy();
} catch (error) {
  outcome = String(error.message);
}
parentPort.postMessage(outcome);
`;

/**
 * Writes a whole, checked copy of a database that is in use: one instant of it, in one file. Works in a thread of its own,
 * and nothing of the database is held in memory.
 *
 * @param to a file that does not exist
 * @throws Error with what the driver said, for instance that the disk is full
 */
export async function copyDatabase(from: string, to: string, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) throw notCopied(BROKEN_OFF);
  const driver = createRequire(import.meta.url).resolve("libsql");
  const worker = new Worker(THREAD, { eval: true, execArgv: [], workerData: { driver, from, to } });
  const stop = (): void => void worker.terminate();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const outcome = await new Promise<Outcome>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => resolve(BROKEN_OFF));
    });
    if (outcome !== null) throw notCopied(outcome);
  } finally {
    signal?.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

const notCopied = (reason: string): Error => new Error(`The database could not be copied: ${reason}`);
