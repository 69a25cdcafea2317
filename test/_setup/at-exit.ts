import type { ChildProcess } from "node:child_process";

/** Runs when the process ends by itself, or by the SIGTERM with which Vitest ends its workers; never by SIGKILL. */
export function atExit(work: () => void): void {
  process.once("exit", work);
  process.once("SIGTERM", () => {
    work();
    // Once all of these have run nobody listens any more, and it ends.
    process.kill(process.pid, "SIGTERM");
  });
}

const children = new Set<ChildProcess>();
let watching = false;

/** A server of a test does not outlive the run, also when that is broken off and no test comes to its end. */
export function endsWithUs(child: ChildProcess): void {
  if (!watching)
    atExit(() => {
      for (const one of children) one.kill("SIGKILL");
    });
  watching = true;
  children.add(child);
  child.once("exit", () => children.delete(child));
}
