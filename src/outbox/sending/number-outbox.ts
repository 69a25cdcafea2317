import type { ResultSet } from "@libsql/client";
import type { Logger } from "../../log.ts";
import { devices } from "../../../drizzle/schema.ts";
import { failpoint } from "../../model/failpoint.ts";
import { HOUR_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Intake } from "../../store/write/intake.ts";
import type { Store } from "../../store/store.ts";
import type { EncryptedAhead, MessageReceipt, WhatsAppConnection } from "../../whatsapp/port.ts";
import { createChanging } from "./changing.ts";
import { createAbandoning } from "./abandoning.ts";
import { createRateLimitBackoff } from "./holdups/backoff.ts";
import type { QueuedMessage } from "./chats.ts";
import { createComposer } from "./compose.ts";
import type { OutboxEvent } from "../outbox-event.ts";
import { createEndings } from "./endings.ts";
import { createOutcomeHandler } from "./outcomes.ts";
import { createPace, type Pace } from "./holdups/pace.ts";
import { createReachout } from "./holdups/reachout.ts";
import { holdups, type Holdups } from "./holdups/holdups.ts";
import { createQueueLoader } from "./queue.ts";
import { toQueued, type StoredMessage } from "./queued.ts";
import type { NewRow, Rows, SendError } from "../rows.ts";
import { createSender, type Sender } from "./sender.ts";
import type { Standing, Standings } from "./standings.ts";
import type { StateListener, StateNews } from "../state-news.ts";
import { createStateCollector } from "../states.ts";
import type { Settled } from "../submitting/submit.ts";
import { createTimed } from "./timed.ts";
import { createTyping } from "./typing.ts";
import { createUnsendable } from "./unsendable.ts";
import { createWarmUp } from "./holdups/warm-up.ts";

/** What the sending of all numbers shares. */
export interface SendingDeps {
  rows: Rows;
  config: { pacePerMinute: number; retentionDays: number; warmUp: boolean };
  log: Logger;
  connection: (deviceId: number) => WhatsAppConnection | null;
  settled: (message: Pick<QueuedMessage, "deviceId" | "waId">, outcome: Settled) => void;
  /** What telling of states takes, stored with them; null: nobody is told. */
  tell: (news: readonly StateNews[]) => Promise<Intake> | null;
  listener?: StateListener | undefined;
  /** The row of a message says something new. */
  changed: (deviceId: number, waId: string) => void;
  observe?: ((event: OutboxEvent) => void) | undefined;
  /** Why nothing may be sent to this address, or null. */
  refusal?: ((deviceId: number, jid: string) => Promise<SendError | null>) | undefined;
  /** Milliseconds that a state may wait for others; see `createStateCollector`. */
  collectMs?: number | undefined;
  standings: Pick<Standings, "of">;
  /** Its caller was told that it is not stored. */
  isTakenBack: (waId: string) => boolean;
  /** A request waits for the outcome of this message. */
  isAwaited: (message: QueuedMessage) => boolean;
  /** Other nodes store messages for numbers of this one. */
  isShared: boolean;
}

/** A number as its outbox sees it. */
export interface OutboxNumber {
  deviceId: number;
  /** The database in the hands of whoever has the number. */
  store: Store;
}

