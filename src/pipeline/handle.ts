import type { ResultSet } from "@libsql/client";
import { failpoint } from "../model/failpoint.ts";
import { StorageUnavailable } from "../store/errors.ts";
import type { AddressedDraft, Asked, StoredMessage, TrailEntry } from "../model/answerer.ts";
import type { Statement } from "../model/statement.ts";
import type { Incoming } from "../model/messages.ts";
import type { OutgoingReply, ReplyRows } from "../outbox/outbox.ts";

import type { ChatFacts, Chats } from "./chats.ts";
import { decide, type Decision } from "./decide.ts";
import { countReplies, isTooOld, judgeMessage, type Guard, type Ruling } from "./guards.ts";
import type { PipelineDeps } from "./pipeline.ts";

const INSERT_DECISION = `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, "by", route, guard, trail, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (inbox_id) DO NOTHING`;
const NO_REPLIES: ReplyRows = { statements: [], waIds: [], release: () => undefined };

/** What a message's lane lets its handler see and take of what waits behind it. */
export interface LaneView {
  following: Asked["following"];
  /** These are decided as well. */
  took(messages: StoredMessage[]): void;
}

/** What stands in the table `decisions` about one message. */
export interface DecisionRow {
  by: string | null;
  route: string | null;
  guard: Guard | null;
  trail: TrailEntry[];
}

/**
 * @returns what takes one message from its inbox row to its decision: guards, answerers, one commit (T2), and then the
 *          replies leave. It throws when nothing was committed: the message is to be handed in again.
 */
export function createHandler(
  deps: PipelineDeps,
  chats: Chats,
  stopping: () => boolean,
): (stored: StoredMessage, lane: LaneView) => Promise<void> {
  const { store, config, log, inbox, outbox, answerers, replyMaxAge } = deps;

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

  function conclusion(stored: StoredMessage, row: DecisionRow, chat: Statement[]): Statement[] {
    const { inboxId, deviceId, message } = stored;
    const { by, route, guard, trail } = row;
    const args = [inboxId, deviceId, message.chatKey, message.id, by, route, guard];
    return [
      { sql: INSERT_DECISION, args: [...args, JSON.stringify(trail), store.now()] },
      ...chat,
      inbox.done(inboxId),
    ];
  }

  /**
   * A statement of an answerer that breaks a rule of the database would do so for ever: the message then gets its
   * decision without what the answerers wanted.
   */
  async function commit(
    replies: Statement[],
    wanted: Statement[],
    stored: StoredMessage,
    row: DecisionRow,
    chat: Statement[],
  ): Promise<ResultSet[] | null> {
    try {
      return await store.writer.commit([...replies, ...wanted, ...conclusion(stored, row, chat)]);
    } catch (error) {
      if (error instanceof StorageUnavailable || (replies.length === 0 && wanted.length === 0)) throw error;
      const detail = (error as Error).name;
      log.error(
        { device: stored.deviceId, message: stored.message.id, by: row.by, error: detail },
        "the database refused an answer; it is dropped",
      );
      const trail = [...row.trail, { by: row.by ?? "commit", outcome: "failed", detail }];
      const dropped = { ...row, by: null, route: null, trail };
      await store.writer.commit(conclusion(stored, dropped, chat));
      return null;
    }
  }

  return async (stored, lane) => {
    const { deviceId, message } = stored;
    const alias = aliasOf(message);
    const facts = await chats.load(deviceId, message.chatKey, alias);
    const ruling = await rule(stored, facts);
    const decision = await decide(stored, answerers, ruling, log, stopping, lane.following);
    const { rows, late } = replyRows(stored, decision);
    const { answer } = decision;
    const took = answer?.took ?? [];
    const merged = mergedInto(stored, answer?.by ?? "");
    const wanted = [
      ...decision.statements,
      ...(answer?.onReplies?.(rows.waIds) ?? []),
      ...took.flatMap((message) => conclusion(message, merged, [])),
    ];
    const row: DecisionRow = {
      by: answer?.by ?? null,
      route: answer?.route ?? null,
      guard: late ? "too_old" : ruling.guard,
      trail: decision.trail,
    };
    const change = { ...ruling.change, ...answer?.chat };
    const chat = chats.save(deviceId, message.chatKey, change, alias);
    failpoint("before-reply-commit");
    const results = await commit(rows.statements, wanted, stored, row, chat);
    failpoint("after-reply-commit");
    chats.saved(facts, change);
    if (results !== null) lane.took(took);
    deps.onDecided?.(stored, results === null ? { ...row, by: null, route: null } : row);
    if (results === null) return;
    for (const message of took) deps.onDecided?.(message, merged);
    // A queue that is worked off is no loop, however long it is.
    if (rows.waIds.length > 0 && !message.waited) countReplies(facts, rows.waIds.length, store.now());
    rows.release(results.slice(0, rows.statements.length));
    for (const forward of decision.forwards) await forward.afterCommit();
  };
}

/** The LID under which the chat was known before its number was. */
export function aliasOf({ chatKind, chatKey, lid }: Incoming): string | null {
  return chatKind === "dm" && lid !== chatKey ? lid : null;
}

/** A reply goes into the message's chat, or to its writer alone. */
function addressed({ jid, draft, elsewhere }: AddressedDraft, message: Incoming): OutgoingReply {
  if (elsewhere) return { jid, chat: jid, draft, elsewhere };
  if (jid === message.chat) return { jid, chat: message.chatKey, draft };
  const toWriter = jid === message.lid || jid === message.participant;
  return { jid, chat: toWriter ? message.sender : jid, draft };
}

/** Of messages that were answered together with another one. */
function mergedInto(into: StoredMessage, by: string): DecisionRow {
  return { by, route: null, guard: null, trail: [{ by, outcome: "merged", detail: into.message.id }] };
}
