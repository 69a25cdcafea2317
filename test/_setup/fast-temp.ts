import { accessSync, constants, statfsSync } from "node:fs";

/** Where Linux keeps files in memory. */
const IN_MEMORY = "/dev/shm";
/** What the largest tests put there at once, several times over. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/**
 * Lets temporary folders of tests, and of the gateways that they start, lie in memory: a commit there costs no disk. A killed
 * process loses as much or as little as on a disk, because what it has written belongs to the kernel. Tests about disks (full,
 * slow, read-only) make one of their own. Nothing changes where TMPDIR is given, or where there is no such folder.
 */
export function useMemoryForTemporaryFiles(): void {
  if (process.env["TMPDIR"] || process.platform !== "linux") return;
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (bavail * bsize >= ENOUGH_BYTES) process.env["TMPDIR"] = IN_MEMORY;
  } catch {
    // The disk does as well.
  }
}
