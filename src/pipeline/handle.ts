import type { ResultSet } from "@libsql/client";
import { failpoint } from "../model/failpoint.ts";
import { ConstraintViolation, StorageUnavailable } from "../store/errors.ts";
import type { AddressedDraft, Asked, StoredMessage } from "../model/answerer.ts";
import type { Statement } from "../model/statement.ts";
import type { Incoming } from "../model/messages.ts";
import type { Way } from "../model/way.ts";
import type { OutgoingReply, ReplyRows } from "../outbox/outbox.ts";

import type { ChatFacts } from "./chats.ts";
import { decide, type Decision } from "./decide.ts";
import { countReplies, isTooOld, judgeMessage, type Ruling } from "./guards.ts";
import type { DecisionRow, OpenNumber, PipelineDeps } from "./deps.ts";
import { createHeldIn } from "./way.ts";

// The guard of the whole commit: a message that has its decision, or whose row is gone, breaks a rule of the table here,
// and then nothing of the commit takes effect. An answer that was lost on its way back must not be committed twice.
const INSERT_DECISION = `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, "by", route, guard, trail, way, at)
VALUES (?1, (SELECT device_id FROM inbox WHERE id = ?1 AND state = 'pending'), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`;
/** What each text of a statement writes to. */
const heldIn = createHeldIn();
const NO_REPLIES: ReplyRows = {
  statements: [],
  waIds: [],
  encryptAhead: () => null,
  release: () => undefined,
};

/** What a message's lane lets its handler see and take of what waits behind it. */
export interface LaneView extends Pick<Asked, "following" | "onInterrupt"> {
  /** Messages that were before it when it came. */
  ahead: number;
  /** When it came, by the monotonic clock; null: in an earlier run. */
  came: number | null;
  /** These are decided as well. */
  took(messages: StoredMessage[]): void;
}

/**
 * @returns what takes one message from its inbox row to its decision: guards, answerers, one commit (T2), and then the
 *          replies leave. It throws when nothing was committed, or when nobody knows whether it was: the message is to be
 *          handed in again once that is settled.
 */
