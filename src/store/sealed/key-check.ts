import { timingSafeEqual } from "node:crypto";
import type { Client } from "@libsql/client";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { createSecretBox } from "./secret-box.ts";
import {
  adoptNextMasterKey,
  dropNextMasterKey,
  findMasterKey,
  findNextMasterKey,
  MASTER_KEY_FILE,
} from "./secrets.ts";

const ROW = "master_key_check";
const DERIVATION_ROW = "derivation_key";

/** One row of the table `meta`. */
export interface MetaRow {
  key: string;
  value: string;
}

/** The value that the database's own key gives; null in a database that was never used. */
export async function readKeyCheck(client: Client): Promise<string | null> {
  return readMeta(client, ROW);
}

/**
 * The key that HMACs are made with: hashes of API keys, ids of replies, signatures of links. It is the first master key
 * that the data had. A later one seals it, so that none of them changes with the master key.
 */
export async function readDerivationKey(client: Client, masterKey: Buffer): Promise<Buffer> {
  const sealed = await readMeta(client, DERIVATION_ROW);
  return sealed === null
    ? masterKey
    : createSecretBox(masterKey).open(Buffer.from(sealed, "base64"), DERIVATION_ROW);
}

/** What `meta` says of a new master key. */
export function keyRows(masterKey: Buffer, derivationKey: Buffer): MetaRow[] {
  const sealed = createSecretBox(masterKey).seal(derivationKey, DERIVATION_ROW);
  return [
    { key: ROW, value: checkValue(masterKey) },
    { key: DERIVATION_ROW, value: sealed.toString("base64") },
  ];
}

/** What the table `meta` has under a key; null when it has nothing. */
export async function readMeta(client: Client, key: string): Promise<string | null> {
  const { rows } = await client.execute({ sql: "SELECT value FROM meta WHERE key = ?", args: [key] });
  return rows[0] === undefined ? null : String(rows[0].value);
}

/** Takes a row of `meta` away; none is fine. */
export async function forgetMeta(client: Client, key: string): Promise<void> {
  await client.execute({ sql: "DELETE FROM meta WHERE key = ?", args: [key] });
}

/**
 * Remembers which master key the data is sealed with; once, when the database is new.
 *
 * @returns the value that is there now: another process may have been the first, with a key of its own
 */
export async function writeKeyCheck(client: Client, key: Buffer): Promise<string> {
  await client.execute({
    sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING",
    args: [ROW, checkValue(key)],
  });
  return (await readKeyCheck(client)) ?? checkValue(key);
}

/**
 * The master key, as {@link findMasterKey} finds it. When the process was killed while `rotate-key` ran, `DATA_DIR` has two
 * of them, and the data says which: the other one is dropped, or kept under its own name.
 */
export function findSettledKey(
  config: Pick<Config, "masterKey" | "dataDir">,
  check: string,
  now: number,
): Buffer | null {
  const known = findMasterKey(config);
  const next = config.masterKey === null ? findNextMasterKey(config.dataDir) : null;
  if (next === null) return known;
  if (known !== null && keyFits(known, check)) {
    dropNextMasterKey(config.dataDir);
    return known;
  }
  if (!keyFits(next, check)) return known;
  adoptNextMasterKey(config.dataDir, now);
  return next;
}

/** @throws {StartError} when there is no key, or another one than the data was sealed with */
export function requireFittingKey(
  key: Buffer | null,
  check: string,
  dataDir: string,
  name: string,
): asserts key {
  const file = join(dataDir, MASTER_KEY_FILE);
  if (key === null)
    throw new StartError(
      `${name} is sealed, and its master key is missing: put the file ${file} back, or set PARLEY_MASTER_KEY to its text.`,
    );
  if (!keyFits(key, check))
    throw new StartError(
      `The master key does not fit ${name}: set PARLEY_MASTER_KEY (or the file ${file}) to the key that sealed it.`,
    );
}

/** Is this the key that the data was sealed with last? */
export function keyFits(key: Buffer, check: string): boolean {
  const expected = Buffer.from(check, "hex");
  const actual = Buffer.from(checkValue(key), "hex");
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function checkValue(key: Buffer): string {
  return createSecretBox(key).hmac("master-key-check", "parley").toString("hex");
}
