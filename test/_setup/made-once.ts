import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { mkdir, rename, rmdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { removeFolder } from "./folders.ts";

/** Absolute path of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL("../../", import.meta.url));
const KEPT = 3;
/** What is made takes seconds; who holds the lock for longer has died. */
const LOCK_STALE_MS = 180_000;

/** A folder that is made of files of the repository, once for all test runs that have the same files. */
export interface MadeOnce {
  /** `build` becomes `.test/build-<hash>`. */
  name: string;
  /** Files and folders, from the root. */
  of: string[];
  /** Files that are not part of it. */
  without?: RegExp;
  /** Fills a folder, which is new, and renamed when it is done. */
  make(folder: string): Promise<void>;
}

/** The place where {@link madeOnce} puts it, made or not. */
export function placeOf({ name, of, without }: Omit<MadeOnce, "make">): string {
  const hash = createHash("sha256");
  for (const file of of.flatMap(filesUnder).filter((path) => !without?.test(path)))
    hash.update(file).update(readFileSync(join(root, file)));
  return join(root, ".test", `${name}-${hash.digest("hex").slice(0, 16)}`);
}

/** @returns the folder; several test runs at once share it, and nobody ever sees half of it */
export async function madeOnce(what: MadeOnce): Promise<string> {
  const folder = placeOf(what);
  await mkdir(join(root, ".test"), { recursive: true });
  if (!existsSync(folder))
    await withLock(`${folder}.lock`, async () => {
      if (existsSync(folder)) return;
      const unfinished = `${folder}.${process.pid}`;
      await what.make(unfinished);
      await rename(unfinished, folder);
    });
  utimesSync(folder, new Date(), new Date());
  removeOld(what.name);
  return folder;
}

function filesUnder(path: string): string[] {
  const full = join(root, path);
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
}

async function withLock(lock: string, work: () => Promise<unknown>): Promise<void> {
  while (!(await takeLock(lock))) await new Promise((resolve) => setTimeout(resolve, 100));
  try {
    await work();
  } finally {
    await rmdir(lock);
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > LOCK_STALE_MS) await rmdir(lock).catch(() => {});
    return false;
  }
}

function removeOld(name: string): void {
  const pattern = new RegExp(`^${name}-[0-9a-f]{16}$`);
  const folders = readdirSync(join(root, ".test"))
    .filter((folder) => pattern.test(folder))
    .map((folder) => join(root, ".test", folder))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const folder of folders.slice(KEPT)) removeFolder(folder);
}
