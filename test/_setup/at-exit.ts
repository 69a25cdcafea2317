/** Runs when the process ends by itself, or by the SIGTERM with which Vitest ends its workers; never by SIGKILL. */
export function atExit(work: () => void): void {
  process.once("exit", work);
  process.once("SIGTERM", () => {
    work();
    // Once all of these have run nobody listens any more, and it ends.
    process.kill(process.pid, "SIGTERM");
  });
}
