import type { ResultSet } from "@libsql/client";
import type { AddressedDraft } from "../../model/answerer.ts";
import type { DraftQuote } from "../../model/content/drafts.ts";
import type { Statement } from "../../store/store.ts";
import type { Attempt } from "../attempts/deliver.ts";
import type { Drafts } from "./drafts.ts";
import type { Webhook } from "../settings.ts";
import { heldBy, type Holds } from "../holds.ts";
import type { Delivery } from "../rows.ts";

/** Where replies of later attempts go. Message ids are derived from the message that is answered. */
export interface ReplyOutbox {
  rows(answer: {
    deviceId: number;
    inboxId: number;
    origin: string;
    /** `chat`: canonical key of the chat that `jid` is. */
    replies: (AddressedDraft & { chat: string })[];
  }): { statements: Statement[]; waIds: string[]; release(results: ResultSet[]): void };
  /** What quoting a message of a chat takes, or null when it is not known there. */
  findQuote(deviceId: number, chat: string, waId: string): Promise<DraftQuote | null>;
}

/** The guard against answering machines that answer each other. Replies of first attempts are the pipeline's to count. */
export interface ReplyGuard {
  /** Whether automatic replies may go to this chat now. */
  allows(deviceId: number, chat: string): Promise<boolean>;
  count(deviceId: number, chat: string, replies: number): Promise<void>;
}

interface LateRepliesDeps {
  /** Null once it is gone: nothing is sent for it any more. */
  webhook(): Webhook | null;
  drafts: Drafts;
  outbox: ReplyOutbox;
  loopGuard: ReplyGuard;
  holds: Pick<Holds, "keep">;
  /** Unix milliseconds. */
  now: () => number;
}

/** What follows from an attempt besides its own record. */
export interface Effects {
  statements: Statement[];
  /** Null: what is recorded of an earlier answer stays. */
  reply: Delivery["reply"];
  /** With the results of `statements`. */
  committed(results: ResultSet[]): void | Promise<void>;
}

/** Replies to attempts that are not made in the chat's lane. */
export interface LateReplies {
  /** An event that was answered before keeps its answer. */
  to(delivery: Delivery, made: Attempt): Promise<Effects>;
}

/** The loop guard counts replies per minute. */
const LOOP_GUARD_LOOKS_BACK_MS = 60_000;
const GUARDED = "not sent: the loop guard keeps automatic replies from this chat";

/** Replies of retries and replays. The loop guard is asked about them, unless a queue is being worked off. */
export function createLateReplies(deps: LateRepliesDeps): LateReplies {
  const { drafts, outbox, loopGuard, holds, now } = deps;

  async function to(delivery: Delivery, made: Attempt): Promise<Effects> {
    const webhook = deps.webhook();
    const { deviceId, inboxId, chat, target } = delivery;
    const nothing: Effects = { statements: [], reply: null, committed: () => undefined };
    // A replayed event that was answered before keeps its answer.
    if (webhook === null || made.parsed === null || (delivery.reply?.ids.length ?? 0) > 0) return nothing;
    // A queue that is worked off is no loop, however long it is.
    const queued = delivery.attempts === 0 || now() - delivery.createdAt > LOOP_GUARD_LOOKS_BACK_MS;
    const guard = async (): Promise<string | null> =>
      queued || (await loopGuard.allows(deviceId, chat)) ? null : GUARDED;
    const { replies, reply } = await drafts.of(made.parsed, delivery, webhook, guard);
    const held = heldBy(holds, made, delivery);
    if (replies.length === 0) return { ...nothing, statements: held, reply };
    const addressed = replies.map((item) => ({ ...item, chat: target.chat }));
    const rows = outbox.rows({ deviceId, inboxId, origin: "webhook", replies: addressed });
    return {
      statements: [...rows.statements, ...held],
      reply: { ...reply, ids: rows.waIds },
      async committed(results) {
        rows.release(results.slice(0, rows.statements.length));
        if (!queued) await loopGuard.count(deviceId, chat, replies.length);
      },
    };
  }

  return { to };
}
