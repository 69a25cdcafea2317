import { existsSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { systemTime } from "../../model/time.ts";

/** What a program that reads strangers' files may take. */
export interface ProcessLimits {
  /** Memory that it writes to, in bytes: its heap and stacks, not the code that it maps. */
  memoryBytes: number;
  /** Of a processor. The last line of defence: it ends what has lost its gateway. */
  cpuSeconds: number;
}

/** Bun sets aside this much more than Node before it has read anything, and ends at once where it is not there. */
const BUN_TAKES_BYTES = 180 * 1024 * 1024;
/** Of each thread: usually 8 MiB, which would count whole. */
const STACK_KILOBYTES = 2048;
const SHELL = "/bin/sh";
const SET_LIMITS = (memoryKilobytes: number, cpuSeconds: number): string =>
  `ulimit -c 0; ulimit -s ${STACK_KILOBYTES}; ulimit -d ${memoryKilobytes}; ulimit -t ${cpuSeconds}; exec "$0" "$@"`;

/**
 * Node cannot limit its children, a shell can, before it becomes the program itself: same process, same pipes.
 * Where there is no shell (images without one, Windows) the program runs without these limits; those of time stay.
 *
 * @returns what to spawn
 */
export function limited(
  program: string,
  args: string[],
  { memoryBytes, cpuSeconds }: ProcessLimits,
): [program: string, args: string[]] {
  if (!existsSync(SHELL)) return [program, args];
  const bytes = memoryBytes + ("bun" in process.versions ? BUN_TAKES_BYTES : 0);
  return [SHELL, ["-c", SET_LIMITS(Math.floor(bytes / 1024), cpuSeconds), program, ...args]];
}

/** What people wait for, above all messages, goes first. */
export function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already.
  }
}

/** How long a file may be read. */
export const FILE_MS = 5_000;
/** A busy machine, not the file, is what makes it slow up to here. */
const PATIENCE = 4;
const MS_PER_TICK = 10;
const USER_TICKS_AT = 11;

/**
 * Whether a process has had its time since now. A processor of its own all the while it has had `ms` after `ms`; where it
 * had to share it, it gets some more.
 *
 * @param ms default {@link FILE_MS}
 */
export function createTimeLimit(pid: number | undefined, ms = FILE_MS): () => boolean {
  const begun = systemTime.monotonic();
  const workedBefore = workedMs(pid) ?? 0;
  return () => {
    const taken = systemTime.monotonic() - begun;
    if (taken < ms) return false;
    const worked = workedMs(pid);
    return worked === null || worked - workedBefore >= ms * 0.8 || taken >= ms * PATIENCE;
  };
}

/** What a process has had of processors; null where the system does not tell. */
function workedMs(pid: number | undefined): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[USER_TICKS_AT]) + Number(fields[USER_TICKS_AT + 1])) * MS_PER_TICK;
  } catch {
    return null;
  }
}
