import type { ResultSet } from "@libsql/client";
import type { Logger } from "pino";
import { HOUR_MS, type Cancel } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import type { WhatsAppConnection } from "../whatsapp/port.ts";
import { createRateLimitBackoff } from "./backoff.ts";
import type { QueuedMessage } from "./chats.ts";
import { createComposer } from "./compose.ts";
import { createEndings } from "./endings.ts";
import { createOutcomeHandler } from "./outcomes.ts";
import { createPace } from "./pace.ts";
import { recentlyLeft } from "./recent.ts";
import { createReachout } from "./reachout.ts";
import { readQueued, SELECT_QUEUED, type NewRow, type Rows, type SendError } from "./rows.ts";
import { createSender, type Sender } from "./sender.ts";
import type { StateCollector } from "./states.ts";
import type { Settled } from "./submit.ts";

export interface SendersDeps {
  store: Store;
  rows: Rows;
  config: { pacePerMinute: number; retentionDays: number };
  log: Logger;
  connection: (deviceId: number) => WhatsAppConnection | null;
  settled: (message: QueuedMessage, outcome: Settled) => void;
  /** The row of a message says something new. */
  changed: (deviceId: number, waId: string) => void;
  onOutcome?: (kind: string, result: "sent" | "failed" | "expired", seconds: number) => void;
  /** Why nothing may be sent to this address, or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
  states: StateCollector;
  /** A request waits for the outcome of this message. */
  isAwaited: (message: QueuedMessage) => boolean;
}

