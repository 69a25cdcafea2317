import bundledBots, { locales as bundledLocales, sources as botSources } from "#bots";
import { createAccounts } from "./accounts/accounts.ts";
import { isAdminToken } from "./accounts/admin-token.ts";
import { createApiKeys } from "./accounts/api-keys.ts";
import { limitOf } from "./accounts/plans.ts";
import type { App } from "./api/services.ts";
import { createAudit } from "./audit/audit.ts";
import { createBackups } from "./backup/backups.ts";
import { openBots } from "./bot/reload.ts";
import { createRunningBots } from "./bot/running.ts";
import type { Config } from "./config.ts";
import { createChannels } from "./directory/channels.ts";
import { createGroups } from "./directory/groups.ts";
import { createLids } from "./directory/lids.ts";
import { createEvents } from "./events/events.ts";
import { createPublisher } from "./events/publisher.ts";
import { createInboxReader } from "./inbox/reader.ts";
import type { Logger } from "./log.ts";
import { createReceivedMedia } from "./media/incoming.ts";
import { createMedia } from "./media/media.ts";
import { createDisconnectCounter } from "./metrics/disconnects.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { observePath } from "./metrics/path-observer.ts";
import { sharedAbort } from "./model/shared-abort.ts";
import { createSafeFetch } from "./net/safe-fetch.ts";
import { createNumbers } from "./numbers/numbers.ts";
import { createIdempotency } from "./outbox/idempotency.ts";
import { createSentReader } from "./outbox/sent-reader.ts";
import { createConnectionPort } from "./path/connections.ts";
import { createObservers } from "./path/observers.ts";
import { createMessagePath } from "./path/path.ts";
import { createDecisions } from "./pipeline/decisions.ts";
import { stopInOrder } from "./process/stop.ts";
import { watchStalls } from "./process/stalls.ts";
import { createErasure } from "./retention/erasure.ts";
import { createRetention } from "./retention/retention.ts";
import { watchClock } from "./store/clock.ts";
import { checkStorage } from "./store/health.ts";
import { joinIntakes } from "./store/intake.ts";
import { openStore } from "./store/open.ts";
import type { Store } from "./store/store.ts";
import { deliveryId } from "./webhooks/rows.ts";
import { createWhatsApp } from "./whatsapp/whatsapp.ts";

/** A number in one of these has no phone any more that its queue could be meant for. */
const NO_PHONE = new Set(["unlinked", "logged_out", "blocked"]);

