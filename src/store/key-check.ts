import { timingSafeEqual } from "node:crypto";
import type { Client } from "@libsql/client";
import { join } from "node:path";
import { StartError } from "../model/errors.ts";
import { createSecretBox } from "./secret-box.ts";
import { MASTER_KEY_FILE } from "./secrets.ts";

const ROW = "master_key_check";

/** The value that the database's own key gives; null in a database that was never used. */
export async function readKeyCheck(client: Client): Promise<string | null> {
  const { rows } = await client.execute({ sql: "SELECT value FROM meta WHERE key = ?", args: [ROW] });
  return rows[0] === undefined ? null : String(rows[0].value);
}

export async function writeKeyCheck(client: Client, key: Buffer): Promise<void> {
  await client.execute({ sql: "INSERT INTO meta (key, value) VALUES (?, ?)", args: [ROW, checkValue(key)] });
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
      `${name} is sealed, and its master key is missing: put the file ${file} back, or set PARLEY_MASTER_KEY to it.`,
    );
  const expected = Buffer.from(check, "hex");
  const actual = Buffer.from(checkValue(key), "hex");
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual))
    throw new StartError(
      `The master key does not fit ${name}: set PARLEY_MASTER_KEY (or the file ${file}) to the key that it was written with.`,
    );
}

function checkValue(key: Buffer): string {
  return createSecretBox(key).hmac("master-key-check", "parley").toString("hex");
}
