import { MINUTE_MS } from "../../model/time.ts";
import { createLru } from "../../model/lru.ts";

/** Tells a file that WhatsApp's media service does not take from a service that takes none. */
export interface MediaService {
  hasTaken(fileId: string): void;
  /**
   * A file was not taken, in a way that passes.
   *
   * @param answered the status that came; null: none
   * @returns true when that says nothing of the file
   */
  isAway(fileId: string, answered: number | null): boolean;
}

/** Statuses of a service that cannot do its work now, whatever it is asked. An answer that is no failure is not its own. */
const AWAY = new Set([408, 425, 429, 502, 503, 504]);
/** For so long what happened to other files counts as having happened at the same time. */
const WINDOW_MS = 10 * MINUTE_MS;
const MAX_FILES = 1_000;

/** One for all numbers: they share the service. */
export function createMediaService(): MediaService {
  /** How many files had been taken when a file failed for the first time. */
  const failing = createLru<string, number>(MAX_FILES, WINDOW_MS);
  let taken = 0;

  return {
    hasTaken(fileId) {
      taken++;
      failing.delete(fileId);
    },
    isAway(fileId, answered) {
      const before = failing.get(fileId);
      if (before === undefined) failing.set(fileId, taken);
      else if (taken > before) return false;
      return answered === null || answered < 400 || AWAY.has(answered);
    },
  };
}
