import type { BotFiles } from "../bot/handlers/turn-services.ts";
import { createAlarm, type Alarm } from "../bot/timers/alarm.ts";
import { createBotAnswerers } from "../bot/answerers/answerers.ts";
import type { Blocking } from "../bot/handlers/blocking.ts";
import { createBindings, type Bindings } from "../bot/bindings/bindings.ts";
import type { Locales } from "../bot/files/locales.ts";
import type { Onlooker } from "../bot/answerers/onlooker.ts";
import type { BotRegistry } from "../bot/files/registry.ts";
import { createRunningBots, type RunningBots } from "../bot/handlers/running.ts";
import { createSilentSessions } from "../bot/sessions/silent-sessions.ts";
import { createBotState, type BotState } from "../bot/sessions/state.ts";
import { createTimers, type Timers } from "../bot/timers/timers.ts";
import type { MarkRead, ShowTyping } from "../bot/handlers/typing.ts";
import { createCallAnswerer } from "../calls/calls.ts";
import type { Config } from "../config.ts";
import { createPast } from "../conversations/past.ts";
import { createInbox, type Inbox } from "../inbox/inbox.ts";
import { createPolls } from "../inbox/polls.ts";
import { contentOpener } from "../inbox/reader.ts";
import type { Logger } from "../log.ts";
import type { Media } from "../media/media.ts";
import type { ReceivedMedia } from "../media/incoming.ts";
import { alone } from "../model/alone.ts";
import type { Answerer } from "../model/answerer.ts";
import type { Cluster } from "../model/cluster.ts";
import type { News } from "../model/news.ts";
import { SECOND_MS, type Time } from "../model/time.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { createOutbox, type Outbox, type OutboxDeps } from "../outbox/outbox.ts";
import { draftOpener, namedId, replyId } from "../outbox/rows.ts";
import { createSentReader } from "../outbox/sent-reader.ts";
import type { StateListener } from "../outbox/state-news.ts";
import type { FindQuote } from "../outbox/submitting.ts";
import { createChats, type Chats } from "../pipeline/chats.ts";
import { createLoopGuard, type LoopGuard } from "../pipeline/loop-guard.ts";
import { createPipeline, type Pipeline } from "../pipeline/pipeline.ts";
import type { Store } from "../store/store.ts";
import { createWebhooks, type Webhooks } from "../webhooks/index.ts";
import type { OwnReading } from "../whatsapp/port.ts";
import type { Connections } from "./connections.ts";
import type { Observers } from "./observers.ts";
import { createReading } from "./reading.ts";
import { shareLoopGuard } from "./shared-loop-guard.ts";
import { createSentMessages, type SentMessage } from "./sent-message.ts";

/** What the way of a message is built from. */
export interface MessagePathDeps {
  /** Its `time` is the time of everything here. */
  store: Store;
  /** The other processes that share the database. Default: there are none. */
  cluster?: Cluster;
  /** What they change of what is remembered here. Default: nothing. */
  news?: News;
  config: Pick<
    Config,
    | "botTimeoutMs"
    | "loopGuardPerMinute"
    | "pacePerMinute"
    | "retentionDays"
    | "sendWaitMs"
    | "takeoverMinutes"
    | "webhookTimeoutMs"
  > &
    Partial<Pick<Config, "cluster">>;
  log: Logger;
  /** Where the connections of numbers are looked up. */
  connections: Connections;
  directory: {
    /** Key of the chat with an address on the wire: the phone number's form when it is known. */
    canonicalChat(deviceId: number, jid: string): Promise<string>;
    /** Why nothing may be sent to an address, or null. Default: everything may be sent. */
    refusal?: OutboxDeps["refusal"];
  };
  bots: {
    registry: BotRegistry;
    /** As they are now: bots are read again while the gateway runs. */
    locales(): Locales;
    /** What `ctx.fetch` asks. Default: `http` of the path. */
    http?: Pick<SafeFetch, "request">;
    /** Told who runs. */
    running?: Pick<RunningBots, "begin">;
    /** Limits handlers, which do real work even where a test moves the store's time. Default: that one. */
    time?: Time;
    /** Runs the code of flows twice and compares, as tests do. Default false. */
    checksFlows?: boolean;
    /** Told what code of bots does. Default: nobody. */
    onlooker?: Onlooker;
  };
  http: Pick<SafeFetch, "request" | "check">;
  files: {
    /** Makes files ready to be sent. */
    outgoing: Pick<Media, "prepare">;
    /** Files that came with messages. */
    received: BotFiles & Pick<ReceivedMedia, "link" | "image" | "largestImage">;
  };
  observers: Observers;
  /** A commit has shown that another process has a number; called once or more. */
  onLost?: ((deviceId: number) => void) | undefined;
  /** Aborts when the gateway waits no longer for handlers: what they were asked stays undecided. */
  stopping: AbortSignal;
  /** See `OutboxDeps`. */
  collectMs?: number;
  /** Answerers that are asked after bots, and before webhooks: tests have some of their own. */
  besides?: Answerer[];
  /** Spreads what webhooks try again. @returns from 0 to 1. Default `Math.random` */
  random?: () => number;
}

