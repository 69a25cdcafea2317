import type { Logger } from "../log.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Polls } from "../inbox/polls.ts";
import type { Incoming } from "../model/messages.ts";
import type { Answerer, StoredMessage, TrailEntry } from "../model/answerer.ts";
import type { Statement } from "../model/statement.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Store } from "../store/store.ts";
import type { Chats } from "./chats.ts";
import type { Guard } from "./guards.ts";
import type { PlacedRows } from "./placed-rows.ts";

/** What stands in the table `decisions` about one message. */
export interface DecisionRow {
  by: string | null;
  route: string | null;
  guard: Guard | null;
  trail: TrailEntry[];
}

/** A number whose messages this process handles. */
export interface NumberInPipeline {
  /** Aborts when nothing is to be begun any more: pauses end. */
  ending: AbortController;
  /** Somebody else may handle its messages by now: nothing is committed any more. */
  closed: boolean;
  /** Its rows that are in lanes. */
  placed: Pick<PlacedRows, "place" | "left">;
}

/** What the pipeline stands on. */
export interface PipelineDeps {
  store: Store;
  config: { takeoverMinutes: number; loopGuardPerMinute: number };
  log: Logger;
  inbox: Pick<Inbox, "intake" | "pending" | "load" | "done">;
  outbox: Pick<Outbox, "rows" | "has">;
  polls: Pick<Polls, "keepVotes" | "withTally">;
  chats: Chats;
  /** In the order in which they are asked: bots, then the webhook. */
  answerers: Answerer[];
  /** Whether the owner gives the chat back to the bots with it. */
  handsBack(deviceId: number, message: Incoming): boolean;
  /** Whether the message is a word that need not wait for what is being done for its writer. */
  isInterrupt(deviceId: number, message: Incoming): boolean;
  /** Seconds that an automatic answer of this number may be late. */
  replyMaxAge: (deviceId: number) => number;
  /** What is stored about a message beside its row, when it will never be decided. */
  leftovers: (inboxId: number) => Statement[];
  /** Told after the commit of a decision (T2). Default: nobody is. */
  observe?: (event: DecidedEvent) => void;
}

/** A message is decided. */
export interface DecidedEvent {
  type: "decided";
  deviceId: number;
  stored: StoredMessage;
  decision: DecisionRow;
  /** Since it came; null: an earlier run of the gateway has stored it. */
  tookMs: number | null;
}
