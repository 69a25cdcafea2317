import { meta } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { Backups } from "./backups.ts";
import { checkArchive } from "./check-archive.ts";
import { archiveName } from "./create.ts";
import type { BackupPlace } from "./place.ts";

/** How it goes, as it stands in `meta` for the doctor. Times are Unix milliseconds. */
export interface BackupSchedule {
  /** When the last one that was verified was made; null: none yet. */
  at: number | null;
  name: string | null;
  bytes: number | null;
  /** When the last attempt began. */
  triedAt: number | null;
  /** Attempts in a row that failed. */
  failures: number;
  /** Why the last attempt failed; null: it did not. */
  reason: string | null;
}

/** Backups that the gateway makes by itself. */
export interface ScheduledBackups {
  start(): void;
  /** Makes one now, verifies it, and then removes what is too old. @returns whether it is there */
  run(): Promise<boolean>;
  /** Breaks off what is being made. */
  stop(): Promise<void>;
}

interface ScheduledBackupsDeps {
  config: { everyMs: number; keep: number };
  place: BackupPlace;
  backups: Pick<Backups, "make">;
  store: Pick<Store, "readOne" | "writer" | "now" | "time">;
  log: Logger;
  /** Of several processes one makes them. */
  isLeader(): boolean;
  /** Told of each outcome; null: it is there. */
  onOutcome(reason: string | null): Promise<void>;
}

const LOOK_MS = 10 * SECOND_MS;
/** After a failure, unless the next one is due earlier. */
const AGAIN_MS = 10 * MINUTE_MS;
/** Ours, and nobody else's: what an operator has saved there stays. */
const OURS = /^parley-auto-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar$/;

/** What stands as the reason while one is being made, and stays when the process dies meanwhile. */
export const UNDER_WAY = "it was interrupted";

/** Under which the state is kept. */
const ROW = "backup_schedule";
/** Reads the state. */
export const SCHEDULE = defineQuery(`SELECT value FROM meta WHERE key = '${ROW}'`, { value: meta.value });
const KEEP = `INSERT INTO meta (key, value) VALUES ('${ROW}', ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
const NONE: BackupSchedule = { at: null, name: null, bytes: null, triedAt: null, failures: 0, reason: null };

/** When the next one is due. A clock that was set back delays it by one interval at most. */
export function dueAt({ at, triedAt, failures }: BackupSchedule, everyMs: number, now: number): number {
  const from = failures > 0 ? triedAt : (triedAt ?? at);
  if (from === null || from > now) return now;
  return from + (failures > 0 ? Math.min(everyMs, AGAIN_MS) : everyMs);
}

/** The copy is made as for `POST /admin/backup`; then it is read back from where it lies, and every hash compared. */
export function createScheduledBackups(deps: ScheduledBackupsDeps): ScheduledBackups {
  const { config, place, store, log, isLeader, onOutcome } = deps;
  let cancel: Cancel | null = null;
  let stopped = false;
  let running: Promise<boolean> | null = null;

  async function schedule(): Promise<BackupSchedule> {
    const row = await store.readOne(SCHEDULE);
    return row === null ? NONE : (JSON.parse(row.value) as BackupSchedule);
  }

  const keep = (next: BackupSchedule): Promise<unknown> =>
    store.writer.commit([{ sql: KEEP, args: [JSON.stringify(next)] }], { owning: null });

  async function attempt(): Promise<boolean> {
    const before = await schedule();
    const triedAt = store.now();
    await keep({ ...before, triedAt, failures: before.failures + 1, reason: UNDER_WAY });
    try {
      const { name, at, bytes } = await save(deps, () => stopped);
      await keep({ at, name, bytes, triedAt, failures: 0, reason: null });
      log.info({ to: place.shown, file: name, bytes }, "made and verified a scheduled backup");
      await onOutcome(null);
    } catch (error) {
      return await failed(error, { ...before, triedAt });
    }
    // It is there whatever becomes of the others.
    await removeOld(place, config.keep).catch((err: unknown) =>
      log.warn({ err, to: place.shown }, "could not remove old backups; trying again after the next one"),
    );
    return true;
  }

  async function failed(error: unknown, before: BackupSchedule): Promise<false> {
    // A start goes on with it; and while somebody saves one by hand there is nothing to complain about.
    const isBusy = error instanceof GatewayError && error.code === "RATE_LIMITED";
    if (stopped || isBusy) await keep({ ...before, triedAt: null });
    else {
      const reason = reasonOf(error);
      await keep({ ...before, failures: before.failures + 1, reason });
      log.error({ err: error, to: place.shown, reason }, "a scheduled backup failed; trying again");
      await onOutcome(reason);
    }
    return false;
  }

  function run(): Promise<boolean> {
    return (running ??= attempt().finally(() => (running = null)));
  }

  async function look(): Promise<void> {
    if (stopped || running !== null || !isLeader()) return;
    const now = store.now();
    if (dueAt(await schedule(), config.everyMs, now) <= now) await run();
  }

  // A database that is away says so elsewhere.
  const tryToLook = (): void => void look().catch((err: unknown) => log.debug({ err }, "no backup now"));

  return {
    start: () => void (cancel = store.time.every(LOOK_MS, tryToLook)),
    run,
    async stop() {
      stopped = true;
      cancel?.();
      await running?.catch(() => undefined);
      await place.close();
    },
  };
}

async function save(
  { backups, place }: Pick<ScheduledBackupsDeps, "backups" | "place">,
  isStopped: () => boolean,
): Promise<{ name: string; at: number; bytes: number }> {
  const { body, createdAt } = await backups.make();
  const name = archiveName(createdAt).replace("parley-", "parley-auto-");
  try {
    const bytes = await place.put(name, unless(isStopped, body));
    await place.read(name, async (chunks) => void (await checkArchive(unless(isStopped, chunks))));
    await place.keep(name);
    return { name, at: createdAt, bytes };
  } catch (error) {
    await place.discard(name).catch(() => undefined);
    throw error;
  } finally {
    // Nothing of it stays in DATA_DIR, also when nobody has begun to read it.
    await body[Symbol.asyncIterator]().return?.();
  }
}

async function* unless(
  isStopped: () => boolean,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (isStopped()) throw new Error("the gateway is stopping");
    yield chunk;
  }
}

/** Only what this gateway has made by itself, and only when a newer one was verified. */
async function removeOld(place: BackupPlace, keep: number): Promise<void> {
  const ours = (await place.list()).filter((name) => OURS.test(name)).toSorted();
  for (const name of ours.slice(0, -keep)) await place.remove(name);
}

/** Errors of the file system and of buckets are the operator's own business; they hold paths and no secrets. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it failed";
  return error.message.slice(0, 300).replace(/\.$/, "");
}
