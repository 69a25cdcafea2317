import { chmodSync, readdirSync, statSync } from "node:fs";
import type { Logger } from "../../log.ts";

const OTHERS = 0o077;
const STICKY = 0o1000;
/** What lies in a data folder. One that holds anything else may be somebody's for other reasons, `/tmp` or `/`. */
const OURS =
  /^(?:parley\.db|lock(?:$|[.-])|ballast(?:$|\.)|master-key|admin-token|epoch(?:$|\.)|media$|tmp$|backup$|restore-unfinished$)/;

/**
 * Lets nobody else look into the data folder: names, sizes and times of files are nobody's business, and a copy of it is a
 * copy of everything. Where that cannot be done, or the folder is not Parley's alone, it is said.
 */
export function keepPrivate(folder: string, log: Logger): void {
  const { mode, uid } = statSync(folder);
  // Without users there are no such modes.
  if ((mode & OTHERS) === 0 || process.getuid === undefined) return;
  const mine = uid === process.getuid() && (mode & STICKY) === 0 && readdirSync(folder).every(isOurs);
  if (mine && tighten(folder, mode))
    log.warn({ folder }, `other users could read DATA_DIR ${folder}; its mode is now 0700`);
  else
    log.warn(
      { folder },
      `other users can read DATA_DIR ${folder}: run chmod 700 ${folder}, or set another DATA_DIR`,
    );
}

const isOurs = (name: string): boolean => OURS.test(name);

function tighten(folder: string, mode: number): boolean {
  try {
    chmodSync(folder, mode & 0o7777 & ~OTHERS);
    return (statSync(folder).mode & OTHERS) === 0;
  } catch {
    return false;
  }
}
