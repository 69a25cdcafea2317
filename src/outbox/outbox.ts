import type { ResultSet } from "@libsql/client";
import type { Logger } from "../log.ts";
import { boolean, defineQuery } from "../store/query.ts";
import type { Draft } from "../model/content/drafts.ts";
import { alone } from "../model/nodes/alone.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import type { Statement, Store } from "../store/store.ts";
import type { EncryptedAhead, ReachoutLock, WhatsAppConnection } from "../whatsapp/port.ts";
import { NOT_LINKED } from "./sending/abandoning.ts";
import { createHandedOver } from "./submitting/handed-over.ts";
import { createOnBehalf } from "./submitting/on-behalf.ts";
import { findMessage, type MessageRecord } from "./record.ts";
import { createRows, replyId, shownNumber, type NewRow } from "./rows.ts";
import type { MediaWait } from "./sending/holdups/holdups.ts";
import {
  openOutbox,
  type NumberOutbox,
  type OutboxNumber,
  type SendingDeps,
} from "./sending/number-outbox.ts";
import { createStandings, type Standings } from "./sending/standings.ts";
import type { WarmUpDay } from "./sending/holdups/warm-up.ts";
import { createSentReader, type SentReader } from "./sent-reader.ts";
import { tellNews, type StateListener, type StateNews } from "./state-news.ts";
import { createSubmitting, type FindQuote, type SendChecks } from "./submitting/submitting.ts";
import { createWaitingMessages, type WaitingMessages } from "./waiting.ts";
import { createUncertainSends } from "./submitting/uncertain.ts";
import { createSubmissions, type SendRequest, type SendResult } from "./submitting/submit.ts";
import type { OutboxEvent } from "./outbox-event.ts";

/** What the outbox must know of numbers. */
export interface Connections {
  /** Null unless it is open. */
  connection(deviceId: number): WhatsAppConnection | null;
  /** True while a phone has it linked, connected or not. */
  isLinked(deviceId: number): boolean;
}

/** What sending needs. */
export interface OutboxDeps extends SendChecks {
  store: Store;
  /** The other processes that share the database. Default: there are none. */
  cluster?: Cluster;
  config: { sendWaitMs: number; pacePerMinute: number; retentionDays: number; warmUp: boolean };
  log: Logger;
  connections: Connections;
  /** What a number that this process has is to send; null: it is another's, or nobody's. */
  opened(deviceId: number): NumberOutbox | null;
  /** Told what happens to messages. Default: nobody is. */
  observe?: (event: OutboxEvent) => void;
  /** Is told of states outside of the gateway; what that takes is stored with the state. */
  listener?: StateListener;
  /** Milliseconds that an acknowledgement or a receipt may wait for others to be stored with; default 50. */
  collectMs?: number;
}

/** A reply on its way into the outbox. */
export interface OutgoingReply {
  jid: string;
  /** Canonical chat key of `jid`. */
  chat: string;
  draft: Draft;
  /** That chat asked for nothing: it is no reply there. */
  elsewhere?: true;
  /** Default: derived from its position. */
  id?: string;
}

/** Rows of an answer: `statements` belong into the answer's own commit. */
export interface ReplyRows {
  /** One per reply. */
  statements: Statement[];
  /** Ids on the wire, one per reply. */
  waIds: string[];
  /**
   * Encrypts what leaves at once, for the answer's own commit. Call it in the turn of the event loop in which that commit is
   * given to the writer, and `committed` or `failed` when it is known; before `release`. Null: there is nothing.
   */
  encryptAhead(): EncryptedAhead | null;
  /** After that commit, with the results of `statements`: the replies leave. Whoever cannot call it calls `wake`. */
  release(results: ResultSet[]): void;
}

/** Everything on its way from Parley to WhatsApp: stored first, then sent in the order of its chat. */
export interface Outbox extends SentReader, WaitingMessages {
  rows(answer: {
    deviceId: number;
    inboxId: number;
    /** `bot:<id>` or `webhook`. */
    origin: string;
    replies: OutgoingReply[];
  }): ReplyRows;
  /**
   * Stores a message per destination, then waits for the outcomes, at most `sendWaitMs`.
   *
   * @returns one result per destination, in their order
   * @throws SENDER_NOT_CONNECTED when the number is not linked, StorageUnavailable; nothing is stored
   */
  submit(request: SendRequest): Promise<SendResult[]>;
  /** What quoting a message of a chat takes, whoever wrote it; null when it is not known there. */
  findQuote: FindQuote;
  find(accountId: string, waId: string): Promise<MessageRecord | null>;
  /** Whether the outbox has a message of this id: what the phone then shows as its own is ours. */
  has(deviceId: number, waId: string): Promise<boolean>;
  /** This process has the number from now on: what waits goes on with `begin`. */
  open(number: OutboxNumber): NumberOutbox;
  /** The number is erased: whoever waits for a send hears that it is not linked. */
  forget(deviceId: number): void;
  /** WhatsApp lets the number write to nobody for the first time; null when it does. */
  reachoutLock(deviceId: number): ReachoutLock | null;
  /** Until when nothing is sent because WhatsApp has answered 429, Unix milliseconds; null: it is. */
  pausedUntil(deviceId: number): number | null;
  /** How many people a number that was linked lately may write to for the first time today; null: it is not warming up. */
  warmUp(deviceId: number): WarmUpDay | null;
  /** What waits because WhatsApp's media service takes no files; null when nothing does. */
  waitsForMedia(deviceId: number): MediaWait | null;
  /** Reads what numbers share. Call it before the first send. */
  start(): Promise<void>;
  /** Requests wait for outcomes no longer; those of other nodes neither. */
  stop(): void;
}

