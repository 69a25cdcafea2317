import type { Client } from "@libsql/client";
import { statSync } from "node:fs";
import { StartError } from "../../model/errors/errors.ts";
import { isWalDamaged } from "./wal.ts";

// Reading all of a larger file would cost more than the second and a half that a start may take. A larger one is
// checked by SQLite as it is read: header, length and schema at the start, every other page when it is used.
const FULL_CHECK_BYTES = 64 * 1024 * 1024;

/** @throws {StartError} when SQLite finds the file damaged; it is left as it is */
export async function refuseDamage(client: Client, file: string, name: string): Promise<void> {
  if (statSync(file).size > FULL_CHECK_BYTES) return;
  const { rows } = await client.execute("PRAGMA quick_check(1)");
  if (rows[0]?.[0] !== "ok") throw damaged(name);
}

/**
 * A WAL that says that it was changed after it was written. SQLite would take the part before the change for all there is,
 * and throw the rest away without a word.
 *
 * @throws {StartError} before anything has opened the database; nothing is changed
 */
export async function refuseDamagedWal(file: string, name: string): Promise<void> {
  if (await isWalDamaged(`${file}-wal`)) throw damaged(name);
}

/** Turns what the database says into the one line that a start ends with. */
export function asStartError(error: unknown, name: string): StartError {
  if (error instanceof StartError) return error;
  const { message = String(error), ...rest } = error as { code?: unknown; message?: string };
  // Not every code is a text: what the platform aborts has numbers.
  const code = String(rest.code ?? "");
  if (/NOTADB|CORRUPT/.test(code)) return damaged(name);
  if (code.startsWith("SQLITE_"))
    return new StartError(
      `${name} cannot be used: ${message}. Check its permissions and the free disk space.`,
    );
  return new StartError(`${name} cannot be reached: ${message}. Check DATABASE_URL and DATABASE_AUTH_TOKEN.`);
}

function damaged(name: string): StartError {
  return new StartError(
    `${name} is damaged or not a database; nothing in it was changed. Run npm run parley -- doctor to see what can be saved, restore a backup, or set DATA_DIR to another folder.`,
  );
}
