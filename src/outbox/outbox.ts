import type { ResultSet } from "@libsql/client";
import type { Logger } from "../log.ts";
import { boolean, defineQuery } from "../store/query.ts";
import { GatewayError } from "../model/errors.ts";
import { failpoint } from "../model/failpoint.ts";
import type { Draft, TextDraft } from "../model/messages.ts";
import { StorageUnavailable } from "../store/errors.ts";
import type { Statement, Store } from "../store/store.ts";
import type { EncryptedAhead, MessageReceipt, ReachoutLock, WhatsAppConnection } from "../whatsapp/port.ts";
import { findMessage, type MessageRecord } from "./record.ts";
import { createRows, randomId, replyId, shownNumber, type NewRow, type SendError } from "./rows.ts";
import { createSenders, type MediaWait, type Senders } from "./senders.ts";
import { createSentReader, type SentReader } from "./sent-reader.ts";
import { tellNews, type StateListener, type StateNews } from "./state-news.ts";
import { createStateCollector } from "./states.ts";
import { createUncertainSends } from "./uncertain.ts";
import { createSubmissions, type PlannedSend, type SendRequest, type SendResult } from "./submit.ts";

/** What the outbox must know of numbers. */
export interface Connections {
  /** Null unless it is open. */
  connection(deviceId: number): WhatsAppConnection | null;
  /** True while a phone has it linked, connected or not. */
  isLinked(deviceId: number): boolean;
}

/** What sending needs. */
export interface OutboxDeps {
  store: Store;
  config: { sendWaitMs: number; pacePerMinute: number; retentionDays: number };
  log: Logger;
  connections: Connections;
  /** Key of the chat with an address on the wire: the phone number's form when it is known. */
  canonicalChat: (deviceId: number, jid: string) => Promise<string>;
  /** Why nothing may be sent to this address (a group that only admins write in), or null. */
  refusal?: (deviceId: number, jid: string) => Promise<SendError | null>;
  /** What quoting a message takes, or null when it is not known in that chat. */
  findQuote?: (deviceId: number, chat: string, waId: string) => Promise<TextDraft["quote"] | null>;
  /** A message was stored, or is in another state; called after the commit. */
  onChange?: (deviceId: number, waId: string) => void;
  /** Is told of states outside of the gateway; what that takes is stored with the state. */
  listener?: StateListener;
  /** Milliseconds that an acknowledgement or a receipt may wait for others to be stored with; default 100. */
  collectMs?: number;
  /** What became of a message is known. @param seconds since it was stored */
  onOutcome?: (kind: string, result: "sent" | "failed" | "expired", seconds: number) => void;
}

