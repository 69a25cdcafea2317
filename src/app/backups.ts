import { GENERAL } from "../alerts/alert.ts";
import type { Alerts } from "../alerts/alerts.ts";
import type { Backups } from "../backup/backups.ts";
import { folderPlace } from "../backup/folder-place.ts";
import type { BackupPlace } from "../backup/place.ts";
import { createScheduledBackups, type ScheduledBackups } from "../backup/scheduled.ts";
import type { ScheduledBackupSettings } from "../config.ts";
import { hideSecret } from "../log.ts";
import { createS3Store } from "../media/s3.ts";
import { HOUR_MS, type Time } from "../model/time.ts";
import type { Base } from "./data.ts";

/** Of a whole archive; how fast it comes is looked at beside. */
const LONGEST_READ_MS = 12 * HOUR_MS;
const KEY = "backup";

/** Backups by BACKUP_TO; null: it is not set. */
export function openScheduledBackups(
  { config, store, log, cluster }: Base,
  backups: Pick<Backups, "make">,
  alerts: Pick<Alerts, "raise" | "clear">,
): ScheduledBackups | null {
  const settings = config.scheduledBackups;
  if (settings === null) return null;
  if (typeof settings.to !== "string") hideSecret(log, settings.to.secretAccessKey);
  const place = openPlace(settings.to, store.time);
  return createScheduledBackups({
    config: { ...settings, keep: config.backupKeep },
    place,
    backups,
    store,
    log,
    isLeader: () => cluster.ownership.owns(0),
    async onOutcome(reason) {
      if (reason === null) return alerts.clear(KEY, `A backup to ${place.shown} succeeded again.`);
      await alerts.raise(KEY, {
        ...GENERAL,
        alert: "backup_failed",
        since: store.now(),
        text: `The scheduled backup to ${place.shown} failed: ${reason}.`,
        advice: "Parley tries again within ten minutes, and removes no earlier backup until one succeeds.",
      });
    },
  });
}

function openPlace(to: ScheduledBackupSettings["to"], time: Time): BackupPlace {
  if (typeof to === "string") return folderPlace(to);
  const store = createS3Store(to, time, undefined, {
    wholeFileMs: LONGEST_READ_MS,
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  return {
    shown: `s3://${to.bucket}/${to.prefix}`,
    put: store.putStream,
    async read(name, read) {
      if (!(await store.get(name, read))) throw new Error("the bucket does not have it");
    },
    keep: async () => undefined,
    discard: store.remove,
    async list() {
      const names: string[] = [];
      for (let after: string | null = null; ;) {
        const page: string[] = (await store.list("parley-auto-", after)).map(({ name }) => name);
        names.push(...page);
        if (page.length === 0) return names;
        after = page.at(-1)!;
      }
    },
    remove: store.remove,
    close: store.close,
  };
}