/**
 * Joins data, the way of a message, numbers, and what is asked from outside: the only place that knows them all.
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
  const stopping = sharedAbort();
  const connections = createConnectionPort();
  const observers = createObservers();
  const { connection, identity } = connections;

  // Data: what was received and sent, files, and who is who.
  const received = createInboxReader(store);
  const { sentContent, sentMessage } = createSentReader(store);
  const http = createSafeFetch(config, undefined, observers.addressBlocked);
  const outgoing = createMedia({ store, config, log, http });
  const audit = createAudit({ store, config, log });
  const whatsapp = createWhatsApp({
    store,
    config,
    log,
    witness: audit.witness,
    sentMessage,
    receivedContent: received.find,
    files: outgoing.files,
    onUndecryptable: observers.undecryptable,
  });
  const receivedMedia = createReceivedMedia({
    store,
    config,
    log,
    whatsapp,
    connection,
    load: received.load,
    stopping: stopping.signal,
  });
  const groups = createGroups({ store, log, connection, identity });
  const channels = createChannels({ store, connection });
  const lids = createLids({
    store,
    identity,
    // Group lists name both the number and the LID of their members.
    learn: async (deviceId) => void (await groups.list(deviceId, { refresh: false }).catch(() => undefined)),
  });

  // The way of a message.
  const running = createRunningBots();
  const stalls = watchStalls(log, running.sinceLastLook);
  const bots = await openBots({
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
  const path = createMessagePath({
    store,
    config,
    log,
    connections,
    directory: {
      canonicalChat: lids.canonicalChat,
      refusal: async (deviceId, jid) =>
        (await groups.refusal(deviceId, jid)) ?? channels.refusal(deviceId, jid),
    },
    bots: { registry: bots.registry, locales: () => bots.locales, running },
    http,
    files: { outgoing, received: receivedMedia },
    observers,
    stopping: stopping.signal,
  });
  const { bindings, webhooks } = path;

  // Numbers: they bring messages in and carry the outbox out.
  const erasure = createErasure({ store, config, log });
  const numbers = createNumbers({
    store,
    log,
    whatsapp,
    erase: erasure.erase,
    deviceLimit: (accountId) => limitOf(store, config, accountId, "devices"),
    onMessages(deviceId, ownNumber, messages) {
      const { statements, stored } = audit.found(deviceId, messages);
      return joinIntakes(path.receive(deviceId, ownNumber, messages), { statements, committed: stored });
    },
    onReceipts(deviceId, receipts) {
      path.receipts(deviceId, receipts);
      audit.receipts(deviceId, receipts);
    },
    onGroupsChanged: groups.changed,
    onOpen: (deviceId) => void path.online(deviceId),
    onState(device) {
      observers.device(device);
      if (NO_PHONE.has(device.state)) void path.unlinked(device.id);
    },
  });
  connections.serve({
    ...numbers,
    number: (deviceId) => numbers.get(deviceId)?.number ?? null,
    deviceOf: (accountId, number) => numbers.find(accountId, number)?.id ?? null,
  });

  // Who is told of what happens.
  const metrics = createMetrics({ store, sessions: numbers.states });
  const events = createEvents(store.time);
  const publisher = createPublisher({
    events,
    now: store.now,
    device: numbers.get,
    deliveryOf: ({ deviceId, inboxId }) => deliveryId(store.box, deviceId, inboxId),
    findMessage: path.outbox.find,
    findDelivery: webhooks.deliveries.find,
    webhook: webhooks.get,
  });
  observers.add(publisher);
  observers.add(observePath(metrics));
  observers.add({ device: createDisconnectCounter(metrics.disconnected, store.now()).look });

  // What works in the background.
  const clock = watchClock(store, log, path.onClockMoved);
  const retention = createRetention({ store, config, log, sentContent, afterwards: audit.sweep });

  // Entrances: what the routes ask.
  async function remove(deviceId: number): Promise<void> {
    await path.close(deviceId);
    await numbers.remove(deviceId).catch(async (error: unknown) => {
      // It is still there, and goes on.
      await path.open(deviceId);
      throw error;
    });
    for (const part of [path, groups, channels, audit]) part.forget(deviceId);
  }
  async function register(accountId: string, number: string) {
    const device = await numbers.register(accountId, number);
    await path.open(device.id);
    return device;
  }
  const keys = createApiKeys(store, config);
  const accounts = createAccounts({ store, config, keys, numbers: { list: numbers.list, remove } });

  await Promise.all([numbers.load(), path.load(), audit.load()]);

  return {
    config,
    log,
    isAdminToken: (token) => isAdminToken(store, token),
    accounts,
    keys,
    numbers: { ...numbers, register, remove },
    outbox: { submit: path.submit, find: path.findSent },
    idempotency: createIdempotency({ store, log }),
    audit,
    groups,
    channels,
    lids,
    webhooks,
    deliveries: webhooks.deliveries,
    events,
    metrics,
    bots: { list: () => bots.registry.list(), reload: () => bots.reload(bindings.use) },
    bindings,
    decisions: createDecisions(store),
    backups: createBackups({ config, log, now: store.now }),
    media: receivedMedia,
    files: outgoing,
    health: { check: () => checkStorage(store, config.dataDir), longestStallMs: stalls.longestMs },
    async start() {
      await clock.start();
      for (const deviceId of numbers.ids()) await path.open(deviceId);
      await numbers.start();
      path.start();
      retention.start();
      erasure.start();
    },
    stop: (requests) =>
      stopInOrder(
        {
          time: store.time,
          stopping,
          path,
          background: [retention, erasure],
          numbers,
          rest: [audit.stop, clock.stop, outgoing.stop, whatsapp.stop, stalls.stop, http.close, store.close],
        },
        requests ?? Promise.resolve(),
      ),
  };
}
