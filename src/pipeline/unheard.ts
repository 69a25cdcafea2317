import type { Logger } from "../log.ts";
import { backoffMs, type Time } from "../model/time.ts";

interface UnheardCommitsDeps {
  deviceId: number;
  /** Brings stored messages that are in no lane into their lanes. @throws StorageUnavailable */
  look(): Promise<void>;
  /** Aborts when nothing is to be looked for any more. */
  ending: AbortSignal;
  time: Pick<Time, "pause">;
  log: Logger;
}

/** Commits that may have stored messages of a number, of which nobody has heard yet whether they have. */
export interface UnheardCommits {
  /** @returns to be called when it is known that the commit was made; true: nobody has looked for its rows meanwhile */
  begin(): () => boolean;
  /** Looks for the rows of all that were begun by now. @throws StorageUnavailable; nothing is known yet */
  settle(): Promise<void>;
  /** The same until the database answers, or the number is closed. Never rejects. */
  settleInTheEnd(): Promise<void>;
}

/** Of commits that are prepared and never made, nobody hears: so many are remembered until the table is asked. */
const MOST_UNHEARD = 10_000;

/** None yet. */
export function createUnheardCommits(deps: UnheardCommitsDeps): UnheardCommits {
  const { ending, time, log } = deps;
  const unheard = new Set<symbol>();
  /** The look at the table that is under way. */
  let settling: Promise<void> | null = null;

  async function lookForUnheard(): Promise<void> {
    const commits = [...unheard];
    try {
      await deps.look();
      for (const commit of commits) unheard.delete(commit);
    } finally {
      settling = null;
    }
  }

  async function settle(): Promise<void> {
    const asked = [...unheard];
    // A look that is under way may have begun before the last of them.
    while (!ending.aborted && asked.some((commit) => unheard.has(commit))) {
      settling ??= lookForUnheard();
      await settling;
    }
  }

  async function settleInTheEnd(): Promise<void> {
    for (let failures = 1; !ending.aborted; failures++)
      try {
        return await settle();
      } catch (err) {
        const device = deps.deviceId;
        log.warn({ err, device }, "stored messages may have to wait: the database does not answer");
        await time.pause(backoffMs(failures), ending);
      }
  }

  return {
    begin() {
      const commit = Symbol();
      unheard.add(commit);
      if (unheard.size === MOST_UNHEARD) void settleInTheEnd();
      return () => {
        if (unheard.delete(commit)) return true;
        // The look at the table may have come before the commit.
        unheard.add(commit);
        void settleInTheEnd();
        return false;
      };
    },
    settle,
    settleInTheEnd,
  };
}
