import type { Logger } from "../log.ts";
import { alone } from "../model/nodes/alone.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { giveWay } from "../model/give-way.ts";
import { DAY_MS, HOUR_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import {
  expireSentFiles,
  expireUploads,
  removeFiles,
  removeStored,
  type FilesDeps,
  type StoredFiles,
} from "./files.ts";
import {
  AUDIT_LOG,
  BOT_STEPS,
  CHAT_SETTINGS,
  CHAT_STATE,
  CONTACTS,
  expireAnswers,
  expireRows,
  lookThrough,
  LINKS,
  MESSAGE_TABLES,
  NUMBER_CHECKS,
  POLL_VOTES,
  SENT_TABLES,
  SESSIONS,
  TRAFFIC_TABLES,
  type Ageing,
} from "./rows.ts";
import { createSharedChore } from "./shared-chore.ts";

const EVERY_MS = HOUR_MS;
/** Who leads the processes changes: each looks so often whether it does, and whether the hour's run is still to be begun. */
const LOOK_MS = 5 * SECOND_MS;
/** So long phones may ask for a sent message again. */
const SENT_DAYS = 7;
/** What is known of a chat is kept beyond its messages: whoever wrote once is no stranger to a number that is locked. */
const CHAT_DAYS = 365;

/** What retention works on. */
interface RetentionDeps extends Omit<FilesDeps, "dataDir"> {
  config: { retentionDays: number; trafficDays?: number; auditLogDays?: number; dataDir: string };
  log: Logger;
  /** The other processes that share the database. Default: there are none. */
  cluster?: Pick<Cluster, "node" | "ownership" | "jobs">;
  /** Null: there is no store beyond this disk. Default null. */
  stored?: StoredFiles | null;
  /** Done at the end of each run, by those who keep books of what is there. */
  afterwards?(): Promise<void>;
}

type Step = [what: string, remove: () => Promise<number>];

/** One run. Times are Unix milliseconds. */
export interface RetentionRun {
  startedAt: number;
  /** Null: it is running. */
  endedAt: number | null;
  failed: boolean;
  nextAt: number;
}

/** Deletes what is old, every hour. */
export interface Retention {
  /** Runs now and every hour. */
  start(): void;
  /** What this process has done of it. */
  last(): RetentionRun | null;
  /** One run, of all that one process does: deletes what is older than `RETENTION_DAYS` and owed to nobody any more. */
  run(): Promise<void>;
  /** Resolves when nothing is being deleted any more. */
  stop(): Promise<void>;
}

/**
 * Keeps the promise of `RETENTION_DAYS`. What waits to be answered, sent or delivered is never touched, however old it is;
 * nothing is deleted while the clock is doubted. The journal looks after itself.
 *
 * | What | When | Found by | Rows a step |
 * |---|---|---|---|
 * | inbox, imported messages, decisions, deliveries with attempts, connections, missing messages, hours of the audit | RETENTION_DAYS | their key, which rises with age | 200 |
 * | outbox with history and votes, sent files | RETENTION_DAYS, 7 days at least | key; `media_files_created` | 200, 500 |
 * | votes in polls of others | the same | looked through by rowid | 500 read, 200 deleted |
 * | results of bots' steps without a message that waits | at once | looked through by rowid | 500, 200 |
 * | chats, contacts | a year without a message, RETENTION_DAYS at least | looked through by rowid | 500, 200 |
 * | the log of changes | AUDIT_LOG_DAYS | key | 200 |
 * | sessions, links | their end | looked through by rowid | 500, 200 |
 * | traffic per hour | TRAFFIC_DAYS | key | 200 |
 * | answers by idempotency key | 24 hours | `idempotency_created` | 200 |
 * | checks of numbers, and their count | 24 hours | key | 200 |
 * | files that no row names, on this disk and in the store | an hour | names, 500 at once | |
 * | rows of erased numbers | at once | `erasure.ts` | 200 |
 *
 * Of several processes one deletes rows each hour, and what lies in the store that they share; which one it is does not
 * matter. Each looks after its own disk.
 *
 * Not deleted by age: LID pairs and Signal sessions (a contact's key must not change because nobody wrote for long), and
 * sessions of bots without a `ttl` (kept until the number is erased, as the bot's page says).
 */
export function createRetention({
  config,
  log,
  cluster = alone(),
  stored = null,
  afterwards,
  ...deps
}: RetentionDeps): Retention {
  const { store } = deps;
  const { ownership } = cluster;
  const files: FilesDeps = { ...deps, dataDir: config.dataDir };
  const stopping = new AbortController();
  const { signal } = stopping;
  const sweeping = { store, log, signal };
  let ends: Cancel[] = [];
  let running: Promise<void> = Promise.resolve();
  const chore = createSharedChore(cluster, "retention", run);
  let whole: Promise<void> | null = null;
  let begunHour = 0;
  const runs = createRunNotes(store.now);

  /** Of this process' disk. */
  const own = (): Step[] => [["files", () => removeFiles(files, signal)]];

  function inTurn(work: () => Promise<void>): Promise<void> {
    running = running
      .then(() => (signal.aborted ? undefined : runs.noted(work)))
      // The next hour tries again; what is kept too long is no reason to stop working.
      .catch((error: unknown) =>
        log.error({ err: error }, "could not delete old data; trying again in an hour"),
      );
    return running;
  }

  function run(): Promise<void> {
    whole ??= inTurn(async () => {
      const shared = sharedSteps(config, files, stored, signal);
      await sweep([...shared, ...own()], sweeping, afterwards);
    }).finally(() => (whole = null));
    return whole;
  }

  /** Twice in an hour, when somebody else begins to lead, does no harm. */
  function lookAsLeader(): void {
    const hour = Math.floor(store.now() / HOUR_MS);
    if (!ownership.owns(0) || hour === begunHour) return;
    begunHour = hour;
    void chore.give(String(hour));
  }

  const ownRun = (): void => void inTurn(async () => sweep(own(), sweeping));

  function startBesideOthers(): void {
    chore.start();
    ends = [store.time.every(EVERY_MS, ownRun), store.time.every(LOOK_MS, lookAsLeader)];
    ownRun();
    lookAsLeader();
  }

  return {
    start() {
      if (ends.length > 0) return;
      if (cluster.node !== null) return startBesideOthers();
      ends = [store.time.every(EVERY_MS, () => void run())];
      void run();
    },
    last: runs.last,
    run,
    async stop() {
      for (const end of ends) end();
      stopping.abort();
      await running;
    },
  };
}

/** Of the database, and of what all processes share. */
function sharedSteps(
  config: RetentionDeps["config"],
  files: FilesDeps,
  stored: StoredFiles | null,
  signal: AbortSignal,
): Step[] {
  const { store } = files;
  const now = store.now();
  const messages = now - config.retentionDays * DAY_MS;
  const sent = now - Math.max(config.retentionDays, SENT_DAYS) * DAY_MS;
  const chats = now - Math.max(config.retentionDays, CHAT_DAYS) * DAY_MS;
  const expire = (tables: Ageing[], before: number): Step[] =>
    tables.map((table) => [table.table, () => expireRows(store, table, before, signal)]);
  return [
    ...expire(MESSAGE_TABLES, messages),
    ...expire(SENT_TABLES, sent),
    ...expire(TRAFFIC_TABLES, now - (config.trafficDays ?? config.retentionDays) * DAY_MS),
    ["poll_votes", () => lookThrough(store, POLL_VOTES, sent, signal)],
    ["bot_steps", () => lookThrough(store, BOT_STEPS, now, signal)],
    ...expire([AUDIT_LOG], now - (config.auditLogDays ?? config.retentionDays) * DAY_MS),
    ["sessions", () => lookThrough(store, SESSIONS, now, signal)],
    ["links", () => lookThrough(store, LINKS, now, signal)],
    ["chat_state", () => lookThrough(store, CHAT_STATE, chats, signal)],
    ["chat_settings", () => lookThrough(store, CHAT_SETTINGS, chats, signal)],
    ["contacts", () => lookThrough(store, CONTACTS, chats, signal)],
    ...expire(NUMBER_CHECKS, now - DAY_MS),
    ["idempotency", () => expireAnswers(store, now - DAY_MS, signal)],
    ["media_files", () => expireSentFiles(files, sent, signal)],
    ["uploads", () => expireUploads(files, signal)],
    ...(stored === null ? [] : [["stored files", () => removeStored(files, stored, signal)] satisfies Step]),
  ];
}

async function sweep(
  steps: Step[],
  { store, log, signal }: Pick<RetentionDeps, "store" | "log"> & { signal: AbortSignal },
  then?: () => Promise<void>,
): Promise<void> {
  if (!store.clock.isTrusted()) return log.warn("no old data is deleted: the clock may be wrong");
  const removed: Record<string, number> = {};
  for (const [name, step] of steps) {
    if (signal.aborted) return;
    // Where nothing is old a step is one read, and a read lets nobody else in.
    await giveWay();
    const count = await step();
    if (count > 0) removed[name] = (removed[name] ?? 0) + count;
  }
  await then?.();
  if (Object.keys(removed).length > 0) log.info({ removed }, "deleted data older than RETENTION_DAYS");
}

/** @param now Unix milliseconds */
function createRunNotes(now: () => number) {
  let last: RetentionRun | null = null;
  return {
    last: () => last,
    async noted(work: () => Promise<void>): Promise<void> {
      const startedAt = now();
      const run: RetentionRun = { startedAt, endedAt: null, failed: true, nextAt: startedAt + EVERY_MS };
      last = run;
      try {
        await work();
        run.failed = false;
      } finally {
        run.endedAt = now();
      }
    },
  };
}
