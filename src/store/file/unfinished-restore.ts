import { existsSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../../model/errors/errors.ts";

/** Stands in `DATA_DIR` while a restore puts its files in their places. */
export const UNFINISHED_RESTORE = "restore-unfinished";

/** Half of the files would be those of before and half those of the backup. @throws {StartError} */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (existsSync(join(dataDir, UNFINISHED_RESTORE)))
    throw new StartError(
      `A restore into ${dataDir} was interrupted; run it again: npm run parley -- restore <file> --force`,
    );
}
