import { execFile } from "node:child_process";
import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MINUTE_MS, SECOND_MS, type Time } from "../model/time.ts";

/** What takes how much room, in bytes; null: not known. */
export interface DiskUsage {
  /** When it was measured, Unix milliseconds; null: it is being measured for the first time. */
  measuredAt: number | null;
  /** The file with its WAL; null on a server. */
  database: number | null;
  /** Files of messages on this disk. */
  media: number | null;
  free: number | null;
  total: number | null;
}

/** Measured anew when somebody asks, but not more often. */
const REMEMBERED_MS = 5 * MINUTE_MS;
/** So long whoever asks waits for the first figures. */
const PATIENCE_MS = 2 * SECOND_MS;
const LONGEST_MS = MINUTE_MS;

const UNKNOWN: DiskUsage = { measuredAt: null, database: null, media: null, free: null, total: null };

/** @returns tells what was measured last; whoever asks first waits a moment for it */
export function createDiskUsage(
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string },
  time: Pick<Time, "now" | "within">,
): () => Promise<DiskUsage> {
  let last: DiskUsage = UNKNOWN;
  let measuring: Promise<void> | null = null;

  async function measure(): Promise<void> {
    const file = databaseUrl.startsWith("file:") ? pathOf(databaseUrl) : null;
    const [disk, media, database] = await Promise.all([
      statfs(dataDir).catch(() => null),
      sizeOfFolder(join(dataDir, "media")),
      file === null ? null : sizeOfFiles([file, `${file}-wal`]),
    ]);
    last = {
      measuredAt: time.now(),
      database,
      media,
      free: disk && disk.bavail * disk.bsize,
      total: disk && disk.blocks * disk.bsize,
    };
  }

  return async () => {
    if (last.measuredAt === null || last.measuredAt < time.now() - REMEMBERED_MS)
      measuring ??= measure().finally(() => (measuring = null));
    if (last.measuredAt === null && measuring !== null) await time.within(PATIENCE_MS, measuring);
    return last;
  };
}

const pathOf = (url: string): string =>
  url.startsWith("file:///") ? fileURLToPath(url) : url.slice("file:".length);

/** Null when there is none of them. */
async function sizeOfFiles(paths: string[]): Promise<number | null> {
  const sizes = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => null,
      ),
    ),
  );
  return sizes[0] === null ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

/**
 * There may be millions of files: another process looks at each. Null where there is no `du`, or when it takes too long.
 */
function sizeOfFolder(folder: string): Promise<number | null> {
  return new Promise((resolve) => {
    execFile("du", ["-sk", folder], { timeout: LONGEST_MS }, (error, text) => {
      const kibibytes = /^\d{1,15}/.exec(text)?.[0];
      resolve(error !== null || kibibytes === undefined ? null : Number(kibibytes) * 1024);
    });
  });
}
