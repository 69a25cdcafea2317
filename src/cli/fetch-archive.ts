import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config.ts";
import { createS3Store } from "../media/s3.ts";
import { parseBucket } from "../model/media/media-store-setting.ts";
import { createSettings } from "../model/settings.ts";
import { HOUR_MS, systemTime } from "../model/time.ts";

/** Of a whole archive; how fast it comes is looked at beside. */
const LONGEST_READ_MS = 12 * HOUR_MS;

/**
 * Hands over a backup as a file of this disk. One that lies in a bucket is fetched into `DATA_DIR` first, and removed afterwards. Region,
 * endpoint and keys are those of BACKUP_TO unless the address names others.
 *
 * @param named a path, or `s3://bucket/…/name.tar`
 * @throws Error in words for the operator
 */
export async function withArchive<T>(
  config: Pick<Config, "dataDir" | "scheduledBackups">,
  named: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (!named.startsWith("s3://")) return work(named);
  const name = named.split("?")[0]!.split("/").at(-1)!;
  const folder = named.replace(`/${name}`, "");
  const given = parseBucket(createSettings(process.env), "The address of the backup", folder);
  const to = config.scheduledBackups?.to;
  const isBackupTo = typeof to === "object" && to.bucket === given.bucket && !named.includes("?");
  const store = createS3Store(isBackupTo ? { ...to, prefix: given.prefix } : given, systemTime, undefined, {
    wholeFileMs: LONGEST_READ_MS,
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const own = await mkdtemp(join(config.dataDir, "fetched-"));
  const path = join(own, name);
  try {
    const found = await store.get(name, (chunks) =>
      pipeline(chunks, createWriteStream(path, { mode: 0o600 })),
    );
    if (!found) throw new Error(`There is no ${named}.`);
    return await work(path);
  } finally {
    await rm(own, { recursive: true, force: true });
    await store.close();
  }
}
