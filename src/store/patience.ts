import { keepAlive, type Time } from "../model/time.ts";
import { BatchFailed } from "./engine.ts";

// Who else could hold the file's lock for a moment is a backup tool; the pauses add up to five seconds. The event loop
// goes on meanwhile: SQLite itself is told not to wait.
const BUSY_PAUSES_MS = [1, 4, 15, 50, 130, 300, 500, 1_000, 1_500, 1_500];

/**
 * Tries something until the database is not busy, for about five seconds.
 *
 * @param reset drops the connection; called after every failure that is not the statement's own fault
 * @throws {BatchFailed} of the last attempt
 */
export async function whileBusy<T>(
  time: Pick<Time, "pause">,
  attempt: () => T | Promise<T>,
  reset: () => void | Promise<void>,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const failed = error instanceof BatchFailed ? error : new BatchFailed("unavailable", null, error);
      if (failed.kind === "constraint" || failed.kind === "statement") throw failed;
      await reset();
      const pause = BUSY_PAUSES_MS[failures];
      if (failed.kind !== "busy" || pause === undefined) throw failed;
      await keepAlive(time.pause(pause));
    }
  }
}
