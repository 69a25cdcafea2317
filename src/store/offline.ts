import type { Config } from "../config.ts";
import { StartError } from "../model/errors.ts";
import { databaseFile, makeFolder, takeLocks } from "./open.ts";

/** The database of a gateway that does not run. */
export interface LockedFile {
  path: string;
  /** How to name it to the user. */
  name: string;
  release(): void;
}

/** A libSQL server keeps copies and keys in its own ways. @throws {StartError} */
export function requireDatabaseFile(config: Pick<Config, "databaseUrl">): string {
  const path = databaseFile(config.databaseUrl);
  if (path === null)
    throw new StartError(
      "DATABASE_URL names a libSQL server: back it up and restore it with that server's own tools.",
    );
  return path;
}

/**
 * For a command that works on the data itself: nobody else does as long as it is locked.
 *
 * @throws {StartError} when a gateway runs on it, or it is a server's
 */
export async function lockFile(config: Pick<Config, "databaseUrl" | "dataDir">): Promise<LockedFile> {
  const path = requireDatabaseFile(config);
  makeFolder(config.dataDir);
  const locks = await takeLocks(config.dataDir, path);
  return {
    path,
    name: `The database ${path}`,
    release() {
      for (const lock of locks) lock.release();
    },
  };
}