const HAS = defineQuery("SELECT 1 AS found FROM outbox WHERE device_id = ? AND wa_id = ?", {
  found: boolean(),
});

/** How messages are found. */
const createLooks = ({ store, findQuote = async () => null }: OutboxDeps) =>
  ({
    findQuote,
    find: (accountId, waId) => findMessage(store, accountId, waId),
    has: async (deviceId, waId) => (await store.readOne(HAS, [deviceId, waId])) !== null,
    ...createSentReader(store),
  }) satisfies Partial<Outbox>;

/** What keeps numbers from sending, as far as this process knows. */
const shownHoldups = (opened: OutboxDeps["opened"], standings: Pick<Standings, "lockOf">) =>
  ({
    reachoutLock: (deviceId) => {
      const own = opened(deviceId);
      return own === null ? standings.lockOf(deviceId) : own.reachoutLock();
    },
    pausedUntil: (deviceId) => opened(deviceId)?.pausedUntil() ?? null,
    warmUp: (deviceId) => opened(deviceId)?.warmUp() ?? null,
    waitsForMedia: (deviceId) => opened(deviceId)?.waitsForMedia() ?? null,
  }) satisfies Partial<Outbox>;

/** Everything that is sent ends here: replies of bots and webhooks, and sends by REST. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { store, config, log, connections, opened, observe, cluster = alone() } = deps;
  const isShared = cluster.node !== null;
  const rows = createRows(store.box, store.now, isShared);
  const submissions = createSubmissions(config.sendWaitMs, store.time);
  const changed = (deviceId: number, waId: string): void => observe?.({ type: "message", deviceId, waId });
  const uncertain = createUncertainSends(store, log);
  const handedOver = createHandedOver({ cluster, store, submissions, log });
  const onBehalf = createOnBehalf({ cluster, store, log, config, isLinked: connections.isLinked });
  const tell = (news: readonly StateNews[]) => tellNews(store, deps.listener, news);
  const standings = createStandings(store, config.pacePerMinute, isShared);
  const sending: SendingDeps = {
    ...deps,
    rows,
    connection: connections.connection,
    settled(message, outcome) {
      submissions.settled(message, outcome);
      onBehalf.settled(message, outcome);
    },
    changed,
    tell,
    standings,
    isTakenBack: uncertain.isTakenBack,
    isAwaited: (message) => submissions.awaits(message) || onBehalf.awaits(message),
    isShared,
  };

  /** @param results of the inserts, and of the wake-up when there is one */
  function release(deviceId: number, stored: NewRow[], results: ResultSet[]): void {
    const waIds = stored.map(({ waId }) => waId);
    for (const waId of waIds) changed(deviceId, waId);
    // One that is being opened, or closed, finds them in the table.
    if (cluster.ownership.owns(deviceId)) return opened(deviceId)?.release(stored, results);
    handedOver.tell(deviceId, waIds, results[stored.length]);
  }

  const submit = createSubmitting({ ...deps, rows, submissions, handedOver, uncertain, release });

  return {
    rows({ deviceId, inboxId, origin, replies }) {
      const stored = replies.map(({ jid, chat, draft, elsewhere, id }, ordinal): NewRow => {
        const waId = id ?? replyId(store.box, deviceId, inboxId, ordinal);
        const number = shownNumber(chat);
        const answers = elsewhere ? null : { inboxId, ordinal };
        return { deviceId, waId, chat, jid, number, draft, origin, answers };
      });
      return {
        statements: stored.map(rows.insert),
        waIds: stored.map((row) => row.waId),
        // The first of its chat; the others leave when its outcome is known.
        encryptAhead: () => (stored[0] && opened(deviceId)?.encryptAhead(stored[0])) ?? null,
        release: (results) => release(deviceId, stored, results),
      };
    },

    submit,
    ...createLooks(deps),
    ...createWaitingMessages({ store, rows, cluster, opened, changed }),
    open: (number) => openOutbox(sending, number),
    forget(deviceId) {
      for (const message of submissions.waiting())
        if (message.deviceId === deviceId)
          submissions.settled(message, { state: "failed", error: NOT_LINKED });
    },
    ...shownHoldups(opened, standings),
    async start() {
      handedOver.start();
      onBehalf.start(opened);
      await standings.load();
    },
    stop() {
      submissions.stop();
      onBehalf.stop();
      handedOver.stop();
    },
  };
}
