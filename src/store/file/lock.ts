import { LibsqlError, createClient, type Client, type Transaction } from "@libsql/client";
import { readFileSync, writeFileSync } from "node:fs";
import { StartError } from "../../model/errors/errors.ts";
import { keepAlive, systemTime, type Time } from "../../model/time.ts";

/** That this process has the data folder for itself. */
export interface Lock {
  release(): void;
}

// A gateway that is just ending, or a reload of `npm run dev`, gives the lock back within this time.
const PATIENCE_MS = 1_000;
const PAUSE_MS = 50;

/**
 * Makes this process the only one on a folder or database file.
 *
 * The lock is a write transaction left open on a small SQLite file: an operating system lock that ends with the
 * process, however it ends. So nothing stale can ever stand in the way of a start.
 *
 * @param file  the lock file; made when missing
 * @param owned what to name to the user when somebody else has it
 * @throws {StartError} when another process, or another store of this process, has it
 */
export async function takeLock(
  file: string,
  owned: string,
  time: Pick<Time, "monotonic" | "pause"> = systemTime,
): Promise<Lock> {
  const holder = `${file}.pid`;
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  const deadline = time.monotonic() + PATIENCE_MS;
  let held = await tryToHold(client);
  while (held === null && time.monotonic() < deadline) {
    await keepAlive(time.pause(PAUSE_MS));
    held = await tryToHold(client);
  }
  if (held === null) {
    client.close();
    throw new StartError(
      `${owned} is in use by another Parley${describeHolder(holder)}. Stop that gateway, or set another DATA_DIR.`,
    );
  }
  const transaction = held;
  writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  return {
    release() {
      // Closing the client alone would keep the lock until the garbage collector finds the last statement.
      transaction.close();
      client.close();
    },
  };
}

/** Null when somebody else has it. */
async function tryToHold(client: Client): Promise<Transaction | null> {
  try {
    return await client.transaction("write");
  } catch (error) {
    if (error instanceof LibsqlError && error.code === "SQLITE_BUSY") {
      await client.reconnect();
      return null;
    }
    throw error;
  }
}

function describeHolder(file: string): string {
  try {
    const pid = readFileSync(file, "utf8").trim();
    return /^\d+$/.test(pid) ? ` (process ${pid})` : "";
  } catch {
    return "";
  }
}
