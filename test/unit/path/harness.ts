import { onTestFinished } from "vitest";
import { createRegistry } from "../../../src/bot/registry.ts";
import { loadConfig } from "../../../src/config.ts";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { sharedAbort } from "../../../src/model/shared-abort.ts";
import { timeWithClock } from "../../../src/model/time.ts";
import { createSafeFetch } from "../../../src/net/safe-fetch.ts";
import { createObservers, type Observers } from "../../../src/path/observers.ts";
import { createMessagePath, type MessagePath } from "../../../src/path/path.ts";
import { commitIntake } from "../../../src/store/intake.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { manualClock, scriptedLine, type Line, type ManualClock } from "../outbox/harness.ts";
import { silentLog, temporaryFolder } from "../store/temporary.ts";

export interface PathRun {
  store: Store;
  path: MessagePath;
  observers: Observers;
  clock: ManualClock;
  /** WhatsApp's end, the same for all numbers. */
  line: Line;
  receive(deviceId: number, ...messages: Incoming[]): Promise<void>;
  count(sql: string): Promise<number>;
  /** Ends it as a kill does. */
  end(): Promise<void>;
}

export interface PathOptions {
  folder?: string;
  clock?: ManualClock;
  bots?: Record<string, unknown>;
  answerers?: Answerer[];
  /** Ids of the numbers that are registered. Default: 1 and 2. */
  numbers?: number[];
  wrap?: (store: Store) => Store;
}

export const numberOf = (deviceId: number): string => `49170000000${deviceId}`;

/** The gateway's own way of a message; only time and WhatsApp are the test's. No number is open yet. */
export async function startPath(options: PathOptions = {}): Promise<PathRun> {
  const { folder = temporaryFolder(), clock = manualClock(), bots = {}, numbers = [1, 2] } = options;
  const config = loadConfig({ DATA_DIR: folder, LOG_LEVEL: "silent", STORE_THREAD: "off" });
  const log = silentLog(config);
  const opened = await openStore(config, log, clock.time);
  const store = options.wrap?.(opened) ?? opened;
  const insert = `INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at)
VALUES (?, 'test', ?, 'connected', 0, 0)`;
  await opened.writer.commit(numbers.map((id) => ({ sql: insert, args: [id, numberOf(id)] })));
  const stopping = sharedAbort();
  const observers = createObservers();
  const line = scriptedLine();
  const unavailable = () => Promise.reject(new Error("no files here"));
  const none = { error: "no files here" };
  const sources = Object.entries(bots).map(([id, exported]) => ({ id, file: id, exported }));
  const http = createSafeFetch({ allowPrivateNetwork: true });
  const path = createMessagePath({
    store,
    config,
    log,
    connections: {
      connection: () => line.connection,
      identity: () => null,
      isLinked: () => true,
      number: numberOf,
      deviceOf: (_accountId, number) => Number(number.slice(-1)),
    },
    directory: { canonicalChat: async (_deviceId, jid) => jid },
    bots: {
      registry: createRegistry(sources, log),
      locales: () => new Map(),
      time: timeWithClock(clock.now),
    },
    http,
    files: {
      outgoing: { prepare: unavailable },
      received: { read: unavailable, link: () => none, image: async () => none, largestImage: 0 },
    },
    observers,
    stopping: stopping.signal,
    collectMs: 0,
    lastly: options.answerers ?? [],
  });
  await path.load();
  let over = false;
  const end = async (): Promise<void> => {
    if (over) return;
    over = true;
    stopping.abort();
    await path.drain(0);
    await http.close();
    await opened.close();
  };
  onTestFinished(end);
  return {
    store,
    path,
    observers,
    clock,
    line,
    receive: (deviceId, ...messages) =>
      commitIntake(store.writer, path.receive(deviceId, numberOf(deviceId), messages)),
    count: async (sql) => Number((await store.rows(sql, []))[0]!.n),
    end,
  };
}
