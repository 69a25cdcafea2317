import type { Draft } from "./content/drafts.ts";
import type { Incoming } from "./messages.ts";
import type { Statement } from "./statement.ts";
import { SECOND_MS } from "./time.ts";

/** However fast somebody goes on writing, an answer comes after this time. */
export const LONGEST_BURST_MS = 10 * SECOND_MS;

/** What one message changes in its chat. Times are Unix milliseconds and only move forwards. */
export interface ChatChange {
  /** Bots are silent until then: a person has the chat. */
  takeoverUntil?: number;
  /** No automatic replies until then: the loop guard. */
  mutedUntil?: number;
  lastIncomingAt?: number;
  /** The person has the chat no longer; `takeoverUntil` means nothing then. */
  takeoverEnded?: true;
}

/** An incoming message with the row that holds it. */
export interface StoredMessage {
  inboxId: number;
  deviceId: number;
  /** The linked number itself, digits. */
  ownNumber: string;
  message: Incoming;
  /** Several texts that are answered as one: the rows of all, oldest first. */
  together?: readonly number[];
}

/** One message that an answerer wants sent; becomes one outbox row in the message's own commit. */
export interface AddressedDraft {
  /** Address on the wire. */
  jid: string;
  draft: Draft;
  /** It goes to a chat that asked for nothing: paced like a send by REST. */
  elsewhere?: true;
  /** Of the message, derived: the same whenever the message that is answered is answered anew. Missing: from its position. */
  id?: string;
}

/** What answerers leave for one another about one message. It is made anew each time the message is decided. */
export interface MessageNotes {
  /** Ids of bots that failed at it: they are not asked again, because what they would say now is anybody's guess. */
  readonly failedBots: Set<string>;
  /** The webhook has it already, because it holds the chat: it is not posted a second time. */
  postedToWebhook: boolean;
  /**
   * Left by a dialogue that waits and has passed the message on: once somebody has answered it by the way, the dialogue says
   * again, behind that, what it waits for.
   */
  comeBack?(first: Answered): Promise<Answered>;
}

/** Notes for a message that nobody has been asked about. */
export const blankNotes = (): MessageNotes => ({ failedBots: new Set(), postedToWebhook: false });

/** What an answerer may know beside the message. */
export interface Asked {
  readonly notes: MessageNotes;
  /** The owner writes in this chat by hand: only those who ignore a takeover are asked. */
  paused: boolean;
  /** Of a timer that may not run now: Unix milliseconds from which it may. */
  heldUntil?: number;
  /**
   * Texts of the same writer that wait behind this message, once none has come for `ms`; at most for
   * {@link LONGEST_BURST_MS}. They stay where they are unless the answer takes them (`merged`).
   *
   * @param isEnd a text for which nobody waits any longer: it is the last that is given
   * @param most when there are so many, nobody waits any longer, and no more are given; default: all
   */
  waitForMore(ms: number, isEnd?: (text: StoredMessage) => boolean, most?: number): Promise<StoredMessage[]>;
  /**
   * A word of the same writer that is to be heard at once waits behind this message.
   *
   * @param came called once, at once when it waits already
   * @returns how to stop listening
   */
  onInterrupt(came: () => void): () => void;
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

/** What one answerer wants done, which nobody after it is asked about. */
export type Answered = Extract<Answer, { kind: "answer" }>;

/** What came of asking one answerer. */
export type Answer =
  | {
      kind: "pass";
      trail: TrailEntry[];
      statements?: Statement[];
      /** As `Forward.afterCommit`. */
      afterCommit?(): Promise<void>;
    }
  | {
      kind: "answer";
      /** `bot:<id>` or `webhook`. */
      by: string;
      route: string | null;
      /** In order; may be empty: who answers may choose silence. */
      replies: AddressedDraft[];
      trail: TrailEntry[];
      /** Committed together with the replies and the message's "done". */
      statements?: Statement[];
      /** Called with the message ids given to `replies`, before the commit; its statements join that commit. */
      onReplies?(waIds: string[]): Statement[];
      /** What changes in the chat with that commit. */
      chat?: ChatChange;
      /** Messages of {@link Asked.waitForMore} that this answers as well. */
      merged?: StoredMessage[];
      /** Those who only want to know are told as if nobody had answered. */
      unnamed?: true;
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
  /** True: asked in a chat where the owner writes by hand as well. Bots pause there, the webhook does not. */
  ignoresTakeover: boolean;
  /** True: asked about timers of bots too, which are nobody else's business. */
  runsTimers?: true;
  /** The `statements` of every answer belong in the message's commit, those of an answerer that passed as well. */
  answer(stored: StoredMessage, asked: Asked): Promise<Answer>;
  /**
   * Asked instead of `answer` when no answer is wanted: another answerer won (`handledBy` is `bot:<id>`), or a guard
   * keeps the message from being answered (null). Null: nothing to do.
   */
  forward?(stored: StoredMessage, handledBy: string | null, notes: MessageNotes): Forward | null;
}
