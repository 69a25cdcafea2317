import bundledBots, { locales as bundledLocales, sources as botSources } from "#bots";
import { createAccounts } from "./accounts/accounts.ts";
import { isAdminToken } from "./accounts/admin-token.ts";
import { createApiKeys } from "./accounts/api-keys.ts";
import type { App } from "./api/services.ts";
import { createAudit } from "./audit/audit.ts";
import { createBotAnswerers } from "./bot/answerers.ts";
import { createBindings } from "./bot/bindings.ts";
import { openBots } from "./bot/reload.ts";
import { createRunningBots } from "./bot/running.ts";
import { createBotState } from "./bot/state.ts";
import { createTimers, type Timers } from "./bot/timers.ts";
import { createChannels } from "./directory/channels.ts";
import { createBackups } from "./backup/backups.ts";
import type { Config } from "./config.ts";
import { createEvents } from "./events/events.ts";
import { createPublisher } from "./events/publisher.ts";
import { createGroups } from "./directory/groups.ts";
import { createInbox } from "./inbox/inbox.ts";
import { createLids } from "./directory/lids.ts";
import type { Logger } from "./log.ts";
import { createReceivedMedia } from "./media/incoming.ts";
import { createMedia } from "./media/media.ts";
import { createSafeFetch } from "./net/safe-fetch.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { createDisconnectCounter } from "./metrics/disconnects.ts";
import { createNumbers, type Numbers } from "./numbers/numbers.ts";
import { createIdempotency } from "./outbox/idempotency.ts";
import { createOutbox, type Outbox } from "./outbox/outbox.ts";
import { createDecisions } from "./pipeline/decisions.ts";
import { createPipeline } from "./pipeline/pipeline.ts";
import { createPolls } from "./inbox/polls.ts";
import { createErasure } from "./retention/erasure.ts";
import { createRetention } from "./retention/retention.ts";
import { watchClock } from "./store/clock.ts";
import { checkStorage } from "./store/health.ts";
import { joinIntakes } from "./store/intake.ts";
import { openStore } from "./store/open.ts";
import type { Store } from "./store/store.ts";
import { createWebhooks } from "./webhooks/index.ts";
import { watchStalls } from "./process/stalls.ts";
import { deliveryId } from "./webhooks/rows.ts";
import { createWhatsApp } from "./whatsapp/whatsapp.ts";
import { failpoint } from "./model/failpoint.ts";
import { sharedAbort } from "./model/shared-abort.ts";
import { within } from "./model/within.ts";

// A stop takes at most the sum of these, 21 seconds. What is cut off is asked or sent again at the next start.
/** For handlers and webhooks that are under way. */
const STOP_GRACE_MS = 5_000;
/** For requests, counted from the same moment. */
const STOP_REQUESTS_MS = 8_000;
/** For acks of what is being sent. */
const STOP_SENDING_MS = 5_000;
/** For connections that close, and for what they still bring. */
const STOP_CONNECTIONS_MS = 6_000;
/** For what then knows its outcome to be written down. */
const STOP_OUTCOMES_MS = 1_000;

