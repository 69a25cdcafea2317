import Database from "libsql";
import { createClient } from "@libsql/client";
import { statfsSync, statSync } from "node:fs";
import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { failpoint } from "../../model/failpoint.ts";
import { asStartError } from "../file/damage.ts";
import { keyFits, keyRows, readDerivationKey, readKeyCheck } from "./key-check.ts";
import { lockFile } from "../file/offline.ts";
import { prepareDatabase } from "../open.ts";
import { createSecretBox, SealBroken } from "./secret-box.ts";
import { SEALED_COLUMNS, type SealedColumn } from "./sealed-columns.ts";
import { adoptNextMasterKey, generateNextMasterKey } from "./secrets.ts";
import type { SecretBox } from "../store.ts";

const ROWS_AT_ONCE = 200;
const ON_A_SERVER =
  "move the data into a file (npm run parley -- move-database), change the key there, and move it back";
/** Left free on the disk, whatever the new seals take. */
const RESERVE_BYTES = 64 * 1024 * 1024;

/** What changing the master key has done. */
interface Rotation {
  /** Values that were sealed anew. */
  values: number;
  /** File with the old key; null when the keys are given by the environment. */
  oldKeyFile: string | null;
}

interface SealedRow {
  row: number;
  sealed: ArrayBuffer;
  [key: string]: unknown;
}

/**
 * Seals every value anew with another master key, in one transaction. Killed at any instant, the data opens with the old
 * key or with the new one, and the next start finds out which. What is derived stays: hashes of API keys, ids of replies,
 * links that were given away.
 *
 * @param newKey for a master key that the environment gives; null makes one, in `DATA_DIR`
 * @throws {StartError} when a gateway runs on the data, the disk lacks room, or a value does not open: nothing has changed
 */
export async function rotateMasterKey(
  config: Config,
  newKey: Buffer | null,
  now: () => number = Date.now,
): Promise<Rotation> {
  const { path: file, name, release } = await lockFile(config, ON_A_SERVER);
  try {
    const { masterKey, derivationKey } = await presentKeys(config, file, name, newKey, now());
    requireRoom(file);
    const next = newKey ?? generateNextMasterKey(config.dataDir);
    failpoint("after-next-key");
    const values = sealAnew(file, name, { masterKey, next, derivationKey });
    failpoint("after-rotation-commit");
    return { values, oldKeyFile: newKey === null ? adoptNextMasterKey(config.dataDir, now()) : null };
  } finally {
    release();
  }
}

async function presentKeys(config: Config, file: string, name: string, newKey: Buffer | null, now: number) {
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  try {
    const check = newKey && (await readKeyCheck(client).catch(() => null));
    if (newKey !== null && check !== null && keyFits(newKey, check))
      throw new StartError(
        `${name} already opens with the new key: set PARLEY_MASTER_KEY to it and remove PARLEY_NEW_MASTER_KEY.`,
      );
    const masterKey = await prepareDatabase(config, client, file, name, now);
    return { masterKey, derivationKey: await readDerivationKey(client, masterKey) };
  } finally {
    client.close();
  }
}

/** Until the commit the new values stand in the WAL, beside the old ones. */
function requireRoom(file: string): void {
  const { bavail, bsize } = statfsSync(file);
  const wanted = statSync(file).size + RESERVE_BYTES;
  if (bavail * bsize < wanted)
    throw new StartError(
      `Changing the master key needs ${Math.ceil(wanted / 1024 ** 2)} MB of free disk space beside ${file}; free some space and try again.`,
    );
}

function sealAnew(
  file: string,
  name: string,
  keys: { masterKey: Buffer; next: Buffer; derivationKey: Buffer },
): number {
  const database = new Database(file);
  try {
    // Old values are overwritten where they lay: who has the old key shall find nothing to open.
    for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"])
      database.exec(`PRAGMA ${pragma}`);
    database.exec("BEGIN IMMEDIATE");
    const from = createSecretBox(keys.masterKey);
    const to = createSecretBox(keys.next);
    let values = 0;
    for (const column of SEALED_COLUMNS) values += sealColumn(database, column, from, to);
    const put = database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
    for (const { key, value } of keyRows(keys.next, keys.derivationKey)) put.run([key, value]);
    failpoint("before-rotation-commit");
    database.exec("COMMIT");
    database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all([]);
    return values;
  } catch (error) {
    throw asStartError(error, name);
  } finally {
    // What was not committed is rolled back.
    database.close();
  }
}

function sealColumn(
  database: Database.Database,
  { table, column, keys, context }: SealedColumn,
  from: SecretBox,
  to: SecretBox,
): number {
  // Clear text of an earlier version is sealed at the next start, with the new key.
  const page = database.prepare(
    `SELECT rowid AS row, "${column}" AS sealed, ${keys.map((key, index) => `"${key}" AS k${index}`).join(", ")} FROM ${table}
    WHERE rowid > ? AND typeof("${column}") = 'blob' ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`,
  );
  const update = database.prepare(`UPDATE ${table} SET "${column}" = ? WHERE rowid = ?`);
  let values = 0;
  // Imported messages have places below zero.
  for (let last = Number.MIN_SAFE_INTEGER; ;) {
    const rows = page.all([last]) as SealedRow[];
    for (const row of rows) {
      const bound = context(...keys.map((_, index) => row[`k${index}`] as string | number));
      update.run([to.seal(opened(from, new Uint8Array(row.sealed), bound, table), bound), row.row]);
      failpoint("while-rotating");
    }
    values += rows.length;
    if (rows.length < ROWS_AT_ONCE) return values;
    last = rows.at(-1)!.row;
  }
}

function opened(box: SecretBox, sealed: Uint8Array, context: string, table: string): Buffer {
  try {
    return box.open(sealed, context);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new StartError(
      `A value of the table ${table} does not open with the present master key; nothing was changed. Restore a backup first.`,
    );
  }
}
