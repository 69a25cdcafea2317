import type { Client } from "@libsql/client";
import { statfsSync, statSync } from "node:fs";
import { readMeta } from "./sealed/key-check.ts";
import { ONCE_CLEAR_ROWS, TRACES_ROW } from "./sealed/once-clear.ts";

/** A `VACUUM` of that much takes some seconds, once; a start is not to take minutes. */
const LARGEST_BYTES = 256 * 1024 * 1024;
const RESERVE_BYTES = 64 * 1024 * 1024;

/** What may be left in a database file of what earlier versions wrote in the clear. */
export interface Traces {
  /** True while rows are still being sealed: nothing can be removed yet. */
  sealing: boolean;
  /** The next start removes them by itself, as far as there is room. */
  byItself: boolean;
  /** Bytes of the file, and how many are free on its disk and needed to write it anew. */
  size: number;
  free: number;
  needed: number;
}

/** @returns null when there are none */
export async function findTraces(client: Client, file: string): Promise<Traces | null> {
  if ((await readMeta(client, TRACES_ROW)) === null) return null;
  const places = await Promise.all(ONCE_CLEAR_ROWS.map(({ key }) => readMeta(client, key)));
  const { size } = statSync(file);
  const { bavail, bsize } = statfsSync(file);
  return {
    sealing: ONCE_CLEAR_ROWS.some(({ isDone }, index) => !isDone(places[index] ?? null)),
    byItself: size <= LARGEST_BYTES,
    size,
    free: bavail * bsize,
    needed: 2 * size + RESERVE_BYTES,
  };
}

/**
 * Writes the database file anew, so that nothing stands in places that SQLite does not use any more. Takes about a minute for
 * some gigabytes, and nobody can use it meanwhile.
 */
export async function writeAnew(client: Client): Promise<void> {
  await client.execute("VACUUM");
  await client.execute({ sql: "DELETE FROM meta WHERE key = ?", args: [TRACES_ROW] });
  await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

/**
 * Once everything is sealed that earlier versions wrote in the clear, a small database file is written anew. A large one keeps
 * its traces until they are used again, or until `parley doctor --repair`; a backup that is put back has none.
 *
 * @param file nobody else has it open
 */
export async function removeTraces(client: Client, file: string): Promise<void> {
  const traces = await findTraces(client, file);
  if (traces === null || traces.sealing || !traces.byItself || traces.free < traces.needed) return;
  await writeAnew(client);
}
