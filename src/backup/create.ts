import { randomBytes } from "node:crypto";
import { chmodSync, constants } from "node:fs";
import { copyFile, link, mkdir, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mediaFiles } from "../../drizzle/schema.ts";
import packageJson from "../../package.json" with { type: "json" };
import { giveWay } from "../model/give-way.ts";
import { StartError } from "../model/errors/errors.ts";
import { copyDatabase } from "../store/file/copy-database.ts";
import { systemTime } from "../model/time.ts";
import { createFileReader } from "../store/file/file-engine.ts";
import { defineQuery } from "../store/query.ts";
import { createReading } from "../store/reading.ts";
import { pack } from "./archive.ts";
import { DATABASE, describeFiles, MANIFEST, MEDIA } from "./manifest.ts";

/** Copies are made here; a crash may leave one behind. */
export const WORK_FOLDER = "backup";
/** Left free on the disk, whatever a copy takes. */
const RESERVE_BYTES = 64 * 1024 * 1024;
const NAMES_AT_ONCE = 500;
/** Files have their rows' ids for names. */
const NAMED = defineQuery("SELECT id FROM media_files WHERE id IN (SELECT value FROM json_each(?))", {
  id: mediaFiles.id,
});
const MEDIA_FILE = /^mf_[0-9a-f]{24}$/;

/** One finished copy. It lies in `DATA_DIR` until it is disposed of. */
export interface Backup {
  /** Unix milliseconds of the instant that it shows. */
  createdAt: number;
  /** The archive, read from the disk as it is asked for. */
  archive: AsyncIterable<Uint8Array>;
  dispose(): Promise<void>;
}

/** What is copied. */
interface BackupSource {
  dataDir: string;
  /** Path of the database file, which may be in use. */
  database: string;
  now(): number;
}

/**
 * A consistent copy of everything that is true: the database, and the files that wait to be sent. Sealed values stay sealed,
 * and the master key is not part of it. The gateway may run on the data meanwhile, and waits for nothing.
 *
 * @throws {StartError} when the disk lacks room for the copy
 */
export async function createBackup(source: BackupSource, signal?: AbortSignal): Promise<Backup> {
  await requireRoom(source);
  const folder = join(source.dataDir, WORK_FOLDER, randomBytes(6).toString("hex"));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, MEDIA), { recursive: true, mode: 0o700 });
  try {
    // A file may be gone a moment after the database was copied, and one may have come a moment before: both are kept.
    await keepFiles(source.dataDir, folder);
    const createdAt = source.now();
    await copyDatabase(source.database, join(folder, DATABASE), signal);
    chmodSync(join(folder, DATABASE), 0o600);
    await keepFiles(source.dataDir, folder);
    const paths = [DATABASE, ...(await dropUnnamed(folder))];
    const manifest = await describeFiles(folder, paths, packageJson.version, createdAt);
    await writeFile(join(folder, MANIFEST), JSON.stringify(manifest, null, 2), { mode: 0o600 });
    return { createdAt, archive: pack(folder, paths), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** `parley-2026-11-21T23-04-05Z.tar` */
export function archiveName(createdAt: number): string {
  return `parley-${new Date(createdAt).toISOString().slice(0, 19).replaceAll(":", "-")}Z.tar`;
}

async function requireRoom({ dataDir, database }: BackupSource): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const { size } = await stat(database);
  const wanted = size + RESERVE_BYTES;
  if (bavail * bsize < wanted)
    throw new StartError(
      `A backup needs ${Math.ceil(wanted / 1024 ** 2)} MB of free disk space in DATA_DIR; free some space and try again.`,
    );
}

/** Links cost nothing and outlive the name they were made from; another file system gets a copy. */
async function keepFiles(dataDir: string, folder: string): Promise<void> {
  const names = await readdir(join(dataDir, MEDIA)).catch(() => []);
  for (const name of names.filter((entry) => MEDIA_FILE.test(entry))) {
    const [from, to] = [join(dataDir, MEDIA, name), join(folder, MEDIA, name)];
    await link(from, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EXDEV" || error.code === "EPERM" || error.code === "EMLINK")
        return copyFile(from, to, constants.COPYFILE_EXCL).catch(unlessKnown);
      return unlessKnown(error);
    });
  }
}

/** It is kept already, or it is gone: then nothing that was copied afterwards names it. */
function unlessKnown(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST" && error.code !== "ENOENT") throw error;
}

/** @returns paths in the archive of the files that the copied database names */
async function dropUnnamed(folder: string): Promise<string[]> {
  const reader = createFileReader(join(folder, DATABASE));
  const { read } = createReading(reader, systemTime);
  const kept: string[] = [];
  try {
    const names = await readdir(join(folder, MEDIA));
    for (let from = 0; from < names.length; from += NAMES_AT_ONCE, await giveWay()) {
      const some = names.slice(from, from + NAMES_AT_ONCE);
      const rows = await read(NAMED, [JSON.stringify(some)]);
      const named = new Set(rows.map(({ id }) => id));
      for (const name of some)
        if (named.has(name)) kept.push(`${MEDIA}/${name}`);
        else await rm(join(folder, MEDIA, name));
    }
  } finally {
    reader.close();
  }
  return kept;
}
