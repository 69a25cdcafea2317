import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// What SQLite waits for at each commit and checkpoint. Waiting in front of the real call is like a disk that is as much
// slower; other threads go on.
const SHIM = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
static void wait_first(void) {
  const char *ms = getenv("SLOW_FSYNC_MS");
  if (ms == NULL) return;
  long n = atol(ms);
  struct timespec t = { n / 1000, (n % 1000) * 1000000L };
  nanosleep(&t, NULL);
}
int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int)) dlsym(RTLD_NEXT, "fsync");
  wait_first();
  return real(fd);
}
int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int)) dlsym(RTLD_NEXT, "fdatasync");
  wait_first();
  return real(fd);
}
`;

/** Linux with a compiler is what it takes. */
export const canSlowDown = (): boolean =>
  process.platform === "linux" && spawnSync("gcc", ["--version"], { stdio: "ignore" }).status === 0;

/**
 * Environment for a process every flush of which takes longer: nothing in the process knows. Needs `gcc` and glibc.
 *
 * @param ms added to each fsync and fdatasync
 * @throws Error when the shim cannot be compiled here
 */
export function slowDisk(ms: number): Record<string, string> {
  const folder = join(tmpdir(), "parley-slow-disk");
  const library = join(folder, "slow-fsync-1.so");
  if (!existsSync(library)) {
    mkdirSync(folder, { recursive: true });
    const source = join(folder, `slow-fsync-${process.pid}.c`);
    writeFileSync(source, SHIM);
    const draft = join(folder, `slow-fsync-${process.pid}.so`);
    execFileSync("gcc", ["-shared", "-fPIC", "-O2", "-o", draft, source, "-ldl"], { stdio: "pipe" });
    // In one step: two runs may compile it at once.
    renameSync(draft, library);
  }
  return { LD_PRELOAD: library, SLOW_FSYNC_MS: String(ms) };
}
