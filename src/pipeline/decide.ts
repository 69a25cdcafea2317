import type { Logger } from "../log.ts";
import { inStep } from "../model/spans.ts";
import type { Statement } from "../model/statement.ts";
import { StorageUnavailable } from "../store/errors.ts";
import {
  blankNotes,
  type Answer,
  type Answerer,
  type Asked,
  type Forward,
  type MessageNotes,
  type StoredMessage,
  type TrailEntry,
} from "../model/answerer.ts";
import type { Ruling } from "./guards.ts";

type Won = Extract<Answer, { kind: "answer" }>;

/** What came of asking: everything that the message's commit needs. */
export interface Decision {
  /** Null when nobody answered. */
  answer: Won | null;
  trail: TrailEntry[];
  /** Of answerers that passed, and of those that only want to know. */
  statements: Statement[];
  forwards: Forward[];
}

/**
 * Asks the answerers in order; the first that does not pass wins, and those after it are told who did.
 *
 * An answerer that throws has said nothing and the next one is asked. When it is the database that failed, nobody's
 * answer can be kept: that is thrown, and the message is decided anew later.
 *
 * @param lane what waits behind the message
 * @param stopping once true, an answerer that throws was cut off by the end of the gateway: thrown as well
 * @throws StorageUnavailable
 */
export async function decide(
  stored: StoredMessage,
  answerers: Answerer[],
  ruling: Ruling,
  log: Logger,
  stopping: () => boolean,
  { waitForMore, onInterrupt }: Pick<Asked, "waitForMore" | "onInterrupt">,
): Promise<Decision> {
  const decision: Decision = { answer: null, trail: [...ruling.trail], statements: [], forwards: [] };
  if (ruling.ask === "nobody") {
    if (ruling.forward) forwardTo(answerers, stored, null, blankNotes(), decision, log);
    return decision;
  }
  const { heldUntil } = ruling;
  const notes = blankNotes();
  const asked: Asked = {
    notes,
    paused: ruling.ask === "ignoringTakeover",
    waitForMore,
    onInterrupt,
    ...(heldUntil !== undefined && { heldUntil }),
  };
  for (const [position, answerer] of answerers.entries()) {
    if (ruling.ask === "timers" && !answerer.runsTimers) continue;
    if (asked.paused && !answerer.ignoresTakeover) {
      decision.trail.push({ by: answerer.name, outcome: "not_asked", detail: "takeover" });
      continue;
    }
    const answer = await ask(answerer, stored, asked, log, stopping);
    decision.trail.push(...answer.trail);
    if (answer.statements) decision.statements.push(...answer.statements);
    if (answer.kind === "pass") {
      const { afterCommit } = answer;
      if (afterCommit) decision.forwards.push({ statements: [], afterCommit });
      continue;
    }
    decision.answer = answer;
    if (ruling.ask === "timers") break;
    const rest = answerers.slice(position + 1);
    forwardTo(rest, stored, answer.unnamed ? null : answer.by, notes, decision, log);
    for (const message of answer.merged ?? [])
      forwardTo(rest, message, answer.by, blankNotes(), decision, log);
    break;
  }
  return decision;
}

async function ask(
  answerer: Answerer,
  stored: StoredMessage,
  asked: Asked,
  log: Logger,
  stopping: () => boolean,
): Promise<Answer> {
  try {
    return await inStep(`ask ${answerer.name}`, {}, async ({ set }) => {
      const answer = await answerer.answer(stored, asked);
      set({ "parley.answerer": answerer.name, "parley.answered": answer.kind === "answer" });
      return answer;
    });
  } catch (error) {
    if (error instanceof StorageUnavailable || stopping()) throw error;
    return { kind: "pass", trail: [failure(answerer, stored, error, log)] };
  }
}

function forwardTo(
  answerers: Answerer[],
  stored: StoredMessage,
  handledBy: string | null,
  notes: MessageNotes,
  decision: Decision,
  log: Logger,
): void {
  for (const answerer of answerers) {
    try {
      const forward = answerer.forward?.(stored, handledBy, notes) ?? null;
      if (forward === null) continue;
      decision.forwards.push(forward);
      decision.statements.push(...forward.statements);
      decision.trail.push({ by: answerer.name, outcome: "forwarded" });
    } catch (error) {
      decision.trail.push(failure(answerer, stored, error, log));
    }
  }
}

/** The kind of the error only: its text may quote the message. */
function failure(answerer: Answerer, stored: StoredMessage, error: unknown, log: Logger): TrailEntry {
  const detail = error instanceof Error ? error.name : typeof error;
  log.error(
    { err: error, answerer: answerer.name, device: stored.deviceId, message: stored.message.id },
    "an answerer threw; none of its replies are sent",
  );
  return { by: answerer.name, outcome: "failed", detail };
}
