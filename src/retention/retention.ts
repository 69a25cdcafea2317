import type { Logger } from "../log.ts";
import { DAY_MS, HOUR_MS, type Cancel } from "../model/time.ts";
import { expireSentFiles, removeFiles, type FilesDeps } from "./files.ts";
import {
  BOT_STEPS,
  CHAT_STATE,
  expireAnswers,
  expireRows,
  lookThrough,
  MESSAGE_TABLES,
  POLL_VOTES,
  SENT_TABLES,
  type Ageing,
} from "./rows.ts";

const EVERY_MS = HOUR_MS;
/** So long phones may ask for a sent message again. */
const SENT_DAYS = 7;
/** What is known of a chat is kept beyond its messages: whoever wrote once is no stranger to a number that is locked. */
const CHAT_DAYS = 365;

/** What retention works on. */
interface RetentionDeps extends Omit<FilesDeps, "dataDir"> {
  config: { retentionDays: number; dataDir: string };
  log: Logger;
  /** Done at the end of each run, by those who keep books of what is there. */
  afterwards?(): Promise<void>;
}

type Step = [what: string, remove: () => Promise<number>];

/** Deletes what is old, every hour. */
export interface Retention {
  /** Runs now and every hour. */
  start(): void;
  /** One run: deletes what is older than `RETENTION_DAYS` and not owed to anybody any more. */
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
 * | inbox, decisions, deliveries with attempts, connections, missing messages, hours of the audit | RETENTION_DAYS | their key, which rises with age | 200 |
 * | outbox with history and votes, sent files | RETENTION_DAYS, 7 days at least | key; `media_files_created` | 200, 500 |
 * | votes in polls of others | the same | looked through by rowid | 500 read, 200 deleted |
 * | results of bots' steps without a message that waits | at once | looked through by rowid | 500, 200 |
 * | chats | a year without a message, RETENTION_DAYS at least | looked through by rowid | 500, 200 |
 * | answers by idempotency key | 24 hours | `idempotency_created` | 200 |
 * | files that no row names | an hour | names, 500 at once | |
 * | rows of erased numbers | at once | `erasure.ts` | 200 |
 *
 * Not deleted by age: LID pairs and Signal sessions (a contact's key must not change because nobody wrote for long), and
 * sessions of bots without a `ttl` (kept until the number is erased, as the bot's page says).
 */
export function createRetention({ config, log, afterwards, ...deps }: RetentionDeps): Retention {
  const { store } = deps;
  const files: FilesDeps = { ...deps, dataDir: config.dataDir };
  const stopping = new AbortController();
  const { signal } = stopping;
  let end: Cancel | null = null;
  let running: Promise<void> | null = null;

  function steps(): Step[] {
    const now = store.now();
    const messages = now - config.retentionDays * DAY_MS;
    const sent = now - Math.max(config.retentionDays, SENT_DAYS) * DAY_MS;
    const chats = now - Math.max(config.retentionDays, CHAT_DAYS) * DAY_MS;
    const expire = (tables: Ageing[], before: number): Step[] =>
      tables.map((table) => [table.table, () => expireRows(store, table, before, signal)]);
    return [
      ...expire(MESSAGE_TABLES, messages),
      ...expire(SENT_TABLES, sent),
      ["poll_votes", () => lookThrough(store, POLL_VOTES, sent, signal)],
      ["bot_steps", () => lookThrough(store, BOT_STEPS, now, signal)],
      ["chat_state", () => lookThrough(store, CHAT_STATE, chats, signal)],
      ["idempotency", () => expireAnswers(store, now - DAY_MS, signal)],
      ["media_files", () => expireSentFiles(files, sent, signal)],
      ["files", () => removeFiles(files, signal)],
    ];
  }

  async function sweep(): Promise<void> {
    if (!store.clock.isTrusted()) return log.warn("nothing is deleted for its age: the clock is doubted");
    const removed: Record<string, number> = {};
    for (const [name, step] of steps()) {
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
      end ??= store.time.every(EVERY_MS, () => void run());
      void run();
    },
    run,
    async stop() {
      end?.();
      stopping.abort();
      await running;
    },
  };
}
