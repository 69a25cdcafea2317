import { join } from "node:path";
import { createClient, type Client } from "@libsql/client";
import { tablesOfNumbers } from "../../../src/store/erase.ts";

const LOOK_EVERY_MS = 500;
const LONGEST_MS = 1_800_000;

/** Until nothing of a number is in its tables any more: the gateway deletes it behind its answer. */
export function untilErased(dataDir: string, deviceId: number): Promise<void> {
  const { tables } = tablesOfNumbers();
  return until(dataDir, async (client) => {
    for (const table of tables) {
      const sql = `SELECT 1 FROM ${table} WHERE device_id = ? LIMIT 1`;
      if (table !== "erased_devices" && (await client.execute({ sql, args: [deviceId] })).rows.length > 0)
        return false;
    }
    return true;
  });
}

/** Until no message is left that was stored before a time, Unix milliseconds; what waits may stay. */
export function untilAged(dataDir: string, before: number): Promise<void> {
  const oldest = [
    "SELECT received_at AS at FROM inbox WHERE state = 'done' ORDER BY id LIMIT 1",
    "SELECT at FROM decisions ORDER BY inbox_id LIMIT 1",
    // In the order of the gateway's own sweep: the outbox comes last.
    "SELECT created_at AS at FROM outbox WHERE state <> 'queued' ORDER BY id LIMIT 1",
  ];
  return until(dataDir, async (client) => {
    for (const sql of oldest) {
      const [row] = (await client.execute(sql)).rows;
      if (row !== undefined && Number(row.at) < before) return false;
    }
    return true;
  });
}

async function until(dataDir: string, check: (client: Client) => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LONGEST_MS;
  const client = createClient({ url: `file:${join(dataDir, "parley.db")}` });
  try {
    while (!(await check(client))) {
      if (performance.now() > deadline)
        throw new Error("What goes on in the background has not come to its end.");
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  } finally {
    client.close();
  }
}
