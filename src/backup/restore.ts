import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Config } from "../config.ts";
import { failpoint } from "../model/failpoint.ts";
import { lockFile } from "../store/file/offline.ts";
import { replaceMasterKey } from "../store/sealed/secrets.ts";
import { EPOCH_FILE } from "../store/epoch.ts";
import { UNFINISHED_RESTORE } from "../store/file/unfinished-restore.ts";
import { unpack } from "./archive.ts";
import { checkFiles, DATABASE, MANIFEST, MEDIA, parseManifest, type Manifest } from "./manifest.ts";
import { openCopy, prepareCopy, type CopyDeps, type PreparedCopy } from "./prepare.ts";

/** What is restored, and where. */
interface RestoreOptions extends CopyDeps {
  config: Pick<Config, "dataDir" | "databaseUrl" | "masterKey">;
  /** Path of the archive. */
  archive: string;
  /** Whether data that is there may be put aside. */
  force: boolean;
}

/** What a restore has done. */
export interface Restored extends PreparedCopy {
  manifest: Manifest;
  /** Where the files of before are now; null when there were none. */
  aside: string | null;
}

/**
 * Puts the data of a backup in the place of what is there. Everything is checked and prepared beside it first; until then
 * nothing has changed. What was there is moved, never deleted. Killed while files change places, the gateway refuses to
 * start until it is done again.
 *
 * @throws Error, or StartError when a gateway runs on the data: in words for the operator
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, archive, force, now } = options;
  const { dataDir } = config;
  if (!(await stat(archive).catch(() => null))?.isFile()) throw new Error(`There is no file ${archive}.`);
  const locked = await lockFile(config);
  // Beside the database, so that it can change places in one step.
  const folder = join(dirname(locked.path), "restore");
  try {
    const present = await presentFiles(dataDir, locked.path);
    if (present.length > 0 && !force)
      throw new Error(
        `${dataDir} already has data. Add --force to move it aside (it is not deleted) and restore.`,
      );
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await unpack(archive, folder);
    const manifest = parseManifest(await readFile(join(folder, MANIFEST), "utf8").catch(() => ""));
    await checkFiles(folder, manifest);
    await chmod(join(folder, DATABASE), 0o600);
    const copy = await openCopy(join(folder, DATABASE), folder, config);
    const prepared = await prepareCopy(copy, options);
    const aside = changePlaces({ dataDir, database: locked.path, folder, present, now: now() });
    if (config.masterKey === null) replaceMasterKey(dataDir, copy.masterKey, now());
    // What a database of an earlier time needs was done to the copy.
    rmSync(join(dataDir, EPOCH_FILE), { force: true });
    rmSync(join(dataDir, UNFINISHED_RESTORE), { force: true });
    return { ...prepared, manifest, aside };
  } finally {
    await rm(folder, { recursive: true, force: true });
    locked.release();
  }
}

/** Files and folders that a restore takes the place of. */
async function presentFiles(dataDir: string, database: string): Promise<string[]> {
  const files = ["", "-wal", "-shm"].map((end) => `${database}${end}`).filter((file) => existsSync(file));
  const media = join(dataDir, MEDIA);
  const kept = await readdir(media).catch(() => []);
  return kept.length > 0 ? [...files, media] : files;
}

interface Move {
  dataDir: string;
  database: string;
  /** With what takes the place of `present`. */
  folder: string;
  present: string[];
  now: number;
}

/** @returns the folder with the files of before */
function changePlaces({ dataDir, database, folder, present, now }: Move): string | null {
  const stamp = new Date(now).toISOString().replaceAll(":", "-");
  writeFileSync(join(dataDir, UNFINISHED_RESTORE), `${stamp}\n`, { mode: 0o600 });
  flush(dataDir);
  failpoint("before-restored-files");
  const asideOf = (path: string): string => join(dirname(path), `before-restore-${stamp}`);
  for (const path of present) {
    mkdirSync(asideOf(path), { recursive: true, mode: 0o700 });
    moveIfThere(path, join(asideOf(path), basename(path)));
  }
  failpoint("after-files-aside");
  if (existsSync(join(folder, MEDIA))) {
    rmSync(join(dataDir, MEDIA), { recursive: true, force: true });
    move(join(folder, MEDIA), join(dataDir, MEDIA));
  }
  renameSync(join(folder, DATABASE), database);
  flush(dirname(database));
  failpoint("after-restored-database");
  return present.length > 0 ? asideOf(database) : null;
}

/** A connection that was just closed may take its log away only now: what it held is in the database then. */
function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" || !/-(wal|shm)$/.test(from)) throw error;
  }
}

/** The database may lie on another file system than `DATA_DIR`. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    cpSync(from, to, { recursive: true });
  }
}

function flush(folder: string): void {
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}
