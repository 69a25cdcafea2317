import type { Logger } from "../../log.ts";
import { devices } from "../../../drizzle/schema.ts";
import type { ResultSet } from "@libsql/client";
import { HOUR_MS, type Cancel } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Intake } from "../../store/write/intake.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Store } from "../../store/store.ts";
import type { EncryptedAhead, ReachoutLock, WhatsAppConnection } from "../../whatsapp/port.ts";
import { createAbandoning } from "./abandoning.ts";
import { createRateLimitBackoff } from "./backoff.ts";
import type { QueuedMessage } from "./chats.ts";
import { createComposer } from "./compose.ts";
import { createEndings, type OnOutcome } from "./endings.ts";
import { createOutcomeHandler } from "./outcomes.ts";
import { createPace } from "./pace.ts";
import { recentlyLeft, recentlyLeftBy } from "./recent.ts";
import { createReachout } from "./reachout.ts";
import { createQueueLoader, type QueueLoader } from "./queue.ts";
import { toQueued, type StoredMessage } from "./queued.ts";
import type { NewRow, Rows, SendError } from "../rows.ts";
import { createSender, type Sender } from "./sender.ts";
import type { StateListener, StateNews } from "../state-news.ts";
import type { StateCollector } from "../states.ts";
import type { Settled } from "../submitting/submit.ts";
import { createUnsendable, type Unsendable } from "./unsendable.ts";

interface SendersDeps {
  store: Store;
  rows: Rows;
  config: { pacePerMinute: number; retentionDays: number };
  log: Logger;
  connection: (deviceId: number) => WhatsAppConnection | null;
  settled: (message: Pick<QueuedMessage, "deviceId" | "waId">, outcome: Settled) => void;
  /** What telling of states takes, stored with them; null: nobody is told. */
  tell: (news: readonly StateNews[]) => Promise<Intake> | null;
  listener?: StateListener;
  /** The row of a message says something new. */
  changed: (deviceId: number, waId: string) => void;
  onOutcome?: OnOutcome;
  /** Why nothing may be sent to this address, or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
  states: StateCollector;
  /** Its caller was told that it is not stored. */
  isTakenBack: (waId: string) => boolean;
  /** A request waits for the outcome of this message. */
  isAwaited: (message: QueuedMessage) => boolean;
  /** Other nodes store messages for numbers of this one. */
  isShared: boolean;
}

/** Chats whose next message waits for WhatsApp's media service. */
export interface MediaWait {
  /** Unix milliseconds. */
  since: number;
  chats: number;
  /** What was last heard of the service, a sentence for people. */
  reason: string;
}

/** The senders of all numbers: brings rows to them and takes rows away from them. */
export interface Senders {
  /** @param results of the inserts of `stored`, after their commit */
  release(deviceId: number, stored: NewRow[], results: ResultSet[]): void;
  /** Encrypts what is about to be stored, and would leave at once; null when it would not, or takes more than that. */
  encryptAhead(row: NewRow): EncryptedAhead | null;
  /** Never rejects. */
  wake(deviceId: number): Promise<void>;
  /**
   * Takes what other nodes have stored for the number. Never rejects.
   *
   * @returns false when it could not be read now
   */
  bring(deviceId: number): Promise<boolean>;
  /** The message waits here, or is being sent. */
  holds(deviceId: number, waId: string): boolean;
  /** A receipt for this message arrived: it needs no further attempt. */
  confirm(deviceId: number, waId: string): void;
  abandon(deviceId: number): Promise<void>;
  /**
   * Nothing more of the number is begun here before it is opened again, and whoever waits for an outcome goes on waiting: the
   * next owner brings it. Resolves when what was being sent has its outcome.
   */
  close(deviceId: number): Promise<void>;
  /** The number is erased: nothing of it stays in memory. */
  forget(deviceId: number): void;
  /** WhatsApp lets the number write to nobody for the first time; null when it does. */
  reachoutLock(deviceId: number): ReachoutLock | null;
  /** WhatsApp has told of a lock by itself, or of its end. Never rejects. */
  reachoutTold(deviceId: number, lock: ReachoutLock | null): Promise<void>;
  /** Until when nothing is sent because WhatsApp has answered 429, Unix milliseconds; null: it is. */
  pausedUntil(deviceId: number): number | null;
  /** What waits because WhatsApp's media service takes no files; null when nothing does. */
  waitsForMedia(deviceId: number): MediaWait | null;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
  start(): Promise<void>;
  /** Brings what waits in the table since an earlier run. @throws StorageUnavailable */
  open(deviceId: number): Promise<void>;
  drain(): Promise<void>;
}

