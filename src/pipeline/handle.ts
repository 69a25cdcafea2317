import { failpoint } from "../model/failpoint.ts";
import type { AddressedDraft, Asked, StoredMessage } from "../model/answerer.ts";
import type { Incoming } from "../model/messages.ts";
import type { Way } from "../model/way.ts";
import type { OutgoingReply, ReplyRows } from "../outbox/outbox.ts";
import type { Logger } from "../log.ts";
import type { ChatFacts } from "./chats.ts";
import { createConclusions } from "./conclusions.ts";
import { decide, type Decision } from "./decide.ts";
import { countReplies, isTooOld, judgeMessage, type Ruling } from "./guards.ts";
import type { DecisionRow, NumberInPipeline, PipelineDeps } from "./deps.ts";

const NO_REPLIES: ReplyRows = {
  statements: [],
  waIds: [],
  encryptAhead: () => null,
  release: () => undefined,
};

/** What a message's lane lets its handler see and take of what waits behind it. */
export interface LaneView extends Pick<Asked, "waitForMore" | "onInterrupt"> {
  /** Messages that were before it when it came. */
  ahead: number;
  /** When it came, by the monotonic clock; null: in an earlier run. */
  came: number | null;
  /** These are decided as well. */
  merged(messages: StoredMessage[]): void;
}

/**
 * @returns what takes one message from its inbox row to its decision: guards, answerers, one commit (T2), and then the
 *          replies leave. It throws when nothing was committed, or when nobody knows whether it was: the message is to be
 *          handed in again once that is settled.
 */
export function createHandler(
  deps: PipelineDeps,
): (stored: StoredMessage, lane: LaneView, number: NumberInPipeline) => Promise<void> {
  const { store, log, answerers, chats } = deps;
  const conclusions = createConclusions(deps);
  const sinceMs = (monotonic: number): number => Math.max(0, Math.round(store.time.monotonic() - monotonic));

  return async (stored, lane, number) => {
    const { deviceId, message } = stored;
    const began = store.time.monotonic();
    const alias = aliasOf(message);
    const facts = await chats.load(deviceId, message.chatKey, alias);
    const ruling = await rule(deps, stored, facts);
    const stopping = (): boolean => number.ending.signal.aborted;
    const decision = await decide(stored, answerers, ruling, log, stopping, lane);
    const { rows, late } = replyRows(deps, stored, decision);
    const { answer } = decision;
    const together = answer?.merged ?? [];
    const merged = mergedInto(stored, answer?.by ?? "");
    const effects = [
      ...rows.statements,
      ...decision.statements,
      ...(answer?.onReplies?.(rows.waIds) ?? []),
      ...together.flatMap((message) => conclusions.statements(message, merged, null)),
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
    const results = await conclusions
      .commit(stored, { effects: all, row, chat, way })
      .catch((error: unknown) => {
        ahead?.failed();
        throw error;
      });
    if (results === null) ahead?.failed();
    else ahead?.committed();
    failpoint("after-reply-commit");
    chats.saved(deviceId, message.chatKey, change, facts);
    if (ruling.guard === "takeover" && ruling.heldUntil !== undefined)
      await afterwards(log, stored, "resuming the chat", async () => {
        const statements = chats.recheck(stored, ruling.heldUntil!, facts);
        if (statements.length > 0) await store.writer.commit(statements, { owning: deviceId });
      });
    if (results !== null) lane.merged(together);
    await afterwards(log, stored, "reporting it", () => {
      const tookMs = lane.came === null ? null : sinceMs(lane.came);
      tell(deps, stored, results === null ? { ...row, by: null, route: null } : row, tookMs);
      if (results !== null) for (const message of together) tell(deps, message, merged, tookMs);
    });
    if (results === null) return;
    // A queue that is worked off is no loop, however long it is.
    if (rows.waIds.length > 0 && !message.waited) countReplies(facts, rows.waIds.length, store.now());
    await afterwards(log, stored, "sending its replies", () =>
      rows.release(results.slice(0, rows.statements.length)),
    );
    for (const forward of decision.forwards)
      await afterwards(log, stored, "forwarding it", () => forward.afterCommit());
  };
}

async function rule(
  { store, config, outbox, replyMaxAge }: PipelineDeps,
  { message, deviceId }: StoredMessage,
  facts: ChatFacts,
): Promise<Ruling> {
  if (message.timer)
    return judgeMessage(message, facts, config, { ownEcho: false, replyMaxAge: 0, now: store.now() });
  // A channel's posts do not say who wrote them.
  const mayBeOwn = message.fromMe || message.chatKind === "channel";
  const ownEcho = mayBeOwn && (await outbox.has(deviceId, message.id));
  const maxAge = replyMaxAge(deviceId);
  return judgeMessage(message, facts, config, { ownEcho, replyMaxAge: maxAge, now: store.now() });
}

/** Rows of the answer's replies; none when the answer comes later than the owner wants any to come. */
function replyRows(
  { store, outbox, replyMaxAge }: PipelineDeps,
  { deviceId, inboxId, message }: StoredMessage,
  { answer }: Decision,
): { rows: ReplyRows; late: boolean } {
  if (answer === null || answer.replies.length === 0) return { rows: NO_REPLIES, late: false };
  if (!message.timer && isTooOld(message, replyMaxAge(deviceId), store.now()))
    return { rows: NO_REPLIES, late: true };
  const replies = answer.replies.map((reply) => addressed(reply, message));
  return { rows: outbox.rows({ deviceId, inboxId, origin: answer.by, replies }), late: false };
}

/** The decision stands: whatever goes wrong now is logged, for asking again would answer twice. */
async function afterwards(
  log: Logger,
  { deviceId: device, inboxId: inbox }: StoredMessage,
  what: string,
  work: () => unknown,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error({ err: error, device, inbox }, `a message is decided, but ${what} failed`);
  }
}

function tell(
  { observe }: PipelineDeps,
  stored: StoredMessage,
  decision: DecisionRow,
  tookMs: number | null,
): void {
  observe?.({ type: "decided", deviceId: stored.deviceId, stored, decision, tookMs });
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