/** A reply on its way into the outbox. */
export interface OutgoingReply {
  jid: string;
  /** Canonical chat key of `jid`. */
  chat: string;
  draft: Draft;
  /** That chat asked for nothing: it is no reply there. */
  elsewhere?: true;
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
export interface Outbox extends SentReader {
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
  /** The number is open, or somebody else committed rows of {@link rows}: everything that is queued goes on. Never rejects. */
  wake(deviceId: number): Promise<void>;
  receipt(deviceId: number, receipts: MessageReceipt[]): void;
  find(accountId: string, waId: string): Promise<MessageRecord | null>;
  /** Whether the outbox has a message of this id: what the phone then shows as its own is ours. */
  has(deviceId: number, waId: string): Promise<boolean>;
  /** The number is linked no more: what waits fails with SENDER_NOT_CONNECTED. */
  abandon(deviceId: number): Promise<void>;
  /** The number is erased: nothing of it stays in memory. */
  forget(deviceId: number): void;
  /** WhatsApp lets the number write to nobody for the first time; null when it does. */
  reachoutLock(deviceId: number): ReachoutLock | null;
  /** See `Senders`. */
  reachoutTold: Senders["reachoutTold"];
  /** What waits because WhatsApp's media service takes no files; null when nothing does. */
  waitsForMedia(deviceId: number): MediaWait | null;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
  /** Reads what numbers share. Call it before the first send. */
  start(): Promise<void>;
  /** Reads what of a number waits since an earlier run; it leaves when the number is online. @throws StorageUnavailable */
  open(deviceId: number): Promise<void>;
  /** Starts no further attempt; resolves when those under way have their outcome and receipts are stored. */
  drain(): Promise<void>;
}

const HAS = defineQuery("SELECT 1 AS found FROM outbox WHERE device_id = ? AND wa_id = ?", {
  found: boolean(),
});

/** Everything that is sent ends here: replies of bots and webhooks, and sends by REST. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { store, config, log, connections } = deps;
  const rows = createRows(store.box, store.now);
  const submissions = createSubmissions(config.sendWaitMs, store.time);
  const { connection } = connections;
  const changed = (deviceId: number, waId: string): void => deps.onChange?.(deviceId, waId);
  const uncertain = createUncertainSends(store, log);
  const { listener } = deps;
  const tell = (news: readonly StateNews[]) => tellNews(store, listener, news);
  const states = createStateCollector(store, rows, changed, tell, log, deps.collectMs);
  const senders = createSenders({
    store,
    rows,
    config,
    log,
    connection,
    settled: submissions.settled,
    changed,
    tell,
    listener,
    onOutcome: deps.onOutcome,
    refusal: deps.refusal,
    states,
    isTakenBack: uncertain.isTakenBack,
    isAwaited: submissions.awaits,
  });

  async function plan(request: SendRequest, { number, jid }: SendRequest["destinations"][number]) {
    const { deviceId, quoteId } = request;
    const refused = await deps.refusal?.(deviceId, jid);
    if (refused) return { number, refused, row: null };
    const chat = await deps.canonicalChat(deviceId, jid);
    const quote = quoteId === undefined ? null : await deps.findQuote?.(deviceId, chat, quoteId);
    const draft = quote ? { ...request.draft, quote } : request.draft;
    const row: NewRow = {
      deviceId,
      waId: randomId(),
      chat,
      jid,
      number,
      draft,
      origin: "api",
      answers: null,
    };
    return { number, refused: null, row };
  }

  /** @returns results of the inserts; none when only looking has shown that the messages are stored */
  async function storeSend(
    { deviceId, undo }: SendRequest,
    stored: NewRow[],
    beside: Statement[],
  ): Promise<ResultSet[]> {
    try {
      const results = await store.writer.commit([...stored.map(rows.insert), ...beside]);
      return results.slice(0, stored.length);
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || stored.length === 0) throw error;
      const waIds = stored.map(({ waId }) => waId);
      if (await uncertain.areStored(deviceId, waIds, undo?.() ?? [])) return [];
      throw error;
    }
  }

  function release(deviceId: number, stored: NewRow[], results: ResultSet[]): void {
    for (const { waId } of stored) changed(deviceId, waId);
    senders.release(deviceId, stored, results);
  }

  return {
    rows({ deviceId, inboxId, origin, replies }) {
      const stored = replies.map(({ jid, chat, draft, elsewhere }, ordinal): NewRow => {
        const waId = replyId(store.box, deviceId, inboxId, ordinal);
        const number = shownNumber(chat);
        const answers = elsewhere ? null : { inboxId, ordinal };
        return { deviceId, waId, chat, jid, number, draft, origin, answers };
      });
      return {
        statements: stored.map(rows.insert),
        waIds: stored.map((row) => row.waId),
        // The first of its chat; the others leave when its outcome is known.
        encryptAhead: () => (stored[0] === undefined ? null : senders.encryptAhead(stored[0])),
        release: (results) => release(deviceId, stored, results),
      };
    },

    async submit(request) {
      const { deviceId, destinations } = request;
      if (!connections.isLinked(deviceId)) throw new GatewayError("SENDER_NOT_CONNECTED", "Invalid data!");
      const planned = await Promise.all(destinations.map((destination) => plan(request, destination)));
      const stored = planned.flatMap(({ row }) => (row === null ? [] : [row]));
      const beside = stored.length === 0 ? [] : (request.beside?.(planned.map(plannedSend)) ?? []);
      const results = await storeSend(request, stored, beside);
      failpoint("after-accept");
      const outcomes = submissions.expect(stored);
      release(deviceId, stored, results);
      await outcomes.wait();
      return planned.map(({ number, refused, row }) =>
        row === null ? { number, state: "failed", id: null, error: refused } : outcomes.result(row),
      );
    },

    receipt(deviceId, arrived) {
      failpoint("after-delivery-receipt");
      for (const receipt of arrived) {
        states.received(deviceId, receipt);
        senders.confirm(deviceId, receipt.waId);
      }
    },

    find: (accountId, waId) => findMessage(store, accountId, waId),

    has: async (deviceId, waId) => (await store.readOne(HAS, [deviceId, waId])) !== null,

    ...createSentReader(store),
    wake: senders.wake,
    abandon: senders.abandon,
    forget: senders.forget,
    reachoutLock: senders.reachoutLock,
    reachoutTold: senders.reachoutTold,
    waitsForMedia: senders.waitsForMedia,
    onClockMoved: senders.onClockMoved,
    start: senders.start,
    open: senders.open,

    async drain() {
      submissions.stop();
      await senders.drain();
      await states.flush();
    },
  };
}

function plannedSend(planned: {
  number: string;
  refused: SendError | null;
  row: NewRow | null;
}): PlannedSend {
  const { number, refused, row } = planned;
  return row === null
    ? { number, id: null, ...(refused ? { error: refused } : {}) }
    : { number, id: row.waId };
}
