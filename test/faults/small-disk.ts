import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";

export interface SmallDisk {
  folder: string;
  /** Writes until nothing more fits. */
  fill(): void;
  /** Gives back what `fill` took. */
  free(): void;
  /** Bytes that still fit. */
  room(): number;
}

/**
 * A real filesystem of so many MiB, in memory; gone after the test.
 *
 * @throws when this user may not mount one: these tests do not pass by not running
 */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "parley-disk-"));
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const run = (...command: string[]): void => {
    const [program, ...args] = [...asRoot, ...command];
    execFileSync(program!, args, { stdio: "pipe" });
  };
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0777`, "tmpfs", folder);
  } catch (error) {
    removeFolder(folder);
    throw new Error(
      `A small filesystem is needed to fill it, and none could be mounted (${(error as Error).message.trim()}). Run the tests as root or with sudo, or in a container that may mount (--cap-add SYS_ADMIN).`,
      { cause: error },
    );
  }
  onTestFinished(() => {
    // Lazily: a gateway that is being ended may still hold a file.
    run("umount", "-l", folder);
    removeFolder(folder);
  });
  const filler = join(folder, "filler");
  const room = (): number => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  };
  return {
    folder,
    room,
    fill() {
      const file = openSync(filler, "a");
      try {
        for (let size = 1024 * 1024; size >= 1; size >>= 1) writeUntilFull(file, size);
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
  };
}

function writeUntilFull(file: number, size: number): void {
  const block = Buffer.alloc(size, 1);
  try {
    for (;;) if (writeSync(file, block) < size) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
