import { rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MINUTE_MS, type Cancel, type Time } from "../model/time.ts";
import { GENERAL } from "./alert.ts";
import type { Ledger } from "./ledger.ts";

/** In `DATA_DIR` while a gateway runs there; one that is found at a start was left by a run that did not end in order. */
export const RUNNING_FILE = "running";
const KEY = "restarted";
const SIGN_OF_LIFE_MS = MINUTE_MS;
/** A gateway that falls over and over is told of so often. */
const TOLD_EVERY_MS = 10 * MINUTE_MS;

/** Knows whether the last run of this folder ended in order. */
export interface LastEnd {
  /** Raises an alert when it did not, and says from now on that this run lives. */
  begin(): Promise<void>;
  /** This run ends in order. */
  end(): Promise<void>;
}

/** Kept in a file: what ends without order writes nothing to a database. */
export function createLastEnd(
  { dataDir, node }: { dataDir: string; node: string | null },
  ledger: Pick<Ledger, "raise" | "last" | "noteLast">,
  time: Pick<Time, "now" | "every">,
): LastEnd {
  const file = join(dataDir, RUNNING_FILE);
  const key = node === null ? KEY : `${KEY}:${node}`;
  let cancel: Cancel | null = null;

  async function tell(lastSign: number): Promise<void> {
    const now = time.now();
    const last = (await ledger.last(key))?.at ?? 0;
    // One that waits already takes this with it.
    const notBefore = last > now ? last : Math.max(now, last + TOLD_EVERY_MS);
    const since = Math.min(lastSign, now);
    await ledger.raise(
      key,
      {
        ...GENERAL,
        alert: "restarted",
        since,
        node,
        text: `The gateway was started again after it ended without order; it was last known to run at ${new Date(since).toISOString()}.`,
        advice: "See the log of before and the system's journal: kill, memory, power.",
      },
      { until: now, ...(notBefore > now && { notBefore }) },
    );
    await ledger.noteLast(key, notBefore);
  }

  return {
    async begin() {
      const left = await stat(file).catch(() => null);
      if (left !== null) await tell(Math.round(left.mtimeMs));
      await writeFile(file, `${process.pid}\n`, { mode: 0o600 });
      cancel = time.every(SIGN_OF_LIFE_MS, () => {
        const at = new Date();
        // A disk that is full or away is told of elsewhere.
        void utimes(file, at, at).catch(() => undefined);
      });
    },
    async end() {
      cancel?.();
      await rm(file, { force: true }).catch(() => undefined);
    },
  };
}
