import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { databaseFile, makeFolder, takeLocks } from "../open.ts";

/** The database of a gateway that does not run. */
export interface LockedFile {
  path: string;
  /** How to name it to the user. */
  name: string;
  release(): void;
}

const OWN_TOOLS = "back it up and restore it with that server's tools, or move the data into a file first";

/**
 * A libSQL server keeps copies and keys in its own ways.
 *
 * @param cure what to do instead, on a server
 * @throws {StartError} when it is one
 */
export function requireDatabaseFile(config: Pick<Config, "databaseUrl">, cure: string = OWN_TOOLS): string {
  const path = databaseFile(config.databaseUrl);
  if (path === null)
    throw new StartError(`DATABASE_URL names a libSQL server: ${cure} (docs/libsql-server.md).`);
  return path;
}

/**
 * For a command that works on the data itself: nobody else does as long as it is locked.
 *
 * @param cure as of `requireDatabaseFile`
 * @throws {StartError} when a gateway runs on it, or it is a server's
 */
export async function lockFile(
  config: Pick<Config, "databaseUrl" | "dataDir">,
  cure?: string,
): Promise<LockedFile> {
  const path = requireDatabaseFile(config, cure);
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
