import { createBotAnswerers } from "../bot/answerers.ts";
import { createBindings, type Bindings } from "../bot/bindings.ts";
import type { Locales } from "../bot/locales.ts";
import type { BotRegistry } from "../bot/registry.ts";
import { createBotState, type BotState } from "../bot/state.ts";
import { createTimers, type Timers } from "../bot/timers.ts";
import type { Config } from "../config.ts";
import { createInbox } from "../inbox/inbox.ts";
import type { Logger } from "../log.ts";
import { createMedia } from "../media/media.ts";
import { sharedAbort } from "../model/shared-abort.ts";
import { createSafeFetch, type SafeFetch } from "../net/safe-fetch.ts";
import { createOutbox, type Outbox } from "../outbox/outbox.ts";
import { createPipeline, type Pipeline } from "../pipeline/pipeline.ts";
import { createPolls } from "../inbox/polls.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { createWebhooks, type Webhooks } from "../webhooks/index.ts";
import type { Clock } from "./clock.ts";
import { createWaits, type Waits } from "./clock.ts";
import { createLife, mortalStore, type CrashPlan, type Life } from "./life.ts";
import type { Wire } from "./wire.ts";

/** The one number of a test chat. */
export const DEVICE = 1;

export interface RunOptions {
  config: Config;
  log: Logger;
  clock: Clock;
  wire: Wire;
  registry: BotRegistry;
  locales: Locales;
  /** Digits of the bot's own number. */
  ownNumber: string;
  /** Files that bots name by address. */
  download: SafeFetch["download"];
  plan: CrashPlan;
  /** The run was ended by the plan. */
  onEnd(): void;
}

/** What stands between two kills: the parts of the gateway that a message passes through, on one database file. */
export interface Run {
  store: Store;
  life: Life;
  pipeline: Pipeline;
  outbox: Outbox;
  bindings: Bindings;
  webhooks: Webhooks;
  state: BotState;
  /** Pauses of pipeline and outbox. */
  waits: Waits;
  start(): Promise<void>;
  /** Looks for timers of bots that are due now. */
  sweep(): void;
  /** Ends it as a kill does, and lets go of the file. */
  end(): Promise<void>;
}

/** Contacts are known by their numbers here. */
const canonicalChat = async (_deviceId: number, jid: string): Promise<string> => jid;

/** Joins the parts as `src/app.ts` does; the clock and the connection are the test's. */
export async function openRun(options: RunOptions): Promise<Run> {
  const { config, log, clock, wire, ownNumber } = options;
  const waits = createWaits(clock);
  const opened = await openStore(config, log, waits.time);
  await opened.writer.commit([
    {
      sql: `INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at)
VALUES (?, 'test', ?, 'connected', 0, 0)`,
      args: [DEVICE, ownNumber],
    },
  ]);
  const stopping = sharedAbort();
  const life = createLife(options.onEnd);
  const store = mortalStore(opened, life, options.plan);
  const line = wire.connection(life);
  const connection = () => (life.over ? null : line);
  const inbox = createInbox(store);
  const polls = createPolls(store);
  const outbox = createOutbox({
    store,
    config,
    log,
    connections: { connection, isLinked: () => true },
    canonicalChat,
    findQuote: inbox.findQuote,
    // Whether a chat is quiet is asked of the database.
    collectMs: 0,
  });
  const bindings = createBindings(store, options.registry, (problem) => log.warn(problem));
  let timers: Timers;
  const state = createBotState(store, (dueAt) => timers.expect(dueAt));
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const media = createMedia({ store, config, log, http: { download: options.download } });
  const webhooks = createWebhooks({
    store,
    config,
    log,
    http,
    outbox,
    media,
    files: noLinks,
    connection,
    loopGuard: {
      allows: (deviceId, chat) => pipeline.loopGuard.allows(deviceId, chat),
      count: (deviceId, chat, replies) => pipeline.loopGuard.count(deviceId, chat, replies),
    },
  });
  const bots = createBotAnswerers({
    bindings,
    state,
    media,
    files: {
      async read({ inboxId }) {
        const message = await inbox.load(inboxId);
        const file = message && wire.files.get(message.id);
        if (!file) throw new Error("This message has no file.");
        return file;
      },
    },
    locales: () => options.locales,
    config,
    hmac: (text) => store.box.hmac("bot-step", text).toString("base64url"),
    log,
    now: clock.now,
    stopping: stopping.signal,
    running: {
      begin() {
        life.inFlight++;
        return () => void life.inFlight--;
      },
    },
  });
  const pipeline = createPipeline({
    store,
    config,
    log,
    inbox,
    outbox,
    polls,
    answerers: [
      bots.observers,
      bots.interrupts,
      webhooks.holder,
      bots.conversations,
      bots.routes,
      webhooks.answerer,
    ],
    replyMaxAge: webhooks.replyMaxAge,
  });
  let sweep: (() => void) | null = null;
  timers = createTimers({
    state,
    commit: store.writer.commit,
    record: inbox.recordTimer,
    deliver: pipeline.due,
    numberOf: () => ownNumber,
    canonicalChat,
    now: clock.now,
    // When they are due is asked of the database each time the clock moves.
    schedule(_ms, run) {
      sweep = run;
      return () => void (sweep = null);
    },
    onError: (err) => log.warn({ err }, "timers of bots are late"),
  });

  return {
    store,
    life,
    pipeline,
    outbox,
    bindings,
    webhooks,
    state,
    waits,
    async start() {
      await Promise.all([bindings.load(), webhooks.load()]);
      await outbox.start();
      await pipeline.start();
      timers.start();
      webhooks.start();
      await outbox.wake(DEVICE);
    },
    sweep() {
      const run = sweep;
      sweep = null;
      run?.();
    },
    async end() {
      life.end();
      // Handlers that still run can change nothing any more: their contexts are closed.
      stopping.abort(new Error("The run has ended."));
      void webhooks.stop(0);
      media.stop();
      void http.close().catch(() => undefined);
      await opened.close();
    },
  };
}

const noLinks = {
  largestImage: 0,
  link: () => ({ error: "A test chat has no links to files." }),
  image: async () => ({ error: "A test chat has no links to files." }),
};