/** The way of a message through Parley (design §4), whole: from what a connection brings to what a connection sends. */
export interface MessagePath extends Pick<Pipeline, "receive" | "settle"> {
  /** A send by REST. See `Outbox.submit`. */
  submit: Outbox["submit"];
  /** Receipts of messages of ours. */
  receipts: Outbox["receipt"];
  /** The owner has read messages on another device of the number. See `WhatsAppEvents.read`. */
  read(deviceId: number, reading: OwnReading): Promise<void>;
  /** A message of ours, for whoever asks what became of it. */
  findSent(accountId: string, waId: string): Promise<SentMessage | null>;
  /** A person takes a chat, or hands it back. See `Chats.takeOver`. */
  takeOver: Chats["takeOver"];
  /** Reads what numbers share. Call it once, before the first request. */
  load(): Promise<void>;
  /**
   * This process has the number from now on: its messages without a decision go into lanes, and its queued sends, timers
   * and webhook retries go on. Idempotent.
   *
   * @throws StorageUnavailable; call it again
   */
  open(deviceId: number): Promise<void>;
  /** Begins what looks at the clock: timers of bots, webhook retries. Call it when the numbers are open. */
  start(): void;
  /** The number is online: what is queued leaves. Never rejects. */
  online(deviceId: number): Promise<void>;
  /** The number is linked no more: what waits to be sent fails with SENDER_NOT_CONNECTED. Never rejects. */
  unlinked(deviceId: number): Promise<void>;
  /** This process has the number no longer: it begins nothing more of it and commits nothing more for it. */
  close(deviceId: number): Promise<void>;
  /** The number is erased: closes it, and forgets its settings. */
  forget(deviceId: number): Promise<void>;
  /** The clock was set back by so many milliseconds: what is remembered of times moves with it. */
  onClockMoved(ms: number): void;
  /** Begins nothing more; resolves when handlers and webhooks have ended, those cut off after `graceMs` included. */
  drain(graceMs: number): Promise<void>;
  /** After `drain`, when no request submits any more: resolves when what was being sent has its outcome. */
  sent(): Promise<void>;
  readonly bindings: Bindings;
  /** Which bots hold everybody up. */
  readonly blocking: Blocking;
  readonly webhooks: Webhooks;
  readonly outbox: Outbox;
  readonly pipeline: Pipeline;
  readonly state: BotState;
}

/** How long the sends of a number that is closed may take to end. */
const CLOSING_MS = 2 * SECOND_MS;

/**
 * Joins the parts that a message passes, in the order in which it passes them. Numbers are opened and closed one by one:
 * what a process does is the sum of the numbers that it has open.
 */
export function createMessagePath(deps: MessagePathDeps): MessagePath {
  const { store, config, log, observers } = deps;
  // What is sent is told of by those who come after it.
  const listener: StateListener = {
    listens: (deviceId) => webhooks.notices.listens(deviceId),
    reached: (reached) => webhooks.notices.reached(reached),
    locked: (deviceId, until) => webhooks.notices.locked(deviceId, until),
    reachout: observers.reachout,
  };
  const queues = createQueues(deps, listener);
  const { inbox, outbox, polls } = queues;

  // What the guards know of a chat; they come before everybody who answers.
  const alarm = createAlarm(store.time);
  const state = createBotState(store, alarm.expect);
  const chats = createChats(
    store,
    { ...state, released: (deviceId) => alarm.expect(deviceId, store.now()) },
    deps.news,
  );
  const loopGuard = createLoopGuard(chats, config, store.now);

  const answerers = createAnswerers(deps, outbox, loopGuard, state);
  const { bindings, webhooks } = answerers;

  // Lanes, guards, the first answerer in this order that does not pass, one commit, and the replies leave.
  const pipeline = createPipeline({
    store,
    config,
    log,
    inbox,
    outbox,
    polls,
    chats,
    answerers: answerers.inOrder,
    handsBack: (deviceId, message) => bindings.tableOf(deviceId).handsBack(message),
    isInterrupt: (deviceId, message) => bindings.tableOf(deviceId).cutsOff(message),
    replyMaxAge: webhooks.replyMaxAge,
    leftovers: (inboxId) => [state.forgetSteps(inboxId)],
    onLost: deps.onLost,
    onDecided: observers.decided,
  });

  const timers = openTimers(deps, { state, alarm, inbox, pipeline });
  return asMessagePath(deps, { ...queues, ...answerers, alarm, state, chats, pipeline, timers });
}

