import { availableParallelism, loadavg } from "node:os";
import { readFileSync, statfsSync } from "node:fs";

/** What the machine was like while the gate ran. */
export interface MachineReport {
  cores: number;
  load: number;
  /** Percent of the CPU time that the host gave to others. */
  stealPercent: number;
  /** Bytes. */
  memoryFree: number;
  memoryLeast: number;
  sharedFree: number;
  sharedLeast: number;
}

const LOOK_EVERY_MS = 5_000;

/** Watches the machine from now on. `end` gives what was seen. */
export function watchMachine(): { end(): MachineReport } {
  const before = cpuTimes();
  let memoryLeast = memoryFree();
  let sharedLeast = sharedFree();
  const timer = setInterval(() => {
    memoryLeast = Math.min(memoryLeast, memoryFree());
    sharedLeast = Math.min(sharedLeast, sharedFree());
  }, LOOK_EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      const { all, steal } = cpuTimes();
      return {
        cores: availableParallelism(),
        load: loadavg()[0]!,
        stealPercent: ((steal - before.steal) / Math.max(1, all - before.all)) * 100,
        memoryFree: memoryFree(),
        memoryLeast: Math.min(memoryLeast, memoryFree()),
        sharedFree: sharedFree(),
        sharedLeast: Math.min(sharedLeast, sharedFree()),
      };
    },
  };
}

function cpuTimes(): { all: number; steal: number } {
  const times = (read("/proc/stat").split("\n")[0] ?? "").split(/\s+/).slice(1, 9).map(Number);
  return { all: times.reduce((sum, ticks) => sum + ticks, 0), steal: times[7] ?? 0 };
}

const memoryFree = (): number =>
  Number(/^MemAvailable:\s+(\d+) kB/m.exec(read("/proc/meminfo"))?.[1] ?? 0) * 1024;

function sharedFree(): number {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Empty where there is no /proc. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