/** The senders of all numbers: brings rows to them and takes rows away from them. */
export interface Senders {
  /** @param results of the inserts of `stored`, after their commit */
  release(deviceId: number, stored: NewRow[], results: ResultSet[]): void;
  /** Never rejects. */
  wake(deviceId: number): Promise<void>;
  /** A receipt for this message arrived: it needs no further attempt. */
  confirm(deviceId: number, waId: string): void;
  abandon(deviceId: number): Promise<void>;
  forget(deviceId: number): void;
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
/** What holds of a row that was found in the table: an earlier run may have sent it, and groups may have changed. */
const UNKNOWN = { confirmed: false, retried: false, uncertain: true, allowed: false };
const NOT_LINKED: SendError = { code: "SENDER_NOT_CONNECTED" };
const STATE_WITH_QUEUE = `SELECT d.state FROM devices d WHERE d.id = ?
AND EXISTS (SELECT 1 FROM outbox WHERE device_id = d.id AND state = 'queued')`;
/** A number in one of these has no phone any more that its queue could be meant for. */
const NOT_LINKED_STATES = new Set(["unlinked", "logged_out", "blocked"]);

export function createSenders(deps: SendersDeps): Senders {
  const { store, rows, config, log, states } = deps;
  const reachout = createReachout(store);
  const endings = createEndings({ ...deps, settled });
  const backoff = createRateLimitBackoff(store, log);
  const { compose, isExpired } = createComposer({
    ...deps,
    reachout,
    endings,
    retentionDays: config.retentionDays,
  });
  const handleOutcome = createOutcomeHandler({ ...deps, reachout, backoff, endings });
  const senders = new Map<number, Sender>();
  /** For each look at the table that is going on: what has ended since, though the rows that are read may not show it. */
  const looks = new Set<Set<string>>();
  let leftBefore = new Map<number, number[]>();
  let cancelSweep: Cancel | null = null;

  function endedNow(deviceId: number, waId: string): void {
    for (const look of looks) look.add(keyOf(deviceId, waId));
  }

  function settled(message: QueuedMessage, outcome: Settled): void {
    endedNow(message.deviceId, message.waId);
    deps.settled(message, outcome);
  }

  function senderOf(deviceId: number): Sender {
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
    senders.set(deviceId, sender);
    return sender;
  }

  /** While the reach-out lock holds, what would be a first contact fails at once instead of waiting for its turn. */
  async function endFirstContacts(deviceId: number, sender: Sender): Promise<void> {
    for (const message of sender.messages()) {
      if (!(await reachout.holdsBack(message))) continue;
      if (sender.remove((candidate) => candidate === message).length > 0)
        await endings.failed(message, reachout.error(deviceId));
    }
  }

  function failFirstContacts(deviceId: number, sender: Sender): void {
    if (!reachout.isLocked(deviceId)) return;
    endFirstContacts(deviceId, sender).catch((error: Error) => {
      // Whatever is left is held back when its turn comes.
      log.warn({ device: deviceId, error: error.name }, "first contacts could not be looked for");
    });
  }

  async function wake(deviceId: number): Promise<void> {
    const sender = senderOf(deviceId);
    const left = new Set<string>();
    looks.add(left);
    try {
      // What is not stored yet would make a message look as if it still had to be sent.
      await states.flush();
      const queued = await store.rows(SELECT_QUEUED, [deviceId]);
      const found = queued
        .map(readQueued)
        .filter(({ waId }) => !left.has(keyOf(deviceId, waId)) && !states.hasLeft(deviceId, waId));
      sender.add(found.map((row) => ({ ...row, ...UNKNOWN })));
    } catch (error) {
      // What is in memory goes on; the rest is found when the number opens again.
      log.error({ device: deviceId, error: (error as Error).name }, "queued messages could not be read");
    } finally {
      looks.delete(left);
    }
    sender.wake();
    failFirstContacts(deviceId, sender);
  }

  async function abandon(deviceId: number): Promise<void> {
    const sender = senders.get(deviceId);
    const dropped = sender?.remove(() => true) ?? [];
    // An attempt under way may come back without an outcome; its row then says that nothing is to be sent.
    const inFlight = sender?.messages() ?? [];
    for (const message of inFlight) message.draft = null;
    await states.flush();
    await store.writer.commit([rows.allFailed(deviceId, NOT_LINKED)]);
    for (const message of [...dropped, ...inFlight]) {
      settled(message, { state: "failed", error: NOT_LINKED });
      deps.changed(deviceId, message.waId);
    }
  }

  /** Numbers may stay away: what they were to send expires without its turn ever coming. */
  function sweep(): void {
    for (const sender of senders.values())
      for (const message of sender.remove(isExpired)) void endings.expired(message);
    cancelSweep = store.time.after(SWEEP_MS, sweep);
  }

  return {
    release(deviceId, stored, results) {
      const sender = senderOf(deviceId);
      const held = sender.size < HELD_DRAFTS;
      const messages = stored.map((row, index) => toEntry(row, results[index], held, store.now()));
      sender.add(messages.filter((message) => message !== null));
      failFirstContacts(deviceId, sender);
      // Rows that were there before may or may not have been sent: the table knows.
      if (messages.includes(null)) void wake(deviceId);
    },

    wake,

    confirm(deviceId, waId) {
      endedNow(deviceId, waId);
      const sender = senders.get(deviceId);
      const message = sender?.find(waId);
      if (sender === undefined || message === undefined) return;
      message.confirmed = true;
      if (sender.isSending(message)) return;
      sender.remove((candidate) => candidate === message);
      settled(message, { state: "sent" });
    },

    abandon,

    onClockMoved: reachout.onClockMoved,

    forget(deviceId) {
      const sender = senders.get(deviceId);
      if (sender === undefined) return;
      senders.delete(deviceId);
      backoff.forget(deviceId);
      for (const message of sender.remove(() => true))
        settled(message, { state: "failed", error: NOT_LINKED });
      void sender.stop();
    },

    async start() {
      await Promise.all([reachout.load(), backoff.load()]);
      leftBefore = await recentlyLeft(store, config.pacePerMinute);
      sweep();
    },

    async open(deviceId) {
      const [row] = await store.rows(STATE_WITH_QUEUE, [deviceId]);
      if (row === undefined) return;
      await (NOT_LINKED_STATES.has(String(row.state)) ? abandon(deviceId) : wake(deviceId));
    },

    async drain() {
      cancelSweep?.();
      endings.stop();
      await Promise.all([...senders.values()].map((sender) => sender.stop()));
    },
  };
}

/** Null when the insert found the row there already. */
function toEntry(
  row: NewRow,
  result: ResultSet | undefined,
  held: boolean,
  createdAt: number,
): QueuedMessage | null {
  const inserted = result?.rows[0];
  if (inserted === undefined) return null;
  const { deviceId, waId, chat, jid } = row;
  return {
    id: Number(inserted.id),
    deviceId,
    waId,
    chat,
    jid,
    isReply: Number(inserted.is_reply) === 1,
    attempts: 0,
    createdAt,
    draft: held ? row.draft : null,
    ...UNKNOWN,
    uncertain: false,
    // Sends by REST were asked about before they were stored.
    allowed: row.origin === "api",
  };
}

function keyOf(deviceId: number, waId: string): string {
  return `${deviceId}:${waId}`;
}
