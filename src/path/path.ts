import type { Blocking } from "../bot/handlers/blocking.ts";
import { type Bindings } from "../bot/bindings/bindings.ts";
import { createSilentSessions } from "../bot/sessions/silent-sessions.ts";
import { createBotState, type BotState } from "../bot/sessions/state.ts";
import { createTimers, type Timers } from "../bot/timers/timers.ts";
import type { Incoming } from "../model/messages.ts";
import { alone } from "../model/nodes/alone.ts";
import { type Outbox } from "../outbox/outbox.ts";
import type { MediaWait } from "../outbox/sending/holdups/holdups.ts";
import type { WarmUpDay } from "../outbox/sending/holdups/warm-up.ts";
import type { StateListener } from "../outbox/state-news.ts";
import { createChats, type Chats } from "../pipeline/chats.ts";
import { createLoopGuard } from "../pipeline/loop-guard.ts";
import { createPipeline, type NumberPipeline, type Pipeline } from "../pipeline/pipeline.ts";
import type { Logger } from "../log.ts";
import { NotOwner } from "../store/errors.ts";
import { isWorthLogging } from "../store/write/owned.ts";
import type { Intake } from "../store/write/intake.ts";
import { type Webhooks } from "../webhooks/index.ts";
import type { AcknowledgedEvent, ReachoutLock } from "../whatsapp/port.ts";
import { openNumber } from "./number.ts";
import { createOpenNumbers, type OpenNumbers } from "./opened.ts";
import { createSentMessages, type SentMessage } from "./sent-message.ts";
import { createAnswerers } from "./answerers.ts";
import type { MessagePathDeps } from "./deps.ts";
import type { Observer } from "./observers.ts";
import { createQueues } from "./queues.ts";

export type { MessagePathDeps } from "./deps.ts";

/** The way of a message through Parley (design §4), whole: from what a connection brings to what a connection sends. */
export interface MessagePath {
  /**
   * What storing new messages takes (T1). Once that is committed they are put into the lanes of their chats.
   *
   * @param ownNumber digits of the linked number
   */
  receive(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  /** See `NumberPipeline.settle`. */
  settle(deviceId: number): Promise<void>;
  /** A send by REST. See `Outbox.submit`. */
  submit: Outbox["submit"];
  /** Messages that have not left are taken back, or get another text. See `WaitingMessages`. */
  cancel: Outbox["cancel"];
  rewrite: Outbox["rewrite"];
  /** What a message of ours says; null when it is not known any more. */
  sentContent: Outbox["sentContent"];
  /** Stores what WhatsApp tells until it is stored. See `ConnectionListener.store`. */
  acknowledged(deviceId: number, event: AcknowledgedEvent): Promise<void>;
  /** A message of ours, as its row has it. */
  findRow: Outbox["find"];
  /** A message of ours, for whoever asks what became of it; of a poll with its votes. */
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
  /** What keeps a number from sending, as far as it is known. */
  holdups(deviceId: number): Holdups;
  /** What telling the number's webhook of its new state takes, stored with that state. */
  moved: Webhooks["notices"]["moved"];
  readonly bindings: Bindings;
  /** Which bots hold everybody up. */
  readonly blocking: Blocking;
  readonly webhooks: Pick<
    Webhooks,
    "get" | "healthHere" | "put" | "remove" | "rotate" | "test" | "listeners" | "deliveries"
  >;
}

/** What keeps a number from sending; null: nothing of that kind does. */
export interface Holdups {
  /** WhatsApp's media service takes no files. */
  media: MediaWait | null;
  /** WhatsApp lets the number write to nobody for the first time. */
  reachout: ReachoutLock | null;
  /** WhatsApp has answered 429: until then, Unix milliseconds. */
  pausedUntil: number | null;
  /** The number was linked lately, and WARM_UP is on. */
  warmUp: WarmUpDay | null;
}

/** What stands behind a way of messages: for tests, which look at one part of it. */
export interface InnerParts {
  webhooks: Webhooks;
  outbox: Outbox;
  state: BotState;
  numbers: OpenNumbers;
}

/**
 * Joins the parts that a message passes, in the order in which it passes them. Numbers are opened and closed one by one:
 * what a process does is the sum of the numbers that it has open.
 */
export const createMessagePath = (deps: MessagePathDeps): MessagePath => joinMessagePath(deps).path;

/** The same, with what stands behind it. */
export function joinMessagePath(deps: MessagePathDeps): { path: MessagePath; inner: InnerParts } {
  const { store, config, log, observers } = deps;
  // What is sent is told of by those who come after it.
  const listener: StateListener = {
    listens: (deviceId) => webhooks.notices.listens(deviceId),
    reached: (reached) => webhooks.notices.reached(reached),
    locked: (deviceId, until) => webhooks.notices.locked(deviceId, until),
  };
  const queues = createQueues(deps, listener, (deviceId) => numbers.get(deviceId)?.outbox ?? null);
  const { inbox, outbox, polls } = queues;

  // What the guards know of a chat; they come before everybody who answers.
  const timerDue = (deviceId: number, at: number): void => numbers.get(deviceId)?.due(at);
  const state = createBotState(store, timerDue);
  const chats = createChats(
    store,
    { ...state, released: (deviceId) => timerDue(deviceId, store.now()) },
    deps.news,
  );
  const loopGuard = createLoopGuard(chats, config, store.now);

  const answerers = createAnswerers(
    deps,
    loopGuard,
    state,
    (deviceId) => numbers.get(deviceId)?.webhook ?? null,
  );
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
    observe: observers.tell,
  });

  const timers = joinTimers(deps, state);
  const onLate =
    (deviceId: number): NumberPipeline["enter"] =>
    (...messages) =>
      numbers.get(deviceId)?.enter(...messages);
  const shared = { ...deps, pipeline, timers, outbox, webhooks, state, onLate };
  const numbers = createOpenNumbers({
    openNumber: (deviceId, onLost) => openNumber(shared, deviceId, onLost),
    onLost: deps.onLost,
  });
  observers.add(sendsWhenTold(numbers));
  observers.add(happensWhenTold(numbers));
  const path = asMessagePath(deps, { ...queues, ...answerers, chats, pipeline, timers, numbers });
  return { path, inner: { webhooks, outbox, state, numbers } };
}

