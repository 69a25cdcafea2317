import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parseAdminToken, parseMasterKey, type Config } from "../config.ts";
import { StartError } from "../model/errors.ts";

export const MASTER_KEY_FILE = "master-key";
export const ADMIN_TOKEN_FILE = "admin-token";

/** The key from the environment, else from `DATA_DIR`; null when there is none yet. */
export function findMasterKey(config: Pick<Config, "masterKey" | "dataDir">): Buffer | null {
  if (config.masterKey !== null) return config.masterKey;
  const file = join(config.dataDir, MASTER_KEY_FILE);
  const text = readSecret(file);
  return text === null ? null : parseMasterKey(text, `The file ${file}`);
}

/** Makes a key and keeps it in `DATA_DIR`, on disk before it is used. */
export function generateMasterKey(dataDir: string): Buffer {
  const key = randomBytes(32);
  writeSecret(join(dataDir, MASTER_KEY_FILE), key.toString("base64"));
  return key;
}

/** The token from the environment, else from `DATA_DIR`, made there at the first start. */
export function findOrGenerateAdminToken(config: Pick<Config, "adminToken" | "dataDir">): string {
  if (config.adminToken !== null) return config.adminToken;
  const file = join(config.dataDir, ADMIN_TOKEN_FILE);
  const text = readSecret(file);
  if (text !== null) return parseAdminToken(text, `The file ${file}`);
  const token = randomBytes(24).toString("base64url");
  writeSecret(file, token);
  return token;
}

function readSecret(file: string): string | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new StartError(`The file ${file} cannot be read (${(error as Error).message}); make it readable.`);
  }
  // A backup that was unpacked carelessly must not leave it readable to everybody.
  chmodSync(file, 0o600);
  return text.trim();
}

/**
 * Whole or not at all, and never over an existing file: a half-written key would lock the data away for ever. The link
 * fails when the name exists; the folder is flushed so that the name survives a power cut as well.
 */
function writeSecret(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  const handle = openSync(draft, "w", 0o600);
  try {
    writeSync(handle, `${text}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(draft, file);
  } finally {
    unlinkSync(draft);
  }
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