/** What one number has to send: brings rows to its sender and takes rows away from it. */
export interface NumberOutbox extends Holdups {
  /** Takes what waits in the table since an earlier run; it leaves when the number is online. @throws StorageUnavailable */
  begin(): Promise<void>;
  /** @param results of the inserts of `stored`, after their commit */
  release(stored: NewRow[], results: ResultSet[]): void;
  /** Encrypts what is about to be stored, and would leave at once; null when it would not, or takes more than that. */
  encryptAhead(row: NewRow): EncryptedAhead | null;
  /** The number is online, or somebody else committed rows: everything that is queued goes on. Never rejects. */
  wake(): Promise<void>;
  /**
   * Takes what other nodes have stored for the number. Never rejects.
   *
   * @returns false when it could not be read now
   */
  bring(): Promise<boolean>;
  /**
   * Takes back a message that waits, and that nobody has tried to send, or gives it another text.
   *
   * @param text null: it is taken back
   * @returns false when it is not here, may have left, or has no text
   */
  change(waId: string, text: string | null): Promise<boolean>;
  /** The message waits here, or is being sent. */
  holds(waId: string): boolean;
  /** @returns resolves when all of it is stored; never when it is not, and WhatsApp is to tell it again. Never rejects */
  receipts(arrived: MessageReceipt[]): Promise<void>;
  /** The number is linked no more: what waits fails with SENDER_NOT_CONNECTED. */
  abandon(): Promise<void>;
  /** Starts no further attempt; resolves when those under way have their outcome and receipts are stored. */
  drain(): Promise<void>;
  /** The same, and forgets what waits: whoever waits for an outcome goes on waiting, and the next owner brings it. */
  close(): Promise<void>;
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

/** Joins what sends for one number. */
function joinParts(deps: SendingDeps, { deviceId, store }: OutboxNumber) {
  const { log, config, rows, changed, tell, listener } = deps;
  const settled: SendingDeps["settled"] = (message, outcome) => {
    queue.ended(message.waId);
    deps.settled(message, outcome);
  };
  const own = { ...deps, deviceId, store, settled };
  const states = createStateCollector(deviceId, store, rows, changed, tell, log, deps.collectMs);
  const reachout = createReachout({ deviceId, store, listener, observe: deps.observe });
  const backoff = createRateLimitBackoff(store, deviceId, log);
  const endings = createEndings({ ...own, states });
  const { compose, isExpired } = createComposer({
    ...own,
    reachout,
    endings,
    retentionDays: config.retentionDays,
  });
  const warmUp = createWarmUp({ deviceId, store, reachout, isOn: config.warmUp, log });
  const typing = createTyping({ connection: () => deps.connection(deviceId), time: store.time });
  const handleOutcome = createOutcomeHandler({ ...own, reachout, backoff, endings });
  let pace: Pace | null = null;
  const sender: Sender = createSender({
    // Nothing leaves before it is known what has left.
    connection: () => (pace === null ? null : deps.connection(deviceId)),
    pace: { take: (at) => pace!.take(at), waitMs: (at) => pace!.waitMs(at) },
    backoff,
    warmUp,
    time: store.time,
    log,
    async compose(message) {
      const outgoing = await compose(message);
      return outgoing !== null && (await typing.before(message, outgoing)) ? outgoing : null;
    },
    async handleOutcome(message, outcome) {
      const next = await handleOutcome(message, outcome);
      if (outcome.kind === "refused") failFirstContacts();
      return next;
    },
  });
  const { failFirstContacts, endExpired } = createUnsendable({
    ...own,
    reachout,
    endings,
    isExpired,
    sender,
  });
  const { abandon, abandoning } = createAbandoning({ ...own, states, sender });
  const queue = createQueueLoader(deviceId, sender, { ...own, states });
  const timed = createTimed({ ...own, queued: queue.arrived, reload: queue.load, abandon, sender, endings });
  function restore({ lock, pause, left }: Standing): void {
    reachout.restore(lock);
    backoff.restore(pause);
    pace = createPace(config.pacePerMinute, store.now(), left);
  }
  const isReady = (): boolean => pace !== null;
  const ends = { failFirstContacts, endExpired, abandon, abandoning, settled };
  return {
    restore,
    isReady,
    states,
    reachout,
    backoff,
    warmUp,
    endings,
    typing,
    timed,
    sender,
    queue,
    ...ends,
  };
}

/** Opens what a number has to send. */
export function openOutbox(deps: SendingDeps, number: OutboxNumber): NumberOutbox {
  const { deviceId, store } = number;
  const parts = joinParts(deps, number);
  const { states, sender, queue, reachout, endings, typing, timed } = parts;
  let stopped = false;
  // The number may stay away: what it was to send expires without its turn ever coming.
  const endSweeps = store.time.every(SWEEP_MS, () => void parts.endExpired());

  async function wake(): Promise<void> {
    if (stopped) return;
    await parts.abandoning();
    await Promise.all([parts.warmUp.look(), queue.load()]);
    await parts.endExpired();
    sender.wake();
    parts.failFirstContacts();
  }

  async function drain(): Promise<void> {
    stopped = true;
    endSweeps();
    for (const part of [endings, queue, timed, typing]) part.stop();
    await sender.stop();
    await states.flush();
  }

  return {
    async begin() {
      const [device, standing] = await Promise.all([
        store.readOne(STATE_WITH_QUEUE, [deviceId]),
        deps.standings.of(deviceId),
      ]);
      parts.restore(standing);
      void timed.look();
      if (device === null || stopped) return sender.wake();
      if (NOT_LINKED_STATES.has(device.state)) return parts.abandon();
      // It is read while the gateway starts to work: what is stored meanwhile waits behind it.
      void wake();
    },

    release(stored, results) {
      if (stopped) return;
      // What is being failed must not leave with a draft that was read before.
      const held = sender.size < HELD_DRAFTS && parts.abandoning() === null;
      timed.stored(stored.map(({ draft }) => draft));
      const found = stored.flatMap((row, index) =>
        row.draft.sendAt === undefined ? [toQueued(row, results[index], held, store.now())] : [],
      );
      const messages: StoredMessage[] = found.filter((message) => message !== null);
      queue.arrived(messages);
      parts.failFirstContacts(() => messages);
      // Rows that were there before may or may not have been sent: the table knows.
      if (messages.length < found.length) void wake();
    },

    encryptAhead(row) {
      if (waitsFirst(row, deps.config.warmUp) || !parts.isReady() || !sender.isFree(row.chat)) return null;
      if (parts.abandoning() !== null || reachout.isLocked()) return null;
      return deps.connection(deviceId)?.encryptAhead?.(row) ?? null;
    },

    wake,
    abandon: parts.abandon,
    async bring() {
      if (stopped) return true;
      void timed.look();
      return await queue.loadNew();
    },
    change: createChanging({ ...deps, store, sender, endings }),
    holds: (waId) => sender.find(waId) !== undefined,

    receipts: (arrived) => receive(parts, arrived),
    ...holdups(parts, deviceId, deps.log),
    drain,
    async close() {
      const drained = drain();
      sender.clear();
      await Promise.all([drained, states.flush()]);
    },
  };
}

/** It does not leave at once, even when nothing is before it. */
const waitsFirst = ({ draft, answers }: NewRow, warmsUp: boolean): boolean =>
  draft.typingSeconds !== undefined || draft.sendAt !== undefined || (warmsUp && answers === null);

/** Receipts arrived: they are stored, and what they are for needs no further attempt. */
async function receive(parts: ReturnType<typeof joinParts>, arrived: MessageReceipt[]): Promise<void> {
  failpoint("after-delivery-receipt");
  const stored = arrived.map((receipt) => {
    const one = parts.states.received(receipt);
    confirm(parts, receipt.waId);
    return one;
  });
  await Promise.all(stored);
}

/** A receipt for a message arrived: it needs no further attempt. */
function confirm(
  { queue, sender, settled }: Pick<ReturnType<typeof joinParts>, "queue" | "sender" | "settled">,
  waId: string,
): void {
  queue.ended(waId);
  const message = sender.find(waId);
  if (message === undefined) return;
  message.confirmed = true;
  if (sender.take(message)) settled(message, { state: "sent" });
}