/** Timers of bots come back in as messages. */
function openTimers(
  { store, log, connections, directory, cluster = alone() }: MessagePathDeps,
  { state, alarm, inbox, pipeline }: { state: BotState; alarm: Alarm; inbox: Inbox; pipeline: Pipeline },
): Timers {
  return createTimers({
    state,
    alarm,
    silent: createSilentSessions(store),
    commit: (statements, options) => store.writer.commit(statements, options),
    isLeader: () => cluster.ownership.owns(0),
    record: inbox.recordTimer,
    deliver: pipeline.due,
    numberOf: connections.number,
    canonicalChat: directory.canonicalChat,
    time: store.time,
    onError: (err) => log.warn({ err }, "bots' timers are late: the database does not answer"),
    onDropped: ({ deviceId, botId }) =>
      log.error({ device: deviceId, bot: botId }, "could not decrypt a bot's timer; dropping it"),
  });
}

/** Where messages wait until they are decided, and where what is to be sent waits until it has left. */
function createQueues(deps: MessagePathDeps, listener: StateListener) {
  const { store, config, log, connections, directory, observers } = deps;
  const inbox = createInbox(store, observers.received);
  const outbox = createOutbox({
    store,
    ...(deps.cluster !== undefined && { cluster: deps.cluster }),
    config,
    log,
    connections,
    canonicalChat: directory.canonicalChat,
    refusal: directory.refusal,
    findQuote: createQuotes(deps, inbox),
    listener,
    onChange: observers.messageChanged,
    onOutcome: observers.messageEnded,
    ...(deps.collectMs !== undefined && { collectMs: deps.collectMs }),
  });
  return { inbox, outbox, polls: createPolls(store, inbox.changesOf) };
}

/** A message of a chat may be quoted whoever wrote it: it came in, or was sent from here. */
function createQuotes({ store, connections }: MessagePathDeps, inbox: Inbox): FindQuote {
  const { quotable } = createSentReader(store);
  return async (deviceId, chat, waId) => {
    const cameIn = await inbox.findQuote(deviceId, chat, waId);
    if (cameIn !== null) return cameIn;
    const sent = await quotable(deviceId, chat, waId);
    const number = connections.number(deviceId);
    return sent && number !== null
      ? { id: waId, sender: `${number}@s.whatsapp.net`, fromMe: true, sent }
      : null;
  };
}

/** Who answers, in the order in which they are asked. */
function createAnswerers(deps: MessagePathDeps, outbox: Outbox, loopGuard: LoopGuard, state: BotState) {
  const { store, config, log, connections, stopping, files } = deps;
  const bindings = createBindings(
    store,
    deps.bots.registry,
    (problem) => log.warn(problem),
    {
      of: (id) => bots.blocking.of(id),
      checkUrl: deps.http.check,
    },
    deps.news,
  );
  const bots = createBotAnswerers({
    bindings,
    state,
    media: files.outgoing,
    files: files.received,
    http: deps.bots.http ?? deps.http,
    locales: deps.bots.locales,
    typing: showTyping(connections, log),
    markRead: showRead(connections, log),
    history: pastOf(store),
    config,
    hmac: (text) => store.box.hmac("bot-step", text).toString("base64url"),
    messageIds: {
      reply: (...reply) => replyId(store.box, ...reply),
      named: (...message) => namedId(store.box, ...message),
    },
    log,
    time: deps.bots.time ?? store.time,
    stopping,
    running: deps.bots.running ?? createRunningBots(),
    checksFlows: deps.bots.checksFlows ?? false,
    ...(deps.bots.onlooker && { onlooker: deps.bots.onlooker }),
  });
  const webhooks = openWebhooks(deps, outbox, loopGuard);
  const inOrder = [
    bots.observers,
    bots.interrupts,
    webhooks.holder,
    bots.conversations,
    bots.routes,
    createCallAnswerer({ store, textOf: connections.callsText }),
    ...(deps.besides ?? []),
    webhooks.answerer,
  ];
  return { bindings, webhooks, inOrder, blocking: bots.blocking };
}

