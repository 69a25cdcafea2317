import type { Client } from "@libsql/client";
import { statfsSync, statSync } from "node:fs";
import { readMeta } from "./key-check.ts";
import { ONCE_CLEAR_ROWS, TRACES_ROW } from "./once-clear.ts";

/** A `VACUUM` of that much takes some seconds, once; a start is not to take minutes. */
const LARGEST_BYTES = 256 * 1024 * 1024;
const RESERVE_BYTES = 64 * 1024 * 1024;

/**
 * Once everything is sealed that earlier versions wrote in the clear, a small database file is written anew, so that nothing
 * of it stands in places that SQLite does not use any more. A large one keeps those until they are used again; a backup
 * that is put back has none.
 *
 * @param file nobody else has it open
 */
export async function removeTraces(client: Client, file: string): Promise<void> {
  if ((await readMeta(client, TRACES_ROW)) === null) return;
  for (const { key, done } of ONCE_CLEAR_ROWS) if ((await readMeta(client, key)) !== done) return;
  const { size } = statSync(file);
  const { bavail, bsize } = statfsSync(file);
  if (size > LARGEST_BYTES || bavail * bsize < 2 * size + RESERVE_BYTES) return;
  await client.execute("VACUUM");
  await client.execute({ sql: "DELETE FROM meta WHERE key = ?", args: [TRACES_ROW] });
  await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}