/** What is queued leaves when its number is online, and as WhatsApp lets it. */
const sendsWhenTold = ({ get }: OpenNumbers): Observer => ({
  online: ({ deviceId }) => get(deviceId)?.outbox.wake(),
  lock: ({ deviceId, lock }) => void get(deviceId)?.outbox.reachoutTold(lock),
});

/** What is done to groups, how people are that somebody watches, and what they are called. */
const happensWhenTold = ({ get }: OpenNumbers): Observer => ({
  groupHappenings({ deviceId, happenings }) {
    const all = happenings.map(({ group, ...said }) => ({ type: "group" as const, chat: group, ...said }));
    get(deviceId)?.happen(all);
  },
  presence({ deviceId, chat, ...said }) {
    const key = `${said.at}:${said.person}:${said.state}`;
    get(deviceId)?.happen([{ chat, key, ...said }]);
  },
  contact({ deviceId, person, at, changed, old }) {
    get(deviceId)?.happen([{ type: "contact", chat: person, key: String(at), at, changed, old }]);
  },
});

/** Timers of bots come back in as messages. */
function joinTimers(
  { store, log, connections, directory, cluster = alone() }: MessagePathDeps,
  state: BotState,
): Timers {
  return createTimers({
    state,
    silent: createSilentSessions(store),
    commit: (statements, options) => store.writer.commit(statements, options),
    isLeader: () => cluster.ownership.owns(0),
    numberOf: connections.number,
    accountOf: connections.accountOf,
    canonicalChat: directory.canonicalChat,
    time: store.time,
    onError: (err) => log.warn({ err }, "bots' timers are late: the database does not answer"),
    onDropped: ({ deviceId, botId }) =>
      log.error({ device: deviceId, bot: botId }, "could not decrypt a bot's timer; dropping it"),
  });
}

type PathParts = ReturnType<typeof createQueues> &
  Omit<ReturnType<typeof createAnswerers>, "inOrder"> & {
    chats: Chats;
    pipeline: Pipeline;
    timers: Timers;
    numbers: OpenNumbers;
  };

/** The parts, as they are used together. */
function asMessagePath(deps: MessagePathDeps, parts: PathParts): MessagePath {
  const { log, connections } = deps;
  const { outbox, polls, bindings, blocking, webhooks, chats, timers, numbers } = parts;

  return {
    ...toldByConnections(parts, log),
    submit: outbox.submit,
    cancel: outbox.cancel,
    rewrite: outbox.rewrite,
    sentContent: outbox.sentContent,
    findRow: outbox.find,
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
    open: numbers.open,
    start() {
      timers.start();
      numbers.start();
      webhooks.start();
    },
    close: numbers.close,
    async forget(deviceId) {
      await numbers.close(deviceId);
      outbox.forget(deviceId);
      bindings.forget(deviceId);
      webhooks.forget(deviceId);
    },
    onClockMoved(ms) {
      for (const part of [chats, ...numbers.all()]) part.onClockMoved(ms);
    },
    async drain(graceMs) {
      const cut = new Error("The gateway is stopping.");
      const cancel = deps.store.time.after(graceMs, () => {
        for (const number of numbers.all()) number.cutOff(cut);
      });
      await Promise.all([timers.stop(), numbers.drain(), webhooks.stop(graceMs)]);
      cancel();
    },
    async sent() {
      outbox.stop();
      await Promise.all(Array.from(numbers.all(), (number) => number.outbox.drain()));
    },

    holdups: (deviceId) => ({
      media: outbox.waitsForMedia(deviceId),
      reachout: outbox.reachoutLock(deviceId),
      pausedUntil: outbox.pausedUntil(deviceId),
      warmUp: outbox.warmUp(deviceId),
    }),
    moved: webhooks.notices.moved,

    bindings,
    blocking,
    webhooks,
  };
}

/** What connections and lives of numbers tell. What comes for a number that is not open here waits in its rows, or is told again. */
function toldByConnections({ pipeline, numbers }: Pick<PathParts, "pipeline" | "numbers">, log: Logger) {
  return {
    // A connection that is being closed may bring something after its number: whoever opens that next finds it.
    receive: (deviceId, ownNumber, messages) =>
      numbers.get(deviceId)?.receive(ownNumber, messages) ??
      pipeline.store(deviceId, messages, (recorded) => numbers.get(deviceId)?.enter(ownNumber, recorded)),
    settle: async (deviceId) => numbers.get(deviceId)?.settle(),
    async acknowledged(deviceId, event) {
      const number = numbers.get(deviceId);
      // It is told again to whoever has the number.
      if (number === null) throw new NotOwner(deviceId);
      if (event.type === "read") await number.read(event.reading);
      else await number.outbox.receipts(event.receipts);
    },
    async unlinked(deviceId) {
      await numbers
        .get(deviceId)
        ?.outbox.abandon()
        .catch((err: unknown) => {
          if (isWorthLogging(err)) log.error({ err, device: deviceId }, "could not end the waiting sends");
        });
    },
  } satisfies Partial<MessagePath>;
}
