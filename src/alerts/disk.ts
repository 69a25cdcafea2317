import { statfs } from "node:fs/promises";
import { GENERAL } from "./alert.ts";
import type { Ledger } from "./ledger.ts";

/** With less free space the operator is told, while there is time to do something about it. */
export const LOW_DISK_BYTES = 500 * 1024 * 1024;
/** It is over when there is so much more. */
const ENOUGH_BYTES = LOW_DISK_BYTES * 1.2;

/** Looks at the disk of a folder. @returns to be called now and then; rejects when the alert cannot be stored */
export function createDiskWatch(
  { dataDir, node }: { dataDir: string; node: string | null },
  ledger: Pick<Ledger, "raise" | "clear">,
  now: () => number,
): () => Promise<void> {
  const key = node === null ? "disk" : `disk:${node}`;
  /** Null: not known whether an earlier run has told. */
  let isLow: boolean | null = null;

  return async () => {
    const found = await statfs(dataDir).catch(() => null);
    if (found === null) return;
    const free = found.bavail * found.bsize;
    const low = free < (isLow === true ? ENOUGH_BYTES : LOW_DISK_BYTES);
    if (low === isLow) return;
    if (low)
      await ledger.raise(key, {
        ...GENERAL,
        alert: "disk_low",
        since: now(),
        node,
        text: `The disk of DATA_DIR has only ${Math.floor(free / 1024 ** 2)} MB left.`,
        advice: "Free some space, or lower RETENTION_DAYS: the gateway receives nothing once it is full.",
      });
    else
      await ledger.clear(
        key,
        now(),
        `The disk of DATA_DIR has ${Math.floor(free / 1024 ** 2)} MB free again.`,
      );
    isLow = low;
  };
}
