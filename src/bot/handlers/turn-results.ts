import type { Logger } from "../../log.ts";
import type { Answer, StoredMessage, TrailEntry } from "../../model/answerer.ts";
import type { Incoming } from "../../model/messages.ts";
import type { Statement } from "../../model/statement.ts";
import { blockedFor } from "./blocking.ts";
import type { Elsewhere } from "./effects.ts";
import { StepFailedError } from "../flow/errors.ts";
import { placeIn } from "../place.ts";
import { describeError, type HandlerOutcome } from "./run.ts";
import type { AnswerRows } from "./to-rows.ts";
import type { Bot, OnError } from "../types.ts";

type Won = Extract<Answer, { kind: "answer" }>;
type Answered = Extract<HandlerOutcome, { kind: "answered" }>;
type Unanswered = Exclude<HandlerOutcome, { kind: "aborted" | "answered" | "interrupted" | "restarted" }>;

/** `statements` belong into the message's commit, whoever answers it; those of an answer stand in the answer as well. */
export type TurnResult =
  | {
      kind: "answered";
      answer: Won;
      trail: TrailEntry[];
      statements: Statement[];
      /** Nothing has become of the chat's dialogue, and no person has the chat. */
      isAside: boolean;
      /** A dialogue of another bot that is to begin with it. */
      begins: Elsewhere | null;
    }
  /** The handler failed, and the bot does not want anybody else to be asked. */
  | { kind: "ended"; answer: Won; trail: TrailEntry[]; statements: Statement[] }
  | { kind: "passed" | "failed" | "skipped"; trail: TrailEntry[]; statements: Statement[] }
  /** Nothing came of it: it is to be asked about more. */
  | { kind: "restarted"; trail: TrailEntry[] };

/** Who was asked, and what about. */
interface Attempted {
  /** As a decision names the bot. */
  by: string;
  /** Route as a decision names it. */
  label: string;
  bot: Bot;
  stored: StoredMessage;
  botLog: () => Logger;
  timeoutMs: number;
}

/** What a dialogue threw, which ended it; undefined when nothing. */
export function errorOf({ turn }: Answered): unknown {
  const { botTurn } = turn ?? {};
  return botTurn === undefined || botTurn.kind === "pass" || botTurn.kind === "continue"
    ? undefined
    : botTurn.error;
}

/** A dialogue that ended because its code threw has answered all the same: the line of the decision says where. */
export function brokenBy(
  error: unknown,
  file: string | null,
  message: Incoming,
  botLog: () => Logger,
): string {
  const err = describeError(error, message.text);
  const where = whereOf(error, file);
  botLog().error({ err, ...where }, "the code of a dialogue threw; the dialogue has ended");
  return `failed: ${told(err.type, where)}`;
}

/** What a handler that gave no answer is to be told by: what it threw, or that it took too long. */
export const problemOf = (
  outcome: Extract<HandlerOutcome, { kind: "failed" | "timed_out" }>,
  timeoutMs: number,
): unknown =>
  outcome.kind === "failed" ? outcome.error : new Error(`the handler did not return within ${timeoutMs} ms`);

/** Adds to the line of a decision that the handler kept everybody waiting. @param ms how long */
export function noteBlocked(entry: TrailEntry | undefined, ms: number): void {
  if (entry !== undefined) entry.detail = [entry.detail, blockedFor(ms)].filter(Boolean).join("; ");
}

/** @param failure what to note instead of what the dialogue says of itself */
export function answered(
  by: string,
  route: string,
  { replies, statements, chat }: AnswerRows,
  { turn, effects }: Answered,
  failure: string | undefined,
): TurnResult {
  const said = turn === null || turn.botTurn.kind === "pass" ? undefined : turn.botTurn.note;
  const note = failure ?? said;
  const trail = [{ by, outcome: "answered", route, ...(note !== undefined && { detail: note }) }];
  const answer: Won = { kind: "answer", by, route, replies, trail, statements, chat };
  const isAside =
    turn === null &&
    effects.elsewhere === null &&
    effects.dialogue === undefined &&
    effects.handoffMs === undefined;
  return { kind: "answered", answer, trail, statements, isAside, begins: effects.elsewhere };
}

/** A handler that was cut off because a newer text has come. */
export const restarted = (by: string, route: string): TurnResult => ({
  kind: "restarted",
  trail: [{ by, outcome: "restarted", route, detail: "a newer text came" }],
});

/** Nothing of what the handler wanted happens, and nobody else is asked: what was written is over. */
export function interrupted(by: string, route: string, statements: Statement[]): TurnResult {
  const trail = [{ by, outcome: "interrupted", route }];
  const answer: Won = { kind: "answer", by, route, replies: [], trail, statements };
  return { kind: "answered", answer, trail, statements, isAside: false, begins: null };
}

/** A handler that passed the message on, or failed; what it did wrong is logged. */
export function unanswered(
  outcome: Unanswered,
  { by, label, bot, stored, botLog, timeoutMs }: Attempted,
  statements: Statement[],
): TurnResult {
  const line = report(outcome, { by, file: bot.file }, stored.message, botLog, timeoutMs);
  const trail = [{ ...line, route: label }];
  if (outcome.kind === "passed") return { kind: "passed", trail, statements };
  return failed(bot.onError, by, label, stored, trail, statements);
}

function failed(
  onError: OnError,
  by: string,
  label: string,
  stored: StoredMessage,
  trail: TrailEntry[],
  statements: Statement[],
): TurnResult {
  if (onError === "next") return { kind: "failed", trail, statements };
  const replies =
    onError === "silent"
      ? []
      : [{ jid: stored.message.chat, draft: { kind: "text" as const, text: onError.reply } }];
  const answer: Won = { kind: "answer", by, route: label, replies, trail, statements };
  return { kind: "ended", trail, answer, statements };
}

/** Logs what a bot did wrong and gives the line of the decision; neither holds a word of the message. */
function report(
  outcome: Unanswered,
  { by, file }: { by: string; file: string | null },
  message: Incoming,
  botLog: () => Logger,
  timeoutMs: number,
): TrailEntry {
  const dropped = outcome.dropped > 0 ? `${outcome.dropped} buffered replies dropped` : undefined;
  if (outcome.kind === "passed") {
    if (dropped) botLog().warn(`the handler called next() after reply(): ${dropped}`);
    return { by, outcome: "passed", ...(dropped && { detail: dropped }) };
  }
  if (outcome.kind === "timed_out") {
    botLog().warn(
      { timeoutMs, dropped: outcome.dropped },
      "the handler did not return in time; none of its replies are sent",
    );
    return { by, outcome: "timed_out", detail: `no return within ${timeoutMs} ms` };
  }
  const err = describeError(outcome.error, message.text);
  const where = whereOf(outcome.error, file);
  botLog().error(
    { err, ...where, dropped: outcome.dropped },
    "the handler threw; none of its replies are sent",
  );
  return { by, outcome: "failed", detail: told(err.type, where) };
}

/** Where a bot's own code threw: the author's file and line, and the key of the step whose work failed. */
export function whereOf(error: unknown, file: string | null): { place?: string; step?: string } {
  const place = placeIn(error instanceof Error ? error.stack : undefined, file);
  return {
    ...(place !== null && { place }),
    ...(error instanceof StepFailedError && { step: error.step }),
  };
}

const told = (type: string, { place, step }: ReturnType<typeof whereOf>): string =>
  [type, step !== undefined && `in step ${JSON.stringify(step)}`, place !== undefined && `at ${place}`]
    .filter(Boolean)
    .join(" ");
