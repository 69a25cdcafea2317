import type { Logger } from "pino";
import { expireSentFiles, removeFiles, type FilesDeps } from "./files.ts";
import { deleteLeftOvers, expireRows, MESSAGE_TABLES, SENT_TABLES, type Ageing } from "./rows.ts";

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** So long phones may ask for a sent message again. */
const SENT_DAYS = 7;

export interface RetentionDeps extends Omit<FilesDeps, "dataDir"> {
  config: { retentionDays: number; dataDir: string };
  log: Logger;
  /** Done at the end of each run, by those who keep books of what is there. */
  afterwards?(): Promise<void>;
}

type Step = [what: string, remove: () => Promise<number>];

export interface Retention {
  /** Runs now and every hour. */
  start(): void;
  /** One run: deletes what is older than `RETENTION_DAYS` and not owed to anybody any more. */
  run(): Promise<void>;
  /** Resolves when nothing is being deleted any more. */
  stop(): Promise<void>;
}

/**
 * Keeps the promise of `RETENTION_DAYS`: messages, decisions, deliveries, what was sent, votes, answers by idempotency key
 * (24 hours), and files. What waits to be answered, sent or delivered is never touched, however old it is. The journal
 * looks after itself.
 */
export function createRetention({ config, log, afterwards, ...deps }: RetentionDeps): Retention {
  const { store } = deps;
  const files: FilesDeps = { ...deps, dataDir: config.dataDir };
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;

  async function sweep(): Promise<void> {
    if (!store.clock.isTrusted()) return log.warn("nothing is deleted for its age: the clock is doubted");
    const now = store.now();
    const messages = now - config.retentionDays * DAY_MS;
    const sent = now - Math.max(config.retentionDays, SENT_DAYS) * DAY_MS;
    const expire = (tables: Ageing[], before: number): Step[] =>
      tables.map((table) => [table.table, () => expireRows(store, table, before, signal)]);
    const steps: Step[] = [
      ...expire(MESSAGE_TABLES, messages),
      ...expire(SENT_TABLES, sent),
      ["poll_votes", () => deleteLeftOvers(store, "poll_votes", sent, signal)],
      ["idempotency", () => deleteLeftOvers(store, "idempotency", now - DAY_MS, signal)],
      ["media_files", () => expireSentFiles(files, sent, signal)],
      ["files", () => removeFiles(files, signal)],
    ];
    const removed: Record<string, number> = {};
    for (const [name, step] of steps) {
      if (signal.aborted) return;
      const count = await step();
      if (count > 0) removed[name] = count;
    }
    await afterwards?.();
    if (Object.keys(removed).length > 0) log.info({ removed }, "removed what is older than RETENTION_DAYS");
  }

  function run(): Promise<void> {
    running ??= sweep()
      // The next hour tries again; what is kept too long is no reason to stop working.
      .catch((error: unknown) =>
        log.error({ err: error }, "removing what is old failed; trying again in an hour"),
      )
      .finally(() => (running = null));
    return running;
  }

  return {
    start() {
      timer ??= setInterval(() => void run(), EVERY_MS).unref();
      void run();
    },
    run,
    async stop() {
      if (timer) clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