export function createHandler(
  deps: PipelineDeps,
): (stored: StoredMessage, lane: LaneView, number: OpenNumber) => Promise<void> {
  const { store, config, log, inbox, outbox, answerers, replyMaxAge, chats } = deps;

  async function rule(stored: StoredMessage, facts: ChatFacts): Promise<Ruling> {
    const { message, deviceId } = stored;
    if (message.timer)
      return judgeMessage(message, facts, config, { ownEcho: false, replyMaxAge: 0, now: store.now() });
    // A channel's posts do not say who wrote them.
    const mayBeOwn = message.fromMe || message.chatKind === "channel";
    const ownEcho = mayBeOwn && (await outbox.has(deviceId, message.id));
    const maxAge = replyMaxAge(deviceId);
    return judgeMessage(message, facts, config, { ownEcho, replyMaxAge: maxAge, now: store.now() });
  }

  /** Rows of the answer's replies; none when the answer comes later than the owner wants any to come. */
  function replyRows(stored: StoredMessage, decision: Decision): { rows: ReplyRows; late: boolean } {
    const { answer } = decision;
    if (answer === null || answer.replies.length === 0) return { rows: NO_REPLIES, late: false };
    const { deviceId, inboxId, message } = stored;
    if (!message.timer && isTooOld(message, replyMaxAge(deviceId), store.now()))
      return { rows: NO_REPLIES, late: true };
    const replies = answer.replies.map((reply) => addressed(reply, message));
    return { rows: outbox.rows({ deviceId, inboxId, origin: answer.by, replies }), late: false };
  }

  /** The decision and what follows from it in the message's own rows. The guard comes first. */
  function conclusion(stored: StoredMessage, row: DecisionRow, way: Way | null): Statement[] {
    const { inboxId, message } = stored;
    const { by, route, guard } = row;
    const [trail, kept] = [JSON.stringify(row.trail), way && JSON.stringify(way)];
    const args = [inboxId, message.chatKey, message.id, by, route, guard, trail, kept, store.now()];
    return [{ sql: INSERT_DECISION, args }, inbox.done(inboxId)];
  }

  /**
   * A statement of an answerer that breaks a rule of the database would do so for ever: the message then gets its
   * decision without what the answerers wanted.
   *
   * @returns results of `effects`; null when they were dropped
   * @throws Overtaken nothing is committed: what the answer was made from is not so any more
   * @throws StorageUnavailable nothing is committed, or nobody knows whether it is
   */
  async function commit(
    effects: Statement[],
    stored: StoredMessage,
    row: DecisionRow,
    chat: Statement[],
    way: Pick<Way, "asked" | "ahead" | "ids">,
  ): Promise<ResultSet[] | null> {
    const guarded = conclusion(stored, row, { ...way, held: heldIn([...effects, ...chat]) });
    const owning = { owning: stored.deviceId };
    try {
      const results = await store.writer.commit([...guarded, ...effects, ...chat], owning);
      return results.slice(guarded.length, guarded.length + effects.length);
    } catch (error) {
      if (error instanceof StorageUnavailable || effects.length === 0) throw error;
      if (error instanceof ConstraintViolation) {
        if (error.statement === 0) throw error;
        if (effects[error.statement - guarded.length]?.isGuard) throw new Overtaken();
      }
      const detail = (error as Error).name;
      log.error(
        { device: stored.deviceId, message: stored.message.id, by: row.by, err: error },
        "the database refused an answer; dropping it",
      );
      const trail = [...row.trail, { by: row.by ?? "commit", outcome: "failed", detail }];
      const held = heldIn(chat);
      const without = conclusion(stored, { ...row, by: null, route: null, trail }, { ...way, held });
      await store.writer.commit([...without, ...chat], owning);
      return null;
    }
  }

  const sinceMs = (monotonic: number): number => Math.max(0, Math.round(store.time.monotonic() - monotonic));

  /** The decision stands: whatever goes wrong now is logged, for asking again would answer twice. */
  async function afterwards(stored: StoredMessage, what: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { deviceId: device, inboxId: inbox } = stored;
      log.error({ err: error, device, inbox }, `a message is decided, but ${what} failed`);
    }
  }

  return async (stored, lane, number) => {
    const { deviceId, message } = stored;
    const began = store.time.monotonic();
    const alias = aliasOf(message);
    const facts = await chats.load(deviceId, message.chatKey, alias);
    const ruling = await rule(stored, facts);
    const stopping = (): boolean => number.ending.signal.aborted;
    const decision = await decide(stored, answerers, ruling, log, stopping, lane);
    const { rows, late } = replyRows(stored, decision);
    const { answer } = decision;
    const took = answer?.took ?? [];
    const merged = mergedInto(stored, answer?.by ?? "");
    const effects = [
      ...rows.statements,
      ...decision.statements,
      ...(answer?.onReplies?.(rows.waIds) ?? []),
      ...took.flatMap((message) => conclusion(message, merged, null)),
    ];
    const row: DecisionRow = {
      by: answer?.by ?? null,
      route: answer?.route ?? null,
      guard: late ? "too_old" : ruling.guard,
      trail: decision.trail,
    };
    const change = { ...ruling.change, ...answer?.chat };
    const chat = chats.save(deviceId, message.chatKey, change, facts, alias);
    failpoint("before-reply-commit");
    if (number.closed) throw new NumberClosed();
    const ahead = rows.encryptAhead();
    const all = [...effects, ...(ahead?.statements ?? [])];
    const way = { asked: sinceMs(began), ahead: lane.ahead, ...idsGiven(answer?.replies, rows.waIds) };
    const results = await commit(all, stored, row, chat, way).catch((error: unknown) => {
      ahead?.failed();
      throw error;
    });
    if (results === null) ahead?.failed();
    else ahead?.committed();
    failpoint("after-reply-commit");
    chats.saved(deviceId, message.chatKey, change, facts);
    if (ruling.guard === "takeover" && ruling.heldUntil !== undefined)
      await afterwards(stored, "resuming the chat", () => chats.recheck(stored, ruling.heldUntil!, facts));
    if (results !== null) lane.took(took);
    await afterwards(stored, "reporting it", () => {
      const tookMs = lane.came === null ? null : sinceMs(lane.came);
      deps.onDecided?.(stored, results === null ? { ...row, by: null, route: null } : row, tookMs);
      if (results !== null) for (const message of took) deps.onDecided?.(message, merged, tookMs);
    });
    if (results === null) return;
    // A queue that is worked off is no loop, however long it is.
    if (rows.waIds.length > 0 && !message.waited) countReplies(facts, rows.waIds.length, store.now());
    await afterwards(stored, "sending its replies", () =>
      rows.release(results.slice(0, rows.statements.length)),
    );
    for (const forward of decision.forwards)
      await afterwards(stored, "forwarding it", () => forward.afterCommit());
  };
}

/** Another commit came first, and changed what the answer was made from: the message is to be answered anew, at once. */
export class Overtaken extends Error {
  constructor() {
    super("The data behind the answer has changed since.");
    this.name = "Overtaken";
  }
}

/** Somebody else handles the number's messages by now: this one stays as it is. */
class NumberClosed extends Error {
  constructor() {
    super("The number is closed.");
    this.name = "NumberClosed";
  }
}

/** The LID under which the chat was known before its number was. */
export function aliasOf({ chatKind, chat, chatKey, fromMe, lid }: Incoming): string | null {
  if (chatKind !== "dm") return null;
  // Of what the owner writes, the writer's LID is the owner's own: that of the chat stands where it was written to.
  const hidden = fromMe ? (chat.endsWith("@lid") ? chat : null) : lid;
  return hidden === chatKey ? null : hidden;
}

/** A reply goes into the message's chat, or to its writer alone. */
function addressed({ jid, elsewhere, ...reply }: AddressedDraft, message: Incoming): OutgoingReply {
  if (elsewhere) return { ...reply, jid, chat: jid, elsewhere };
  if (jid === message.chat) return { ...reply, jid, chat: message.chatKey };
  const toWriter = jid === message.lid || jid === message.participant;
  return { ...reply, jid, chat: toWriter ? message.sender : jid };
}

/** Ids of replies that are not derived from their places; nothing when all are. */
function idsGiven(replies: readonly AddressedDraft[] = [], ids: string[]): Pick<Way, "ids"> {
  return ids.length > 0 && replies.some(({ id }) => id !== undefined) ? { ids } : {};
}

/** Of messages that were answered together with another one. */
function mergedInto(into: StoredMessage, by: string): DecisionRow {
  return { by, route: null, guard: null, trail: [{ by, outcome: "merged", detail: into.message.id }] };
}
