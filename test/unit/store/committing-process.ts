/**
 * Commits units of two rows as fast as it can, in lanes, and prints the number of each unit once its commit was
 * acknowledged. Ended from outside by SIGKILL. Arguments: data folder, first number, `STORE_THREAD`.
 */
import { writeSync } from "node:fs";
import { createLogger } from "../../../src/log.ts";
import { openStore } from "../../../src/store/open.ts";
import { configFor } from "./temporary-config.ts";

const [dataDir, from, thread] = process.argv.slice(2);
const config = configFor(dataDir!, { STORE_THREAD: thread });
const store = await openStore(config, createLogger(config));
let next = Number(from);

async function lane(): Promise<void> {
  for (;;) {
    const number = next++;
    await store.writer.commit(
      ["a", "b"].map((half) => ({
        sql: "INSERT INTO meta (key, value) VALUES (?, ?)",
        args: [`unit:${number}:${half}`, "x".repeat(300)],
      })),
    );
    // A write that returns has reached the pipe, whatever happens to this process next.
    await print(`${number}\n`);
  }
}

/** A pipe that nobody has emptied yet takes nothing for a moment. */
async function print(line: string): Promise<void> {
  for (;;) {
    try {
      return void writeSync(1, line);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      await new Promise(setImmediate);
    }
  }
}

await Promise.all(Array.from({ length: 8 }, lane));
