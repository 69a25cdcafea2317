import { randomBytes } from "node:crypto";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Store } from "../store/store.ts";
import { GENERAL, type AlertRecord, type Condition } from "./alert.ts";
import { createDiskWatch } from "./disk.ts";
import { createLastEnd } from "./last-end.ts";
import { createLedger } from "./ledger.ts";
import { postAlerts, type Posted } from "./post.ts";
import { createTeller, type Telling } from "./telling.ts";
import { createWatch, type WatchedNumbers } from "./watch.ts";

/** What the operator asks about alerts. */
export interface AlertsReport {
  /** Name of the host in `ALERT_URL`; null: nobody is told. */
  host: string | null;
  signed: boolean;
  telling: Telling | null;
  open: AlertRecord[];
}

/** Tells the operator at `ALERT_URL` what he would want to know at night. */
export interface Alerts {
  /** What happens on the way of a message, see `src/path/observers.ts`. */
  observer: Record<"device" | "webhook", (event: { deviceId: number }) => void>;
  /** Something else holds from now on, or holds no longer. Neither rejects. */
  raise(key: string, condition: Condition): Promise<void>;
  clear(key: string, text: string): Promise<void>;
  report(): Promise<AlertsReport>;
  /** Posts a sample at once; null: `ALERT_URL` is not set. */
  test(): Promise<Posted | null>;
  /** Called when the numbers are read. */
  start(): Promise<void>;
  /** Looks no longer. What is not told yet is told by the next run. */
  stop(): Promise<void>;
  /** The last thing of a run: it ended in order. */
  ended(): Promise<void>;
}

interface AlertsDeps {
  config: Pick<Config, "alertUrl" | "alertSecret" | "publicUrl" | "dataDir">;
  store: Store;
  log: Logger;
  cluster: Pick<Cluster, "node" | "ownership">;
  http: Pick<SafeFetch, "request" | "close">;
  numbers: WatchedNumbers;
}

const LOOK_MS = 10 * SECOND_MS;
const TELL_MS = 2 * SECOND_MS;
const DISK_MS = MINUTE_MS;
/** Of the report. */
const MOST_OPEN = 1_000;
/** Numbers and deliveries are everybody's: of several processes the one with this partition looks after them. */
const LEADER = 0;

const NOBODY_TOLD: Alerts = {
  observer: { device: () => undefined, webhook: () => undefined },
  raise: async () => undefined,
  clear: async () => undefined,
  report: async () => ({ host: null, signed: false, telling: null, open: [] }),
  test: async () => null,
  start: async () => undefined,
  stop: async () => undefined,
  ended: async () => undefined,
};

/** Without `ALERT_URL`: costs nothing, and remembers nothing. */
export function createAlerts(deps: AlertsDeps): Alerts {
  const { alertUrl } = deps.config;
  return alertUrl === null ? NOBODY_TOLD : createTold(deps, alertUrl);
}

function createTold({ config, store, log, cluster, http, numbers }: AlertsDeps, alertUrl: string): Alerts {
  const { time, now } = store;
  const { dataDir } = config;
  const { node, ownership } = cluster;
  const ledger = createLedger(store);
  const toReceiver = { config: { ...config, alertUrl }, http, time };
  const post = (alerts: readonly AlertRecord[]): Promise<Posted> => postAlerts(toReceiver, alerts);
  const teller = createTeller({ store, log, ledger, post });
  const watch = createWatch(numbers, ledger, store);
  const lookAtDisk = createDiskWatch({ dataDir, node }, ledger, now);
  const lastEnd = createLastEnd({ dataDir, node }, ledger, time);
  let ends: Cancel[] = [];
  let leads = false;
  const working = new Set<Promise<void>>();

  /** Whatever is in the way now is in the way of everything, and told elsewhere: the next look is soon. */
  function quietly(work: () => Promise<void>): Promise<void> {
    const done = work()
      .catch((err: unknown) => log.debug({ err }, "could not look for alerts"))
      .finally(() => working.delete(done));
    working.add(done);
    return done;
  }

  const tell = async (): Promise<void> =>
    ends.length > 0 && ownership.owns(LEADER) ? teller.tell() : undefined;

  async function look(): Promise<void> {
    if (!ownership.owns(LEADER)) return void (leads = false);
    if (!leads) watch.reread();
    leads = true;
    await watch.look();
    await tell();
  }

  function changed({ deviceId }: { deviceId: number }): void {
    if (ends.length === 0 || !ownership.owns(LEADER)) return;
    void quietly(async () => {
      await watch.lookAt(deviceId);
      await tell();
    });
  }

  return {
    observer: { device: changed, webhook: changed },
    raise: (key, condition) => quietly(() => ledger.raise(key, condition)),
    clear: (key, text) => quietly(() => ledger.clear(key, now(), text)),
    report: async () => ({
      host: new URL(alertUrl).host,
      signed: config.alertSecret !== null,
      telling: await teller.state(),
      open: await ledger.open(MOST_OPEN),
    }),
    test: () => post([sample(now())]),
    async start() {
      ends = [
        time.every(LOOK_MS, () => void quietly(look)),
        time.every(TELL_MS, () => void quietly(tell)),
        time.every(DISK_MS, () => void quietly(lookAtDisk)),
      ];
      await quietly(lastEnd.begin);
      await quietly(lookAtDisk);
      void quietly(look);
    },
    async stop() {
      for (const cancel of ends) cancel();
      ends = [];
      await Promise.all(working);
      await http.close();
    },
    ended: lastEnd.end,
  };
}

const sample = (now: number): AlertRecord => ({
  ...GENERAL,
  id: `al_${randomBytes(9).toString("hex")}`,
  alert: "test",
  status: "open",
  since: now,
  until: null,
  text: "This is a test: alerts of this gateway arrive here.",
  advice: null,
});
