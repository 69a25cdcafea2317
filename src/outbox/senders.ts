import { setImmediate as turn } from "node:timers/promises";
import type { Logger } from "../log.ts";
import { devices } from "../../drizzle/schema.ts";
import type { ResultSet } from "@libsql/client";
import { HOUR_MS, type Cancel } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Intake } from "../store/intake.ts";
import type { Store } from "../store/store.ts";
import type { EncryptedAhead, ReachoutLock, WhatsAppConnection } from "../whatsapp/port.ts";
import { createAbandoning, NOT_LINKED } from "./abandoning.ts";
import { createRateLimitBackoff } from "./backoff.ts";
import type { QueuedMessage } from "./chats.ts";
import { createComposer } from "./compose.ts";
import { createEndings, EXPIRED } from "./endings.ts";
import { createOutcomeHandler } from "./outcomes.ts";
import { createPace } from "./pace.ts";
import { recentlyLeft } from "./recent.ts";
import { createReachout } from "./reachout.ts";
import { createQueueLoader, type QueueLoader } from "./queue.ts";
import { toQueued } from "./queued.ts";
import type { NewRow, Rows, SendError } from "./rows.ts";
import { createSender, type Sender } from "./sender.ts";
import type { StateListener, StateNews } from "./state-news.ts";
import type { StateCollector } from "./states.ts";
import type { Settled } from "./submit.ts";

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
  onOutcome?: (kind: string, result: "sent" | "failed" | "expired", seconds: number) => void;
  /** Why nothing may be sent to this address, or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
  states: StateCollector;
  /** Its caller was told that it is not stored. */
  isTakenBack: (waId: string) => boolean;
  /** A request waits for the outcome of this message. */
  isAwaited: (message: QueuedMessage) => boolean;
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
  /** A receipt for this message arrived: it needs no further attempt. */
  confirm(deviceId: number, waId: string): void;
  abandon(deviceId: number): Promise<void>;
  forget(deviceId: number): void;
  /** WhatsApp lets the number write to nobody for the first time; null when it does. */
  reachoutLock(deviceId: number): ReachoutLock | null;
  /** WhatsApp has told of a lock by itself, or of its end. Never rejects. */
  reachoutTold(deviceId: number, lock: ReachoutLock | null): Promise<void>;
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
/** Few enough that nobody notices the commit. */
const ROWS_AT_ONCE = 200;
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
  const { reachout, endings, backoff, compose, isExpired, handleOutcome } = shared({ ...deps, settled });
  const senders = new Map<number, NumberSender>();
  const { abandon, abandoning } = createAbandoning({
    ...deps,
    settled,
    sender: (deviceId) => senders.get(deviceId)?.sender,
  });
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

  /** While the reach-out lock holds, what would be a first contact fails at once instead of waiting for its turn. */
  async function endFirstContacts(deviceId: number, messages: QueuedMessage[]): Promise<void> {
    for (let from = 0; from < messages.length; from += ROWS_AT_ONCE) {
      const ending: QueuedMessage[] = [];
      for (const message of messages.slice(from, from + ROWS_AT_ONCE))
        if ((await reachout.holdsBack(message)) && senders.get(deviceId)?.sender.take(message))
          ending.push(message);
      await endings.all(ending, "failed", reachout.error(deviceId));
      await turn();
    }
  }

  // The list of what waits is made only then: it may be long, and every refusal comes through here.
  function failFirstContacts(deviceId: number, { messages }: Pick<Sender, "messages">): void {
    if (!reachout.isLocked(deviceId)) return;
    endFirstContacts(deviceId, messages()).catch((error: Error) => {
      // Whatever is left is held back when its turn comes.
      log.warn({ err: error, device: deviceId }, "first contacts could not be looked for");
    });
  }

  async function wake(deviceId: number): Promise<void> {
    const { sender, queue } = senderOf(deviceId);
    await abandoning(deviceId);
    await queue.load();
    endExpired(sender);
    sender.wake();
    failFirstContacts(deviceId, sender);
  }

  function endExpired(sender: Sender): void {
    const expired = sender.messages().filter((message) => isExpired(message) && sender.take(message));
    void endings.all(expired, "expired", EXPIRED);
  }

  /** Numbers may stay away: what they were to send expires without its turn ever coming. */
  function sweep(): void {
    for (const { sender } of senders.values()) endExpired(sender);
    cancelSweep = store.time.after(SWEEP_MS, sweep);
  }

  return {
    release(deviceId, stored, results) {
      const { sender, queue } = senderOf(deviceId);
      // What is being failed must not leave with a draft that was read before.
      const held = sender.size < HELD_DRAFTS && abandoning(deviceId) === null;
      const found = stored.map((row, index) => toQueued(row, results[index], held, store.now()));
      const messages = found.filter((message) => message !== null);
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

    confirm(deviceId, waId) {
      const known = senders.get(deviceId);
      known?.queue.ended(waId);
      const message = known?.sender.find(waId);
      if (message === undefined) return;
      message.confirmed = true;
      if (known?.sender.take(message)) settled(message, { state: "sent" });
    },

    abandon,

    onClockMoved: reachout.onClockMoved,

    forget(deviceId) {
      const known = senders.get(deviceId);
      if (known === undefined) return;
      senders.delete(deviceId);
      backoff.forget(deviceId);
      known.queue.stop();
      for (const message of known.sender.clear()) settled(message, { state: "failed", error: NOT_LINKED });
      void known.sender.stop();
    },

    reachoutLock: reachout.current,

    async reachoutTold(deviceId, lock) {
      await reachout
        .told(deviceId, lock)
        .catch((error: unknown) =>
          log.error({ err: error, device: deviceId }, "a reach-out lock could not be stored"),
        );
      const known = senders.get(deviceId);
      if (known !== undefined) failFirstContacts(deviceId, known.sender);
    },

    waitsForMedia: (deviceId) => mediaWait(senders.get(deviceId)?.sender.heads() ?? []),

    async start() {
      await Promise.all([reachout.load(), backoff.load()]);
      leftBefore = await recentlyLeft(store, config.pacePerMinute);
      sweep();
    },

    async open(deviceId) {
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

/** @param heads the next message of each chat */
function mediaWait(heads: Iterable<QueuedMessage>): MediaWait | null {
  let [since, chats, reason] = [Infinity, 0, ""];
  for (const { waitsForMedia: wait } of heads) {
    if (wait === null) continue;
    since = Math.min(since, wait.since);
    reason = wait.reason;
    chats++;
  }
  return chats === 0 ? null : { since, chats, reason };
}
