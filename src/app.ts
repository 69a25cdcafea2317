import { createAccounts } from "./accounts/accounts.ts";
import { isAdminToken } from "./accounts/admin-token.ts";
import { createApiKeys } from "./accounts/api-keys.ts";
import type { App } from "./api/services.ts";
import type { ClusterNode } from "./app/cluster.ts";
import { openAllBots, refuseMisfits } from "./app/bots.ts";
import { notesWhomItMeets, notingWhomItWritesTo } from "./app/contacts.ts";
import { openConversations, openData, type Base, type Data } from "./app/data.ts";
import { createForks } from "./app/forks.ts";
import { openDesk } from "./app/overview.ts";
import { openNumbers, showLocks } from "./app/numbers.ts";
import { openEpoch } from "./app/rolled-back.ts";
import { openSessions } from "./app/sessions.ts";
import { observe } from "./app/observation.ts";
import { createForecastGuard } from "./bot/forecast/guard.ts";
import { tellDeveloper } from "./bot/answerers/onlooker.ts";
import { withBlocked } from "./bot/files/registry.ts";
import { reloadEverywhere, type Bots } from "./bot/files/reload.ts";
import { createRunningBots, type RunningBots } from "./bot/handlers/running.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./log.ts";
import { alone } from "./model/nodes/alone.ts";
import { sharedAbort } from "./model/shared-abort.ts";
import type { Numbers } from "./numbers/numbers.ts";
import { createIdempotency } from "./outbox/submitting/idempotency.ts";
import { createConnectionPort } from "./path/connections.ts";
import { createObservers } from "./path/observers.ts";
import { createMessagePath, type MessagePath } from "./path/path.ts";
import { createDecisions } from "./pipeline/decisions.ts";
import { stopInOrder } from "./process/stop.ts";
import { watchStalls } from "./process/stalls.ts";
import { createErasure } from "./retention/erasure.ts";
import { createRetention, type Retention } from "./retention/retention.ts";
import { watchClock } from "./store/clock.ts";
import type { Epoch } from "./store/epoch.ts";
import { createNews } from "./store/news.ts";
import { createStorageCheck } from "./store/file/health.ts";
import { openStore } from "./store/open.ts";
import { createSealing } from "./store/sealed/sealing.ts";
import { refuseSoleUse, takeSoleUse, type SoleUse } from "./store/write/sole-use.ts";
import type { Store } from "./store/store.ts";

/**
 * Joins data, the way of a message, numbers, and what is asked from outside.
 *
 * @param onMustEnd the database server was rolled back, or another process uses it: this process must write nothing more and end
 * @returns an app whose records are read, so that requests may come; nothing is connected before `start`
 * @throws {StartError} when the data or a setting forbids the start
 */
export async function createApp(config: Config, log: Logger, onMustEnd?: () => void): Promise<App> {
  const store = await openStore(config, log, undefined, onMustEnd);
  let node: ClusterNode | null = null;
  let soleUse: SoleUse | null = null;
  try {
    soleUse = await openSoleUse(config, log, store, onMustEnd);
    node = await openNode(config, log, store);
    // One that is alone may have begun before the others knew of this node.
    if (node !== null) await refuseSoleUse(store, log);
    const base = openBase(config, log, store, node);
    return await join(base, node, { epoch: await openEpoch(base), soleUse });
  } catch (error) {
    await soleUse?.stop();
    // Whoever starts it once more finds its name free.
    await node?.leave();
    await node?.close();
    await store.close();
    throw error;
  }
}

async function join(base: Base, node: ClusterNode | null, { epoch, soleUse }: Held): Promise<App> {
  const { config, log, store } = base;
  await base.news.begin();
  const data = openData(base);
  const { audit, directory, outgoingFiles } = data;
  const running = createRunningBots();
  const stalls = watchStalls(log, running.sinceLastLook);
  const forecasts = createForecastGuard(store, log);
  const bots = await openAllBots(config, log, forecasts);
  if (config.botsStrict) await refuseMisfits(forecasts, bots);
  const path = openPath(base, data, bots, running, (deviceId) => possession.taken(deviceId));
  const erasure = createErasure({ ...base, stored: data.files.media });
  const { numbers, possession, register, remove } = openNumbers(base, data, path, erasure.erase);
  const { metrics, traffic, events } = observe(base, data, path, numbers);
  base.observers.add(notesWhomItMeets(data.contactNotes));
  const clock = watchClock(store, log, path.onClockMoved, base.cluster.ownership);
  const [retention, sealing] = [openRetention(base, data), createSealing({ store, log })];
  const { keys, accounts, signedIn } = openAccess(base, numbers, remove);
  const { watching, ...desk } = openDesk(base, data, path, { accounts, numbers, stalls, retention });

  await Promise.all([numbers.load(), path.load(), audit.load()]);
  showLocks(numbers, path);
  return {
    config,
    log,
    redis: base.redis,
    settle: base.cluster.bus.settle,
    isAdminToken: (token) => isAdminToken(store, token),
    accounts,
    keys,
    ...signedIn,
    numbers: { ...numbers, register, remove },
    outbox: { ...notingWhomItWritesTo(path, data.contactNotes), find: path.findSent },
    idempotency: createIdempotency({ store, log, node: base.cluster.node }),
    audit,
    ...directory,
    webhooks: path.webhooks,
    deliveries: path.webhooks.deliveries,
    events,
    metrics,
    traffic,
    bots: openBots(base, bots, path, () => forecasts.look(bots)),
    bindings: path.bindings,
    forks: createForks({ store, config, bindings: path.bindings }),
    decisions: createDecisions(store),
    conversations: { ...openConversations(base, data), takeOver: path.takeOver },
    ...desk,
    media: data.receivedFiles,
    files: outgoingFiles,
    health: { check: createStorageCheck(store, config.dataDir), longestStallMs: stalls.longestMs },
    async start() {
      for (const part of [clock, base.news, possession]) await part.start();
      for (const part of [path, retention, traffic, erasure, sealing, data.files.sweep]) part.start();
      forecasts.look(bots);
      node?.portrayed({ deviceIds: numbers.ids, lagMs: stalls.longestMs });
      await node?.start();
      await watching.start();
    },
    handOver: async () => node?.handOver(),
    stop: (requests = Promise.resolve()) =>
      stopInOrder(
        {
          time: store.time,
          stopping: base.stopping,
          path,
          background: [epoch, watching, retention, erasure, sealing, data.files.sweep, forecasts],
          numbers,
          rest: lastSteps(
            base,
            data,
            node ?? soleUse,
            [traffic, events, clock, stalls].map(({ stop }) => stop),
            watching.ended,
          ),
        },
        requests,
      ),
  };
}