/** Longer queues read their drafts when their turn comes. */
const HELD_DRAFTS = 1_000;
const SWEEP_MS = HOUR_MS;
const STATE_WITH_QUEUE = defineQuery(
  `SELECT d.state FROM devices d WHERE d.id = ?
AND EXISTS (SELECT 1 FROM outbox WHERE device_id = d.id AND state = 'queued')`,
  { state: devices.state },
);
/** A number in one of these has no phone any more that its queue could be meant for. */
const NOT_LINKED_STATES = new Set(["unlinked", "logged_out", "blocked"]);

/** One number's sender, and what fills it. */
interface NumberSender {
  sender: Sender;
  queue: QueueLoader;
}

/** What all numbers' senders share. */
function shared(deps: SendersDeps) {
  const { store, config, log } = deps;
  const reachout = createReachout(store, deps.listener);
  const endings = createEndings(deps);
  const backoff = createRateLimitBackoff(store, log);
  const composer = createComposer({ ...deps, reachout, endings, retentionDays: config.retentionDays });
  const handleOutcome = createOutcomeHandler({ ...deps, reachout, backoff, endings });
  return { reachout, endings, backoff, ...composer, handleOutcome };
}

/** Senders of all numbers; one is made when its number first connects or has something to send. */
export function createSenders(deps: SendersDeps): Senders {
  const { store, config, log } = deps;
  const parts = shared({ ...deps, settled });
  const { reachout, endings, backoff, compose, isExpired, handleOutcome } = parts;
  const senders = new Map<number, NumberSender>();
  /** Numbers that are not worked for here any more. */
  const closed = new Set<number>();
  const senderIn = (deviceId: number): Sender | undefined => senders.get(deviceId)?.sender;
  const { failFirstContacts, endExpired } = createUnsendable({
    reachout,
    endings,
    isExpired,
    sender: senderIn,
    log,
  });
  const { abandon, abandoning } = createAbandoning({ ...deps, settled, sender: senderIn });
  let leftBefore = new Map<number, number[]>();
  let cancelSweep: Cancel | null = null;

  function settled(message: Pick<QueuedMessage, "deviceId" | "waId">, outcome: Settled): void {
    senders.get(message.deviceId)?.queue.ended(message.waId);
    deps.settled(message, outcome);
  }

  function senderOf(deviceId: number): NumberSender {
    const known = senders.get(deviceId);
    if (known !== undefined) return known;
    const sender = createSender({
      connection: () => deps.connection(deviceId),
      pace: createPace(config.pacePerMinute, store.now(), leftBefore.get(deviceId)),
      backoff: {
        waitMs: () => backoff.waitMs(deviceId),
        isProbing: () => backoff.isProbing(deviceId),
      },
      time: store.time,
      log,
      compose,
      async handleOutcome(message, outcome) {
        const next = await handleOutcome(message, outcome);
        if (outcome.kind === "refused") failFirstContacts(deviceId, sender);
        return next;
      },
    });
    const both = { sender, queue: createQueueLoader(deviceId, sender, deps) };
    senders.set(deviceId, both);
    return both;
  }

  /** What another process has learned of the number while it had it. */
  async function reread(deviceId: number): Promise<void> {
    if (senders.has(deviceId)) return;
    await Promise.all([reachout.reread(deviceId), backoff.reread(deviceId)]);
    leftBefore.set(deviceId, await recentlyLeftBy(store, config.pacePerMinute, deviceId));
  }

  async function wake(deviceId: number): Promise<void> {
    if (closed.has(deviceId)) return;
    const { sender, queue } = senderOf(deviceId);
    await abandoning(deviceId);
    await queue.load();
    await endExpired(sender);
    sender.wake();
    failFirstContacts(deviceId, sender);
  }

  /** @returns its sender, which has begun its last message */
  function drop(deviceId: number): Sender | null {
    const known = senders.get(deviceId);
    senders.delete(deviceId);
    backoff.forget(deviceId);
    known?.queue.stop();
    known?.sender.clear();
    return known?.sender ?? null;
  }

  /** Numbers may stay away: what they were to send expires without its turn ever coming. */
  async function sweep(): Promise<void> {
    for (const { sender } of senders.values()) await endExpired(sender);
  }

  return {
    release(deviceId, stored, results) {
      if (closed.has(deviceId)) return;
      const { sender, queue } = senderOf(deviceId);
      // What is being failed must not leave with a draft that was read before.
      const held = sender.size < HELD_DRAFTS && abandoning(deviceId) === null;
      const found = stored.map((row, index) => toQueued(row, results[index], held, store.now()));
      const messages: StoredMessage[] = found.filter((message) => message !== null);
      queue.arrived(messages);
      failFirstContacts(deviceId, { messages: () => messages });
      // Rows that were there before may or may not have been sent: the table knows.
      if (messages.length < found.length) void wake(deviceId);
    },

    encryptAhead({ deviceId, waId, chat, jid, draft }) {
      const known = senders.get(deviceId);
      if (known === undefined || !known.sender.isFree(chat)) return null;
      if (abandoning(deviceId) !== null || reachout.isLocked(deviceId)) return null;
      return deps.connection(deviceId)?.encryptAhead?.({ waId, jid, draft }) ?? null;
    },

    wake,
    abandon,
    bring: async (deviceId) => closed.has(deviceId) || (await senderOf(deviceId).queue.loadNew()),
    holds: (deviceId, waId) => senderIn(deviceId)?.find(waId) !== undefined,

    confirm(deviceId, waId) {
      const known = senders.get(deviceId);
      known?.queue.ended(waId);
      const message = known?.sender.find(waId);
      if (message === undefined) return;
      message.confirmed = true;
      if (known?.sender.take(message)) settled(message, { state: "sent" });
    },

    async close(deviceId) {
      closed.add(deviceId);
      await drop(deviceId)?.stop();
    },

    forget(deviceId) {
      closed.delete(deviceId);
      void drop(deviceId)?.stop();
    },

    ...standings(parts, senderIn, failFirstContacts, log),

    async start() {
      await Promise.all([reachout.load(), backoff.load()]);
      leftBefore = await recentlyLeft(store, config.pacePerMinute);
      cancelSweep = store.time.every(SWEEP_MS, () => void sweep());
      void sweep();
    },

    async open(deviceId) {
      if (deps.isShared) await reread(deviceId);
      closed.delete(deviceId);
      const device = await store.readOne(STATE_WITH_QUEUE, [deviceId]);
      if (device === null) return;
      if (NOT_LINKED_STATES.has(device.state)) return abandon(deviceId);
      // It is read while the gateway starts to work: what is stored meanwhile waits behind it.
      void wake(deviceId);
    },

    async drain() {
      cancelSweep?.();
      endings.stop();
      for (const { queue } of senders.values()) queue.stop();
      await Promise.all([...senders.values()].map(({ sender }) => sender.stop()));
    },
  };
}

