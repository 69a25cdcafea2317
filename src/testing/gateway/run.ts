import type { Locales } from "../../bot/files/locales.ts";
import { createBotState, type BotState } from "../../bot/sessions/state.ts";
import type { BotRegistry } from "../../bot/files/registry.ts";
import type { Config } from "../../config.ts";
import { createInboxReader } from "../../inbox/reader.ts";
import type { Logger } from "../../log.ts";
import { createMedia } from "../../media/media.ts";
import { sharedAbort } from "../../model/shared-abort.ts";
import { timeWithClock } from "../../model/time.ts";
import { createSafeFetch, type SafeFetch } from "../../net/safe-fetch.ts";
import { createObservers } from "../../path/observers.ts";
import { createMessagePath, type MessagePath } from "../../path/path.ts";
import { openStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { createWaits, type Clock, type Waits } from "./clock.ts";
import type { Failures } from "../failures.ts";
import { createLife, mortalStore, type CrashPlan, type GatewayLife } from "./life.ts";
import { requestFromStubs } from "../network/request.ts";
import { inStep } from "./steps.ts";
import type { Wire } from "./wire.ts";

/** The one number of a test chat. */
export const DEVICE = 1;
const ACCOUNT = "test";

/** What one run of the gateway in a test is started with; clock and wire outlive it. */
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
  /** Told what bots throw while the run lives. */
  failures: Pick<Failures, "failed">;
  plan: CrashPlan;
  /** The run was ended by the plan. */
  onEnd(): void;
}

/** What stands between two kills: the way of a message, on one database file. */
export interface Run {
  store: Store;
  life: GatewayLife;
  path: MessagePath;
  /** What bots have stored. */
  state: Pick<BotState, "session" | "dueTimers">;
  /** Everything that waits for the clock. */
  waits: Waits;
  start(): Promise<void>;
  /** Ends it as a kill does, and lets go of the file. */
  end(): Promise<void>;
}

/** The gateway's own way of a message; clock and connection are the test's. */
export async function openRun(options: RunOptions): Promise<Run> {
  const { config, log, clock, wire, ownNumber } = options;
  const waits = createWaits(clock);
  const opened = await openStore(config, log, waits.time);
  await opened.writer.commit([
    {
      sql: `INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at)
VALUES (?, '${ACCOUNT}', ?, 'connected', 0, 0)`,
      args: [DEVICE, ownNumber],
    },
  ]);
  const stopping = sharedAbort();
  const life = createLife(options.onEnd);
  const store = mortalStore(opened, life, options.plan);
  const connection = wire.connection(life);
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const observers = createObservers();
  const accountOf = (): string => ACCOUNT;
  const outgoing = createMedia({ store, config, log, http: { download: options.download }, accountOf });
  const path = createMessagePath({
    store,
    config,
    log,
    connections: {
      connection: () => (life.over ? null : connection),
      identity: () => null,
      isLinked: () => true,
      number: () => ownNumber,
      accountOf,
      callsText: () => null,
      deviceOf: () => DEVICE,
    },
    // Contacts are known by their numbers here.
    directory: { canonicalChat: async (_deviceId, jid) => jid },
    bots: botsOf(options, life),
    http,
    files: { outgoing, received: receivedFiles(store, wire) },
    observers,
    // Whether a chat is quiet is asked of the database.
    collectMs: 0,
    stopping: stopping.signal,
  });

  return {
    store,
    life,
    path,
    state: createBotState(store, () => undefined),
    waits,
    async start() {
      await path.load();
      await path.open(DEVICE);
      path.start();
      observers.tell({ type: "online", deviceId: DEVICE });
    },
    async end() {
      life.end();
      // Handlers that still run can change nothing any more: their contexts are closed.
      stopping.abort(new Error("The run has ended."));
      void path.drain(0).catch(() => undefined);
      outgoing.stop();
      void http.close().catch(() => undefined);
      await opened.close();
    },
  };
}

/** The bots of a run, which are told apart from a gateway's by nothing but who looks at them. */
const botsOf = (
  { registry, locales, clock, failures }: RunOptions,
  life: GatewayLife,
): Parameters<typeof createMessagePath>[0]["bots"] => ({
  registry,
  http: { request: requestFromStubs },
  locales: () => locales,
  checksFlows: true,
  onlooker: {
    failed: (failure) => (life.over ? undefined : failures.failed(failure)),
    step: inStep,
  },
  running: {
    begin() {
      life.inFlight++;
      return () => void life.inFlight--;
    },
  },
  time: timeWithClock(clock.now),
});

function receivedFiles(store: Store, wire: Wire) {
  const { load } = createInboxReader(store);
  const none = { error: "A test chat has no links to files." };
  return {
    async read({ inboxId }: { inboxId: number }) {
      const message = await load(inboxId);
      const file = message && wire.files.get(message.id);
      if (!file) throw new Error("This message has no file.");
      return file;
    },
    largestImage: 0,
    link: () => none,
    image: async () => none,
  };
}
