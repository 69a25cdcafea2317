import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { meta } from "../../../drizzle/schema.ts";
import { SCHEDULE, UNDER_WAY, type BackupSchedule } from "../../backup/scheduled.ts";
import type { Config, ScheduledBackupSettings } from "../../config.ts";
import { DAY_MS, HOUR_MS } from "../../model/time.ts";
import { openReadOnly } from "../../store/file/read-only.ts";
import { defineQuery } from "../../store/query.ts";
import { bad, good, note, type Finding } from "./finding.ts";

const LAST_BACKUP = defineQuery("SELECT value FROM meta WHERE key = 'last_backup'", { value: meta.value });
const OLD_BACKUP_DAYS = 7;
/** One that was due and did not come within so many of its intervals was not made. */
const MISSED = 3;
/** One that has begun earlier, and has no outcome, was interrupted. */
const MAY_TAKE_MS = HOUR_MS;
const HOW = "set BACKUP_TO, then the gateway makes one every hour (docs/operations/backup.md)";

/** Are backups made, and did the last one succeed? */
export async function checkBackup(config: Config, now = Date.now()): Promise<Finding[]> {
  if (!config.databaseUrl.startsWith("file:"))
    return [
      note(
        "backup",
        "made by the libSQL server: make sure that it makes backups (docs/operations/backup.md)",
      ),
    ];
  if (!existsSync(config.databaseUrl.slice("file:".length))) return [];
  const rows = await openReadOnly(config).then(
    async (store) => {
      try {
        return [await store.readOne(LAST_BACKUP), await store.readOne(SCHEDULE)] as const;
      } finally {
        store.close();
      }
    },
    () => null,
  );
  // What keeps the database from being read is a finding of its own.
  if (rows === null) return [];
  const [last, row] = rows;
  if (config.scheduledBackups !== null) {
    const schedule = row === null ? null : (JSON.parse(row.value) as BackupSchedule);
    return [...checkSchedule(schedule, config.scheduledBackups, now), ...(await checkPlace(config))];
  }
  const made = last === null ? null : (JSON.parse(last.value) as { at: number });
  if (made === null) return [note("backup", `this gateway has made none yet: ${HOW}`)];
  const days = Math.floor((now - made.at) / DAY_MS);
  const when = `the last backup is from ${iso(made.at)}`;
  return [
    days >= OLD_BACKUP_DAYS ? note("backup", `${when}, ${days} days ago: ${HOW}`) : good("backup", when),
  ];
}

function checkSchedule(
  schedule: BackupSchedule | null,
  { everyMs }: ScheduledBackupSettings,
  now: number,
): Finding[] {
  if (schedule === null)
    return [
      note(
        "backup",
        "BACKUP_TO is set, and none was made yet: the running gateway makes the first one at once",
      ),
    ];
  const { at, reason, bytes, name, triedAt } = schedule;
  const isUnderWay = reason === UNDER_WAY && triedAt !== null && now - triedAt < MAY_TAKE_MS;
  const failures = schedule.failures - Number(isUnderWay);
  const last = at === null ? "there is none yet" : `the last one is from ${iso(at)}`;
  if (failures > 0 && reason !== null)
    return [
      bad(
        "backup",
        `the scheduled backup fails (${failures} times in a row): ${isUnderWay ? "the next one is under way" : reason}; ${last}.`,
      ),
    ];
  if (isUnderWay && at === null) return [note("backup", "the gateway makes the first one now")];
  if (at === null || now - at > MISSED * everyMs)
    return [note("backup", `${last}, though BACKUP_EVERY asks for more: is the gateway running?`)];
  return [good("backup", `${last} (${name}, ${((bytes ?? 0) / 1024 ** 2).toFixed(1)} MB), verified`)];
}

/** A disk that breaks takes both. */
async function checkPlace({ scheduledBackups, dataDir }: Config): Promise<Finding[]> {
  const to = scheduledBackups?.to;
  if (typeof to !== "string") return [];
  const [there, here] = await Promise.all([deviceOf(to), deviceOf(dataDir)]);
  return there !== null && there === here
    ? [note("backup", `${to} is on the same disk as DATA_DIR: copy it to another machine, or name a bucket`)]
    : [];
}

/** Of the folder, or of the first above it that is there. */
async function deviceOf(folder: string): Promise<number | null> {
  const found = await stat(folder).catch(() => null);
  if (found !== null) return found.dev;
  return folder === dirname(folder) ? null : deviceOf(dirname(folder));
}

const iso = (at: number): string => new Date(at).toISOString();
