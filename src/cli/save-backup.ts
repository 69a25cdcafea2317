import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { addMasterKey, verifyArchive } from "../backup/archive.ts";
import { archiveName, createBackup } from "../backup/create.ts";
import type { Manifest } from "../backup/manifest.ts";
import { loadConfig, type Config } from "../config.ts";
import { SECOND_MS } from "../model/time.ts";
import { lockFile, requireDatabaseFile } from "../store/file/offline.ts";
import { findMasterKey, MASTER_KEY_FILE } from "../store/sealed/secrets.ts";
import { findOperator } from "./operator.ts";

interface SavedBackup {
  path: string;
  bytes: number;
  manifest: Manifest;
}

/**
 * Saves a copy that the running gateway makes; when none runs, one that is made here.
 *
 * @param wanted file (`….tar`), or folder for a file of our own naming; one that is missing is made. Default: the working
 *   directory
 * @throws Error in words for the operator; nothing unfinished stays
 */
export async function saveBackup(
  wanted: string | undefined,
  withKey: boolean,
  env: NodeJS.ProcessEnv = process.env,
): Promise<SavedBackup> {
  const config = loadConfig(env);
  const path = await targetFile(wanted);
  const key = withKey ? requireKey(config) : null;
  const part = `${path}.part`;
  try {
    await withCopy(config, env, async (archive) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await pipeline(Readable.from(archive), createWriteStream(part, { flags: "wx", mode: 0o600 }));
    });
    if (key !== null) await includeKey(part, key);
    const manifest = await verifyArchive(part);
    await flush(part);
    await rename(part, path);
    await flush(dirname(path));
    return { path, bytes: (await stat(path)).size, manifest };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new Error(
        `${part} exists: another backup is being written there, or was interrupted. If none is running, remove the file.`,
        {
          cause: error,
        },
      );
    await rm(part, { force: true });
    throw error;
  }
}

async function targetFile(wanted = "."): Promise<string> {
  const path = resolve(wanted);
  const found = await stat(path).catch(() => null);
  // A timer names its folder before anybody has made it.
  const isFolder = found?.isDirectory() ?? (wanted.endsWith("/") || !path.endsWith(".tar"));
  if (isFolder) return newFileIn(path);
  if (found) throw new Error(`${path} already exists; name another file, or a folder.`);
  return path;
}

/** The name has whole seconds: two backups may be made in one. */
async function newFileIn(folder: string): Promise<string> {
  for (let at = Date.now(); ; at += SECOND_MS) {
    const path = join(folder, archiveName(at));
    if (!(await stat(path).catch(() => null))) return path;
  }
}

async function withCopy(
  config: Config,
  env: NodeJS.ProcessEnv,
  take: (archive: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const operator = await findOperator(env).catch((error: unknown) => error as Error);
  if (!(operator instanceof Error)) return take(await operator.gateway.download("/admin/backup"));
  const database = requireDatabaseFile(config);
  // Nothing here, or a gateway that runs and does not answer: what was wrong with asking it says more.
  if (!(await stat(database).catch(() => null))) throw operator;
  const locked = await lockFile(config).catch(() => {
    throw operator;
  });
  try {
    const backup = await createBackup({ dataDir: config.dataDir, database, now: Date.now });
    await take(backup.archive).finally(() => backup.dispose());
  } finally {
    locked.release();
  }
}

function requireKey(config: Config): Buffer {
  const key = findMasterKey(config);
  if (key !== null) return key;
  throw new Error(
    `--with-key needs the master key, which is not in ${join(config.dataDir, MASTER_KEY_FILE)}: set DATA_DIR or PARLEY_MASTER_KEY as for the gateway.`,
  );
}

async function includeKey(archive: string, key: Buffer): Promise<void> {
  const folder = await mkdtemp(`${archive}-`);
  try {
    await writeFile(join(folder, MASTER_KEY_FILE), `${key.toString("base64")}\n`, { mode: 0o600 });
    await addMasterKey(archive, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}
