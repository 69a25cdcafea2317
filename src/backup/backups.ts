import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { GatewayError, StartError } from "../model/errors/errors.ts";
import { requireDatabaseFile } from "../store/file/offline.ts";
import { archiveName, createBackup, WORK_FOLDER, type Backup } from "./create.ts";

const RETRY_AFTER_SECONDS = 60;

/** A backup on its way out. */
interface OutgoingBackup {
  fileName: string;
  /** Unix milliseconds of the instant that it shows. */
  createdAt: number;
  /** What was made for it is removed when it ends, however it ends. */
  body: AsyncIterable<Uint8Array>;
}

/** What `GET /admin/backup` asks. */
export interface Backups {
  /** @throws RATE_LIMITED while another is being made; UNAVAILABLE when the disk lacks room, or the database is a server's */
  make(): Promise<OutgoingBackup>;
  /** Breaks off what is being made. */
  stop(): void;
}

/** What making backups takes. */
interface BackupsDeps {
  config: Pick<Config, "dataDir" | "databaseUrl">;
  log: Logger;
  now(): number;
  /** Told of one that was made and taken to its end. Default: nobody is. */
  onMade?(backup: MadeBackup): void;
}

/** A backup that somebody has. */
export interface MadeBackup {
  /** What it holds is of this time, Unix milliseconds. */
  at: number;
  bytes: number;
}

/** Copies of a gateway that runs. What a crash has left of one is removed. */
export function createBackups({ config, log, now, onMade }: BackupsDeps): Backups {
  const { dataDir } = config;
  rmSync(join(dataDir, WORK_FOLDER), { recursive: true, force: true });
  const stopping = new AbortController();
  let busy = false;

  function sent(backup: Backup): AsyncIterable<Uint8Array> {
    const chunks = backup.archive[Symbol.asyncIterator]();
    let bytes = 0;
    const end = async (): Promise<void> => {
      busy = false;
      await backup.dispose();
    };
    // Not a generator: one that is given up before its first chunk would never come to its end.
    const iterator: AsyncIterator<Uint8Array> = {
      async next() {
        try {
          const { done, value } = await chunks.next();
          if (!done) {
            bytes += value.length;
            return { done, value };
          }
          log.info({ bytes, seconds: Math.round((now() - backup.createdAt) / 1000) }, "backed up");
          onMade?.({ at: backup.createdAt, bytes });
        } catch (error) {
          await end();
          throw error;
        }
        await end();
        return { done: true, value: undefined };
      },
      async return() {
        await chunks.return?.();
        await end();
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  return {
    async make() {
      if (busy)
        throw new GatewayError("RATE_LIMITED", "Another backup is running; try again when it has ended.", {
          retryAfter: RETRY_AFTER_SECONDS,
        });
      busy = true;
      try {
        const source = { dataDir, database: requireDatabaseFile(config), now };
        const backup = await createBackup(source, stopping.signal);
        const { createdAt } = backup;
        return { fileName: archiveName(createdAt), createdAt, body: sent(backup) };
      } catch (error) {
        busy = false;
        if (error instanceof StartError) throw unavailable(error.message);
        throw error;
      }
    },
    stop: () => stopping.abort(),
  };
}

const unavailable = (message: string): GatewayError =>
  new GatewayError("UNAVAILABLE", message, { retryAfter: RETRY_AFTER_SECONDS });