/** Who may ask: accounts, their keys, and who is signed in. */
function openAccess(base: Base, numbers: Numbers, remove: Numbers["remove"]) {
  const { config, store, cluster } = base;
  const keys = createApiKeys(store, config, cluster);
  const held = { list: numbers.list, remove };
  const accounts = createAccounts({ store, config, keys, numbers: held, shared: config.cluster !== null });
  return { keys, accounts, signedIn: openSessions(base, keys, accounts, numbers) };
}

/** What ends when no number is open any more, in this order. @param writing whatever may still write @param ended the very last */
function lastSteps(
  { store, news }: Base,
  { audit, outgoingFiles, whatsapp, http, files }: Data,
  use: ClusterNode | SoleUse | null,
  writing: (() => unknown)[],
  ended: () => unknown,
): (() => unknown)[] {
  return [
    ...writing,
    // Whoever takes the numbers over finds everything written.
    store.writer.drain,
    ...(use === null ? [] : ["leave" in use ? use.leave : use.stop]),
    ...[news, audit, outgoingFiles, whatsapp].map(({ stop }) => stop),
    http.close,
    files.close,
    ...(use !== null && "close" in use ? [use.close] : []),
    store.close,
    ended,
  ];
}

/** What this process does while it has the database. */
interface Held {
  epoch: Epoch;
  /** Null: a node has, or the database is a file. */
  soleUse: SoleUse | null;
}

/** Null: the database is a file, which one process has anyway, or this process is a node. */
async function openSoleUse(
  { cluster, databaseUrl, dataDir }: Config,
  log: Logger,
  store: Store,
  onTaken: () => void = () => undefined,
): Promise<SoleUse | null> {
  if (databaseUrl.startsWith("file:")) return null;
  if (cluster === null) return takeSoleUse({ store, dataDir, log, onTaken });
  await refuseSoleUse(store, log);
  return null;
}

/** Null: this process is alone, and loads nothing of what several need. */
async function openNode(config: Config, log: Logger, store: Store): Promise<ClusterNode | null> {
  const { cluster, redisUrl } = config;
  if (cluster === null || redisUrl === null) return null;
  const { openClusterNode } = await import("./app/cluster.ts");
  return openClusterNode({ ...config, cluster, redisUrl }, log, store);
}

function openBase(config: Config, log: Logger, store: Store, node: ClusterNode | null): Base {
  const cluster = node?.cluster ?? alone();
  return {
    config,
    log,
    store,
    cluster,
    redis: node?.redis ?? null,
    news: createNews({ store, cluster, log }),
    connections: createConnectionPort(),
    observers: createObservers(),
    stopping: sharedAbort(),
  };
}

function openBots(
  base: Base,
  bots: Bots,
  { blocking, bindings }: MessagePath,
  look: () => void,
): App["bots"] {
  return {
    list: () => bots.registry.list().map((bot) => withBlocked(bot, blocking)),
    reload: reloadEverywhere(base, () =>
      bots.reload(async (registry) => {
        await bindings.use(registry);
        blocking.forget();
        look();
      }),
    ),
  };
}

function openRetention(base: Base, { sent, audit, files }: Data): Retention {
  return createRetention({
    ...base,
    sentContent: sent.sentContent,
    stored: files.media,
    afterwards: audit.sweep,
  });
}

function openPath(
  base: Base,
  data: Data,
  bots: Bots,
  running: RunningBots,
  onLost: (deviceId: number) => void,
): MessagePath {
  const { groups, channels, lids, http, outgoingFiles, receivedFiles } = data;
  return createMessagePath({
    ...base,
    directory: {
      canonicalChat: lids.canonicalChat,
      refusal: async (deviceId, jid) =>
        (await groups.refusal(deviceId, jid)) ?? channels.refusal(deviceId, jid),
    },
    bots: {
      registry: bots.registry,
      locales: () => bots.locales,
      running,
      ...(import.meta.dev && { onlooker: tellDeveloper }),
    },
    http,
    files: { outgoing: outgoingFiles, received: receivedFiles },
    stopping: base.stopping.signal,
    onLost,
  });
}
