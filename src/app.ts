import bundledBots, { locales as bundledLocales, sources as botSources } from "#bots";
import { createAccounts } from "./accounts/accounts.ts";
import { isAdminToken } from "./accounts/admin-token.ts";
import { createApiKeys } from "./accounts/api-keys.ts";
import type { App } from "./api/services.ts";
import { openConversations, openData, type Base, type Data } from "./app/data.ts";
import { openNumbers, showLocks, withPath } from "./app/numbers.ts";
import { observe } from "./app/observation.ts";
import { createBackups } from "./backup/backups.ts";
import { withBlocked } from "./bot/registry.ts";
import { openBots, type Bots } from "./bot/reload.ts";
import { createRunningBots, type RunningBots } from "./bot/running.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./log.ts";
import { sharedAbort } from "./model/shared-abort.ts";
import { createIdempotency } from "./outbox/idempotency.ts";
import { createConnectionPort } from "./path/connections.ts";
import { createObservers } from "./path/observers.ts";
import { createMessagePath, type MessagePath } from "./path/path.ts";
import { createDecisions } from "./pipeline/decisions.ts";
import { stopInOrder } from "./process/stop.ts";
import { watchStalls } from "./process/stalls.ts";
import { createErasure } from "./retention/erasure.ts";
import { createRetention, type Retention } from "./retention/retention.ts";
import { watchClock } from "./store/clock.ts";
import { createStorageCheck } from "./store/health.ts";
import { createOnceClear } from "./store/once-clear.ts";
import { openStore } from "./store/open.ts";
import type { Store } from "./store/store.ts";

/**
 * Joins data, the way of a message, numbers, and what is asked from outside.
 *
 * @returns an app whose records are read, so that requests may come; nothing is connected before `start`
 * @throws {StartError} when the data or a setting forbids the start
 */
export async function createApp(config: Config, log: Logger): Promise<App> {
  const store = await openStore(config, log);
  try {
    return await join(config, log, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function join(config: Config, log: Logger, store: Store): Promise<App> {
  const connections = createConnectionPort();
  const base = { config, log, store, connections, observers: createObservers(), stopping: sharedAbort() };
  const data = openData(base);
  const { audit, groups, channels, lids, http, outgoingFiles } = data;
  const running = createRunningBots();
  const stalls = watchStalls(log, running.sinceLastLook);
  const bots = await loadBots(base);
  const path = openPath(base, data, bots, running);
  const { bindings, webhooks } = path;
  const erasure = createErasure({ store, config, log });
  const numbers = openNumbers(base, data, path, erasure.erase);
  const { register, remove } = withPath(numbers, path, [groups, channels, audit]);
  const { metrics, events } = observe(base, data, path, numbers);
  const clock = watchClock(store, log, path.onClockMoved);
  const retention = openRetention(base, data);
  const onceClear = createOnceClear({ store, log });
  const keys = createApiKeys(store, config);
  const accounts = createAccounts({ store, config, keys, numbers: { list: numbers.list, remove } });

  await Promise.all([numbers.load(), path.load(), audit.load()]);
  showLocks(numbers, path);

  return {
    config,
    log,
    isAdminToken: (token) => isAdminToken(store, token),
    accounts,
    keys,
    numbers: { ...numbers, register, remove },
    outbox: {
      submit: path.submit,
      find: path.findSent,
      waitsForMedia: path.outbox.waitsForMedia,
      reachoutLock: path.outbox.reachoutLock,
    },
    idempotency: createIdempotency({ store, log }),
    audit,
    groups,
    channels,
    lids,
    webhooks,
    deliveries: webhooks.deliveries,
    events,
    metrics,
    bots: {
      list: () => bots.registry.list().map((bot) => withBlocked(bot, path.blocking)),
      reload: () =>
        bots.reload(async (registry) => {
          await bindings.use(registry);
          path.blocking.forget();
        }),
    },
    bindings,
    decisions: createDecisions(store),
    conversations: { ...openConversations(base, data), takeOver: path.takeOver },
    backups: createBackups({ config, log, now: store.now }),
    media: data.receivedFiles,
    files: outgoingFiles,
    health: { check: createStorageCheck(store, config.dataDir), longestStallMs: stalls.longestMs },
    async start() {
      await clock.start();
      for (const deviceId of numbers.ids()) await path.open(deviceId);
      await numbers.start();
      path.start();
      retention.start();
      erasure.start();
      onceClear.start();
    },
    stop: (requests = Promise.resolve()) =>
      stopInOrder(
        {
          time: store.time,
          stopping: base.stopping,
          path,
          background: [retention, erasure, onceClear],
          numbers,
          rest: [
            audit.stop,
            clock.stop,
            outgoingFiles.stop,
            data.whatsapp.stop,
            stalls.stop,
            http.close,
            store.close,
          ],
        },
        requests,
      ),
  };
}

function loadBots({ config, log }: Base): Promise<Bots> {
  return openBots({
    buildTime: bundledBots,
    buildTimeLocales: bundledLocales,
    botsDir: config.botsDir,
    // `nitro dev` only: a build holds its bots, and nothing of what reads sources.
    ...(import.meta.dev &&
      botSources !== null && {
        live: async () => (await import("./bot/live.ts")).liveBots(botSources!),
      }),
    log,
  });
}

function openRetention({ store, config, log }: Base, { sent, audit }: Data): Retention {
  return createRetention({ store, config, log, sentContent: sent.sentContent, afterwards: audit.sweep });
}

function openPath(base: Base, data: Data, bots: Bots, running: RunningBots): MessagePath {
  const { groups, channels, lids, http, outgoingFiles, receivedFiles } = data;
  return createMessagePath({
    ...base,
    directory: {
      canonicalChat: lids.canonicalChat,
      refusal: async (deviceId, jid) =>
        (await groups.refusal(deviceId, jid)) ?? channels.refusal(deviceId, jid),
    },
    bots: { registry: bots.registry, locales: () => bots.locales, running },
    http,
    files: { outgoing: outgoingFiles, received: receivedFiles },
    stopping: base.stopping.signal,
  });
}