/**
 * Joins the parts: the only place that knows them all.
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
  // Numbers bring messages in and carry the outbox out: each of the two is handed functions that look the other up.
  let numbers: Numbers;
  let outbox: Outbox;
  const connection = (deviceId: number) => numbers.connection(deviceId);
  const identity = (deviceId: number) => numbers.identity(deviceId);

  const metrics = createMetrics({ store, sessions: () => numbers.states() });
  const disconnects = createDisconnectCounter(metrics.disconnected, store.now());
  const events = createEvents(store.now);
  const tell = createPublisher({
    events,
    now: store.now,
    device: (deviceId) => numbers.get(deviceId),
    findMessage: (accountId, waId) => outbox.find(accountId, waId),
    findDelivery: (accountId, id) => webhooks.deliveries.find(accountId, id),
    webhook: (deviceId) => webhooks.get(deviceId),
  });
  const inbox = createInbox(store, (recorded, known) => {
    tell.received(recorded);
    for (const { message } of recorded) metrics.received(message.type);
    metrics.redelivered(known);
  });
  const polls = createPolls(store);
  const groups = createGroups({ store, log, connection, identity });
  const channels = createChannels({ store, connection });
  const lids = createLids({
    store,
    identity,
    // Group lists name both the number and the LID of their members.
    learn: (deviceId) =>
      groups.list(deviceId, { refresh: false }).then(
        () => undefined,
        () => undefined,
      ),
  });
  outbox = createOutbox({
    store,
    config,
    log,
    connections: { connection, isLinked: (deviceId) => numbers.isLinked(deviceId) },
    canonicalChat: lids.canonicalChat,
    refusal: async (deviceId, jid) =>
      (await groups.refusal(deviceId, jid)) ?? channels.refusal(deviceId, jid),
    findQuote: inbox.findQuote,
    onChange: tell.messageChanged,
    onOutcome: metrics.sent,
  });
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
  const bindings = createBindings(store, bots.registry, (problem) => log.warn(problem));
  let timers: Timers;
  const botState = createBotState(store, (dueAt) => timers.expect(dueAt));
  const running = createRunningBots();
  const stalls = watchStalls(log, running.sinceLastLook);
  const http = createSafeFetch(config, undefined, metrics.ssrfBlocked);
  const outgoing = createMedia({ store, config, log, http });
  const audit = createAudit({ store, config, log });
  const whatsapp = createWhatsApp({
    store,
    config,
    log,
    witness: audit.witness,
    sentMessage: outbox.sentMessage,
    receivedContent: inbox.find,
    files: outgoing.files,
    onUndecryptable: metrics.decryptFailed,
  });
  const receivedMedia = createReceivedMedia({
    store,
    config,
    log,
    whatsapp,
    connection,
    load: inbox.load,
    stopping: stopping.signal,
  });
  const webhooks = createWebhooks({
    store,
    config,
    log,
    http,
    outbox,
    files: receivedMedia,
    media: outgoing,
    connection,
    onDelivery: tell.deliveryChanged,
    onAttempt: metrics.webhookAttempt,
    onDead: metrics.webhookDead,
    onTurn(deviceId, to) {
      metrics.webhookTurned(to);
      tell.webhookTurned(deviceId);
    },
    loopGuard: {
      allows: (deviceId, chat) => pipeline.loopGuard.allows(deviceId, chat),
      count: (deviceId, chat, replies) => pipeline.loopGuard.count(deviceId, chat, replies),
    },
  });
  const botAnswerers = createBotAnswerers({
    bindings,
    state: botState,
    media: outgoing,
    files: receivedMedia,
    locales: () => bots.locales,
    config,
    hmac: (text) => store.box.hmac("bot-step", text).toString("base64url"),
    log,
    now: store.now,
    stopping: stopping.signal,
    running,
  });
  const pipeline = createPipeline({
    store,
    config,
    log,
    inbox,
    outbox,
    polls,
    answerers: [
      botAnswerers.observers,
      botAnswerers.interrupts,
      webhooks.holder,
      botAnswerers.conversations,
      botAnswerers.routes,
      webhooks.answerer,
    ],
    replyMaxAge: webhooks.replyMaxAge,
    onDecided(stored, verdict) {
      tell.decided(stored, verdict);
      // An event for the webhook is stored in the same commit, when there is one.
      tell.deliveryChanged(stored.deviceId, deliveryId(store.box, stored.deviceId, stored.inboxId));
    },
  });
  timers = createTimers({
    state: botState,
    commit: store.writer.commit,
    record: inbox.recordTimer,
    deliver: pipeline.due,
    numberOf: (deviceId) => numbers.get(deviceId)?.number ?? null,
    canonicalChat: lids.canonicalChat,
    now: store.now,
    schedule: store.time.after,
    onError: (err) => log.warn({ err }, "timers of bots are late: the database does not answer"),
  });
  const keys = createApiKeys(store, config);
  const erasure = createErasure({ store, config, log });
  numbers = createNumbers({
    store,
    log,
    whatsapp,
    erase: erasure.erase,
    deviceLimit: (accountId) => accounts.deviceLimit(accountId),
    onMessages(deviceId, ownNumber, messages) {
      const { statements, stored } = audit.found(deviceId, messages);
      const received = pipeline.receive(deviceId, ownNumber, messages);
      return joinIntakes(received, { statements, committed: stored });
    },
    onReceipts(deviceId, receipts) {
      outbox.receipt(deviceId, receipts);
      audit.receipts(deviceId, receipts);
    },
    onGroupsChanged: groups.changed,
    onOpen: (deviceId) => void outbox.wake(deviceId),
    onState(device) {
      const { id, state } = device;
      tell.device(device);
      disconnects.look(device);
      if (state === "unlinked" || state === "logged_out" || state === "blocked")
        outbox
          .abandon(id)
          .catch((err: unknown) => log.error({ err, device: id }, "ending what waits failed"));
    },
  });
  const accounts = createAccounts({ store, config, keys, numbers: { list: numbers.list, remove } });

  const clock = watchClock(store, log, (ms) => {
    for (const part of [pipeline, webhooks, outbox]) part.onClockMoved(ms);
  });
  const retention = createRetention({
    store,
    config,
    log,
    sentContent: outbox.sentContent,
    afterwards: audit.sweep,
  });

  async function remove(deviceId: number): Promise<void> {
    await numbers.remove(deviceId);
    for (const part of [pipeline, outbox, groups, channels, bindings, webhooks, audit]) part.forget(deviceId);
  }

  const backups = createBackups({ config, log, now: store.now });

  /** A message that was sent; a poll with its votes. */
  async function findSent(accountId: string, waId: string) {
    const message = await outbox.find(accountId, waId);
    if (message?.kind !== "poll") return message;
    const device = await numbers.find(accountId, message.sender);
    const draft = device && (await outbox.sentContent(device.id, waId));
    return draft?.kind === "poll" ? { ...message, poll: await polls.sent(device!.id, waId, draft) } : message;
  }

  await Promise.all([numbers.load(), bindings.load(), webhooks.load(), audit.load()]);

  return {
    config,
    log,
    isAdminToken: (token) => isAdminToken(store, token),
    accounts,
    keys,
    numbers: { ...numbers, remove },
    outbox: { submit: outbox.submit, find: findSent },
    idempotency: createIdempotency({ store, log }),
    audit,
    groups,
    channels,
    lids,
    webhooks,
    deliveries: {
      ...webhooks.deliveries,
      async replay(accountId, id) {
        const delivery = await webhooks.deliveries.replay(accountId, id);
        const device = delivery && numbers.find(accountId, delivery.device);
        if (device) tell.deliveryChanged(device.id, id);
        return delivery;
      },
    },
    events,
    metrics,
    bots: { list: () => bots.registry.list(), reload: () => bots.reload(bindings.use) },
    bindings,
    decisions: createDecisions(store),
    backups,
    media: receivedMedia,
    files: outgoing,
    health: { check: () => checkStorage(store, config.dataDir), longestStallMs: stalls.longestMs },
    async start() {
      await clock.start();
      await outbox.start();
      await pipeline.start();
      await numbers.start();
      timers.start();
      webhooks.start();
      retention.start();
      erasure.start();
    },
    async stop(requests) {
      const cut = setTimeout(() => stopping.abort(new Error("The gateway is stopping.")), STOP_GRACE_MS);
      const ended = Promise.all([
        timers.stop(),
        pipeline.drain(),
        webhooks.stop(STOP_GRACE_MS),
        within(STOP_REQUESTS_MS, requests ?? Promise.resolve()),
      ]);
      failpoint("in-drain");
      await ended;
      clearTimeout(cut);
      stopping.abort(new Error("The gateway is stopping."));
      const sent = outbox.drain();
      await within(STOP_SENDING_MS, Promise.all([sent, retention.stop(), erasure.stop()]));
      await within(STOP_CONNECTIONS_MS, numbers.stop());
      // An attempt whose connection is gone has its outcome: not known.
      await within(STOP_OUTCOMES_MS, sent);
      await audit.stop();
      await clock.stop();
      outgoing.stop();
      whatsapp.stop();
      stalls.stop();
      await http.close();
      await store.close();
    },
  };
}