/** What keeps a number from sending, and what WhatsApp says of that. */
function standings(
  { reachout, backoff }: Pick<ReturnType<typeof shared>, "reachout" | "backoff">,
  senderIn: (deviceId: number) => Sender | undefined,
  failFirstContacts: Unsendable["failFirstContacts"],
  log: Logger,
) {
  return {
    onClockMoved: reachout.onClockMoved,
    reachoutLock: reachout.current,
    async reachoutTold(deviceId, lock) {
      await reachout.told(deviceId, lock).catch((error: unknown) => {
        if (isWorthLogging(error))
          log.error({ err: error, device: deviceId }, "could not store a reach-out lock");
      });
      const sender = senderIn(deviceId);
      if (sender !== undefined) failFirstContacts(deviceId, sender);
    },
    pausedUntil: backoff.until,
    waitsForMedia: (deviceId) => mediaWait(senderIn(deviceId)?.mediaWaits() ?? []),
  } satisfies Partial<Senders>;
}

/** What waits for the media service, told as one; null when nothing does. */
function mediaWait(waits: ReturnType<Sender["mediaWaits"]>): MediaWait | null {
  if (waits.length === 0) return null;
  const since = waits.reduce((first, wait) => Math.min(first, wait.since), Infinity);
  return { since, chats: waits.length, reason: waits.at(-1)!.reason };
}
