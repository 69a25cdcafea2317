import { createAlarm, type Alarm } from "../bot/timers/alarm.ts";
import type { Blocking } from "../bot/handlers/blocking.ts";
import { type Bindings } from "../bot/bindings/bindings.ts";
import { createSilentSessions } from "../bot/sessions/silent-sessions.ts";
import { createBotState, type BotState } from "../bot/sessions/state.ts";
import { createTimers, type Timers } from "../bot/timers/timers.ts";
import { type Inbox } from "../inbox/inbox.ts";
import { alone } from "../model/nodes/alone.ts";
import { SECOND_MS } from "../model/time.ts";
import { type Outbox } from "../outbox/outbox.ts";
import type { StateListener } from "../outbox/state-news.ts";
import { createChats, type Chats } from "../pipeline/chats.ts";
import { createLoopGuard } from "../pipeline/loop-guard.ts";
import { createPipeline, type Pipeline } from "../pipeline/pipeline.ts";
import { type Webhooks } from "../webhooks/index.ts";
import type { OwnReading } from "../whatsapp/port.ts";
import { createReading } from "./reading.ts";
import { createSentMessages, type SentMessage } from "./sent-message.ts";
import { createAnswerers } from "./answerers.ts";
import type { MessagePathDeps } from "./deps.ts";
import { createQueues } from "./queues.ts";

export type { MessagePathDeps } from "./deps.ts";

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

type PathParts = ReturnType<typeof createQueues> &
  Omit<ReturnType<typeof createAnswerers>, "inOrder"> & {
    alarm: Alarm;
    state: BotState;
    chats: Chats;
    pipeline: Pipeline;
    timers: Timers;
  };

/** The parts, as they are used together. */
function asMessagePath(deps: MessagePathDeps, parts: PathParts): MessagePath {
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
