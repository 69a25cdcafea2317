import { onTestFinished } from "vitest";
import { createRegistry } from "../../../src/bot/files/registry.ts";
import type { Locales } from "../../../src/bot/files/locales.ts";
import { loadConfig, type Environment } from "../../../src/config.ts";
import { createLids } from "../../../src/directory/lids.ts";
import type { Logger } from "../../../src/log.ts";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { sharedAbort } from "../../../src/model/shared-abort.ts";
import { createTime, timeWithClock, type Time } from "../../../src/model/time.ts";
import { createSafeFetch, type SafeFetch } from "../../../src/net/safe-fetch.ts";
import { createObservers, type Observers } from "../../../src/path/observers.ts";
import type { MessagePathDeps } from "../../../src/path/path.ts";
import type { DecisionRow } from "../../../src/pipeline/deps.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { joinPath, noFiles, type JoinedPath } from "../../_setup/path.ts";
import { manualClock, scriptedLine, type Line, type ManualClock } from "../outbox/harness.ts";
import { begunFolder, silentLog } from "../store/temporary.ts";
import { rawRows } from "../store/rows.ts";

/** A row of `decisions`. */
export type Decision = Omit<DecisionRow, "guard"> & { guard: string | null };

export interface PathRun {
  store: Store;
  /** The same before `wrap`. */
  opened: Store;
  path: JoinedPath;
  observers: Observers;
  clock: ManualClock;
  /** WhatsApp's end, the same for all numbers. */
  line: Line;
  /** Puts another line, or none, in its place. */
  connect(line: Line | null): void;
  receive(deviceId: number, ...messages: Incoming[]): Promise<void>;
  count(sql: string): Promise<number>;
  /** Messages that have no decision. */
  undecided(): Promise<number>;
  decision(waId: string): Promise<Decision | null>;
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
  env?: Environment;
  /** Default: nothing is logged. */
  log?: Logger;
  locales?: Locales;
  media?: MessagePathDeps["files"]["outgoing"];
  files?: Pick<MessagePathDeps["files"]["received"], "read">;
  stopping?: AbortSignal;
  /** What those are told whose call was rejected. Default: nothing. */
  callsText?: string;
  /** Default: everything may be reached. */
  http?: SafeFetch;
  wrap?: (store: Store) => Store;
  /** The store of another run on the same folder. Default: one of its own. */
  sharedStore?: Store;
}

export const numberOf = (deviceId: number): string => `49170000000${deviceId}`;

/** The gateway's own way of a message; only time and WhatsApp are the test's. No number is open yet. */
export async function startPath(options: PathOptions = {}): Promise<PathRun> {
  const { folder = await begunFolder(), clock = manualClock(), bots = {}, numbers = [1, 2] } = options;
  const config = loadConfig({ DATA_DIR: folder, LOG_LEVEL: "silent", STORE_THREAD: "off", ...options.env });
  const log = options.log ?? silentLog(config);
  let over = false;
  // What a run has put off ends with it; the clock goes on for the next.
  const after: Time["after"] = (ms, run) => clock.schedule(ms, () => (over ? undefined : run()));
  const time = createTime({ now: clock.now, monotonic: clock.now, after });
  const opened = options.sharedStore ?? (await openStore(config, log, time));
  const store = options.wrap?.(opened) ?? opened;
  const insert = `INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at)
VALUES (?, 'test', ?, 'connected', 0, 0)`;
  await opened.writer.commit(numbers.map((id) => ({ sql: insert, args: [id, numberOf(id)] })));
  const stopping = sharedAbort();
  const observers = createObservers();
  const line = scriptedLine();
  let connected: Line | null = line;
  const sources = Object.entries(bots).map(([id, exported]) => ({ id, file: id, exported }));
  const http = options.http ?? createSafeFetch({ allowPrivateNetwork: true });
  const path = joinPath({
    store,
    config,
    log,
    connections: {
      connection: () => connected?.connection ?? null,
      number: numberOf,
      deviceOf: (_accountId, number) => Number(number.slice(-1)),
      callsText: () => options.callsText ?? null,
    },
    directory: { canonicalChat: createLids({ store, identity: () => null }).canonicalChat },
    bots: {
      registry: createRegistry(sources, log),
      locales: () => options.locales ?? new Map(),
      time: timeWithClock(clock.now),
    },
    http,
    files: {
      ...(options.media && { outgoing: options.media }),
      ...(options.files && { received: { ...noFiles, ...options.files } }),
    },
    observers,
    stopping: options.stopping ?? stopping.signal,
    collectMs: 0,
    besides: options.answerers ?? [],
  });
  await path.load();
  const end = async (): Promise<void> => {
    if (over) return;
    over = true;
    connected = null;
    // Handlers that still run can commit nothing any more.
    for (const deviceId of numbers) path.close(deviceId).catch(() => undefined);
    stopping.abort();
    void path.webhooks.stop(0);
    await http.close();
    if (options.sharedStore === undefined) await opened.close();
  };
  onTestFinished(end);
  const count = async (sql: string): Promise<number> => Number((await rawRows(store, sql, []))[0]!.n);
  return {
    store,
    opened,
    path,
    observers,
    clock,
    line,
    connect: (next) => void (connected = next),
    receive: (deviceId, ...messages) =>
      commitIntake(store.writer, path.receive(deviceId, numberOf(deviceId), messages)),
    count,
    undecided: () => count("SELECT count(*) AS n FROM inbox WHERE state = 'pending'"),
    async decision(waId) {
      const [row] = await rawRows(store, "SELECT * FROM decisions WHERE wa_id = ?", [waId]);
      if (row === undefined) return null;
      const { by, route, guard } = row as unknown as Decision;
      return { by, route, guard, trail: JSON.parse(String(row.trail)) };
    },
    end,
  };
}
