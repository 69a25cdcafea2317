import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parseAdminToken, parseMasterKey, type Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";

/** Name in the data folder of the key that everything secret is sealed with. */
export const MASTER_KEY_FILE = "master-key";
/** Name in the data folder of the operator's token. */
export const ADMIN_TOKEN_FILE = "admin-token";
/** The key that the data is being sealed with; it takes the place of the other once all of it is. */
const NEXT_KEY_FILE = "master-key.next";
/** Before the time at which a key was replaced: what was backed up until then opens with it. */
const OLD_KEY_PREFIX = "master-key.until-";

/** The key from the environment, else from `DATA_DIR`; null when there is none yet. */
export function findMasterKey(config: Pick<Config, "masterKey" | "dataDir">): Buffer | null {
  if (config.masterKey !== null) return config.masterKey;
  return readKeyFile(join(config.dataDir, MASTER_KEY_FILE));
}

/** Makes a key and keeps it in `DATA_DIR`, on disk before it is used. */
export function generateMasterKey(dataDir: string): Buffer {
  const key = randomBytes(32);
  writeSecret(join(dataDir, MASTER_KEY_FILE), key.toString("base64"));
  return key;
}

/** Makes the key that is to follow, and keeps it beside the present one. One that a broken rotation left is dropped. */
export function generateNextMasterKey(dataDir: string): Buffer {
  const key = randomBytes(32);
  dropNextMasterKey(dataDir);
  writeSecret(join(dataDir, NEXT_KEY_FILE), key.toString("base64"));
  return key;
}

/** Null when no change of the key is under way. */
export function findNextMasterKey(dataDir: string): Buffer | null {
  return readKeyFile(join(dataDir, NEXT_KEY_FILE));
}

/** Deletes the key of a change that was not finished; none is fine as well. */
export function dropNextMasterKey(dataDir: string): void {
  rmSync(join(dataDir, NEXT_KEY_FILE), { force: true });
}

/**
 * The next key becomes the one: from one instant to the other, and the old one stays under a name that says until when
 * it held. Doing it again after a crash is harmless.
 *
 * @returns the file with the old key; null when there was none
 */
export function adoptNextMasterKey(dataDir: string, now: number): string | null {
  const present = join(dataDir, MASTER_KEY_FILE);
  const old = existsSync(present)
    ? join(dataDir, `${OLD_KEY_PREFIX}${new Date(now).toISOString().replaceAll(":", "-")}`)
    : null;
  if (old !== null) linkSync(present, old);
  renameSync(join(dataDir, NEXT_KEY_FILE), present);
  flushFolder(dataDir);
  return old;
}

/** Puts a key in the place of the one in `DATA_DIR`, which is kept. Nothing happens when it is the same. */
export function replaceMasterKey(dataDir: string, key: Buffer, now: number): void {
  const present = readKeyFile(join(dataDir, MASTER_KEY_FILE));
  if (present?.equals(key)) return;
  dropNextMasterKey(dataDir);
  writeSecret(join(dataDir, NEXT_KEY_FILE), key.toString("base64"));
  adoptNextMasterKey(dataDir, now);
}

/** Every key in `DATA_DIR`: the present one, one that is to follow, and those of before. */
export function everyMasterKey(dataDir: string): Buffer[] {
  const old = readdirSync(dataDir).filter((name) => name.startsWith(OLD_KEY_PREFIX));
  return [MASTER_KEY_FILE, NEXT_KEY_FILE, ...old].flatMap((name) => readKeyFile(join(dataDir, name)) ?? []);
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

function readKeyFile(file: string): Buffer | null {
  const text = readSecret(file);
  return text === null ? null : parseMasterKey(text, `The file ${file}`);
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
  flushFolder(dirname(file));
}

function flushFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