function openWebhooks(deps: MessagePathDeps, outbox: Outbox, loopGuard: LoopGuard): Webhooks {
  const { store, config, log, connections, observers, files } = deps;
  return createWebhooks({
    store,
    news: deps.news,
    config,
    log,
    http: deps.http,
    outbox,
    files: files.received,
    media: files.outgoing,
    connection: connections.connection,
    loopGuard: deps.cluster ? shareLoopGuard(loopGuard, deps.cluster) : loopGuard,
    ...(deps.cluster && { cluster: deps.cluster }),
    onDelivery: observers.deliveryChanged,
    onAttempt: observers.deliveryAttempted,
    onDead: observers.deliveryDead,
    onTurn: observers.webhookTurned,
    ...(deps.random !== undefined && { random: deps.random }),
  });
}

const pastOf = (store: Store): ReturnType<typeof createPast> =>
  createPast(store, { openIncoming: contentOpener(store.box), openDraft: draftOpener(store.box) });

/** A courtesy: whatever goes wrong with it does not matter to the message. */
const showTyping =
  ({ connection }: Pick<Connections, "connection">, log: Logger): ShowTyping =>
  (deviceId, chat, on) => {
    const shown = async (): Promise<void> => connection(deviceId)?.typing(chat, on);
    shown().catch((err: unknown) => log.debug({ err, device: deviceId }, "could not show typing"));
  };

const showRead =
  ({ connection }: Pick<Connections, "connection">, log: Logger): MarkRead =>
  (deviceId, { chat, id, participant }) => {
    const shown = async (): Promise<void> => connection(deviceId)?.markRead(chat, id, participant);
    shown().catch((err: unknown) => log.debug({ err, device: deviceId }, "could not mark a message as read"));
  };

type Parts = ReturnType<typeof createQueues> &
  Omit<ReturnType<typeof createAnswerers>, "inOrder"> & {
    alarm: Alarm;
    state: BotState;
    chats: Chats;
    pipeline: Pipeline;
    timers: Timers;
  };

/** The parts, as they are used together. */
function asMessagePath(deps: MessagePathDeps, parts: Parts): MessagePath {
  const { store, log, connections, directory, observers } = deps;
  const { outbox, polls, bindings, blocking, alarm, state, webhooks, chats, pipeline, timers } = parts;

  async function close(deviceId: number): Promise<void> {
    timers.close(deviceId);
    pipeline.close(deviceId);
    // What is being sent ends with its connection. Nobody waits for one that hangs.
    await store.time.within(CLOSING_MS, outbox.close(deviceId));
    await store.writer.drain();
  }

  return {
    receive: pipeline.receive,
    settle: pipeline.settle,
    submit: outbox.submit,
    receipts: outbox.receipt,
    read: createReading({
      store,
      log,
      canonicalChat: directory.canonicalChat,
      notices: webhooks.notices,
      observers,
    }),
    findSent: createSentMessages({
      find: outbox.find,
      sentMessage: outbox.sentMessage,
      polls,
      deviceOf: connections.deviceOf,
    }),

    takeOver: chats.takeOver,

    async load() {
      await Promise.all([bindings.load(), webhooks.load(), outbox.start()]);
    },
    async open(deviceId) {
      await webhooks.open(deviceId);
      await Promise.all([outbox.open(deviceId), pipeline.open(deviceId), timers.open(deviceId)]);
    },
    start() {
      timers.start();
      webhooks.start();
    },
    online: outbox.wake,
    async unlinked(deviceId) {
      await outbox
        .abandon(deviceId)
        .catch((err: unknown) => log.error({ err, device: deviceId }, "could not end the waiting sends"));
    },
    close,
    async forget(deviceId) {
      await close(deviceId);
      outbox.forget(deviceId);
      bindings.forget(deviceId);
      webhooks.forget(deviceId);
    },
    onClockMoved(ms) {
      for (const part of [chats, webhooks, outbox, alarm]) part.onClockMoved(ms);
    },
    async drain(graceMs) {
      await Promise.all([timers.stop(), pipeline.drain(), webhooks.stop(graceMs)]);
    },
    sent: outbox.drain,

    bindings,
    blocking,
    webhooks,
    outbox,
    pipeline,
    state,
  };
}
