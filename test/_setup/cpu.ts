import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** What a file has cost: CPU milliseconds of its worker and of the processes that it started and that have ended. */
    cpuMs?: number;
  }
}

/** CPU milliseconds of this process and of its children that are gone, in steps of 10 ms; null where there is no /proc. */
function usedMs(): number | null {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]!.split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10;
  } catch {
    return null;
  }
}

/** Set in a worker's first file, which has cost the worker's start as well. */
const KNOWN = Symbol.for("parley.test.cpu");
const before = KNOWN in globalThis ? usedMs() : 0;
Object.assign(globalThis, { [KNOWN]: true });

// The hooks of a setup file run after those of the tests: by then gateways and simulators are gone.
// oxlint-disable-next-line no-empty-pattern -- Vitest asks for one before it hands the suite along
afterAll(({}, suite) => {
  const now = usedMs();
  if (now !== null) suite.file.meta.cpuMs = now - (before ?? now);
});
