import type { Draft, Incoming } from "../model/messages.ts";
import type { Statement } from "../store/store.ts";
import type { ChatChange } from "./chats.ts";

export type { ChatChange } from "./chats.ts";

/** An incoming message with the row that holds it. */
export interface StoredMessage {
  inboxId: number;
  deviceId: number;
  /** The linked number itself, digits. */
  ownNumber: string;
  message: Incoming;
}

/** One reply that an answerer wants sent; becomes one outbox row in the message's own commit. */
export interface Reply {
  /** Address on the wire. */
  jid: string;
  draft: Draft;
  /** It goes to a chat that asked for nothing: paced like a send by REST. */
  elsewhere?: true;
}

/** What an answerer may know beside the message. */
export interface Asked {
  /** The owner writes in this chat by hand: only those who are tireless are asked. */
  paused: boolean;
  /** Of a timer that may not run now: Unix milliseconds from which it may. */
  heldUntil?: number;
  /**
   * Texts of the same writer that wait behind this message, once none has come for `ms`; at most for 30 seconds. They stay
   * where they are unless the answer takes them (`took`).
   */
  following(ms: number): Promise<StoredMessage[]>;
}

/** One line of a decision: who was asked, and what came of it. */
export interface TrailEntry {
  /** `bot:<id>` or `webhook`. */
  by: string;
  /** `answered`, `passed`, `failed`, `timed_out`, `not_asked`, … */
  outcome: string;
  /** Of the bot: what was asked (`keyword:menu`, `form:order`). */
  route?: string;
  detail?: string;
}

export type Answer =
  | { kind: "pass"; trail: TrailEntry[]; statements?: Statement[] }
  | {
      kind: "answer";
      /** `bot:<id>` or `webhook`. */
      by: string;
      route: string | null;
      /** In order; may be empty: who answers may choose silence. */
      replies: Reply[];
      trail: TrailEntry[];
      /** Committed together with the replies and the message's "done". */
      statements?: Statement[];
      /** Called with the message ids given to `replies`, before the commit; its statements join that commit. */
      onReplies?(waIds: string[]): Statement[];
      /** What changes in the chat with that commit. */
      chat?: ChatChange;
      /** Messages of {@link Asked.following} that this answers as well. */
      took?: StoredMessage[];
    };

/** What an answerer wants done about a message that it may not answer. */
export interface Forward {
  /** Committed together with the message's decision (T2). */
  statements: Statement[];
  /** Called after that commit and awaited in the chat's lane, so that the next message comes second. Never throws. */
  afterCommit(): Promise<void>;
}

/**
 * One of the answerers in the pipeline's list (bots, webhook). Asked in order; the first that does not pass wins.
 * Nothing it wants is done before the commit, so a crash in here means that it is asked again.
 */
export interface Answerer {
  /** Names it in a decision when it throws: `bots`, `webhook`. */
  name: string;
  /** True: not asked in a chat where the owner writes by hand. Bots pause there, the webhook does not. */
  pausesForOwner: boolean;
  /** True: asked about timers of bots too, which are nobody else's business. */
  runsTimers?: true;
  /** The `statements` of every answer belong in the message's commit, those of an answerer that passed as well. */
  answer(stored: StoredMessage, asked: Asked): Promise<Answer>;
  /**
   * Asked instead of `answer` when no answer is wanted: another answerer won (`handledBy` is `bot:<id>`), or a guard
   * keeps the message from being answered (null). Null: nothing to do.
   */
  forward?(stored: StoredMessage, handledBy: string | null): Forward | null;
}
