import { isImported } from "../model/messages.ts";
import type { CameRow, DecisionRow, DeliveryRow } from "./trace-rows.ts";

/** Why a message was not answered, and the same in a sentence. */
const SILENCES = {
  own_message: "The gateway sent this message.",
  owner_wrote: "The owner wrote this message on the phone: bots pause in this chat.",
  owner_handed_back: "The owner handed the chat back to the bots with this message.",
  imported:
    "The message is older than the number's link: WhatsApp's history brought it, and history is never answered.",
  status: "Status updates are never answered.",
  too_old: "The message was too old when its turn came.",
  muted: "The chat is muted because it got too many automatic replies in a minute.",
  loop_guard: "The chat got too many automatic replies in a minute: it is muted for ten minutes.",
  takeover: "A person has taken over the chat: bots pause there.",
  no_match: "No bot of this number has a route for the message, and no webhook gets it.",
  passed: "No one that was asked had an answer.",
  bot_failed: "A bot failed, and no one else answered.",
  bot_silent: "A bot handled the message and did not reply.",
  answer_too_late: "The answer came after this number's age limit for answers.",
  answer_refused: "The database refused data that the answer stores, so the answer was dropped.",
  merged: "The message was answered together with another message of the same person.",
  webhook_waiting: "The webhook has not accepted the message yet; Parley will retry.",
  webhook_silent: "The webhook accepted the message, and its answer held no reply.",
  webhook_failed: "The webhook did not accept the message, and Parley gave up.",
  given_up: "The gateway could not decide about the message; see its log.",
  undecided: "The message is waiting for its turn.",
  unknown: "The decision about the message is no longer stored.",
} as const;

/** Words that `silence.reason` may be. */
export const SILENCE_REASONS = Object.keys(SILENCES) as (keyof typeof SILENCES)[];
/** One of them. */
export type SilenceReason = keyof typeof SILENCES;

/** Why nobody answered. */
export interface Silence {
  reason: SilenceReason;
  /** One sentence in English. */
  text: string;
}

/** Guards whose name is no reason in itself, or is one by another name. */
const OF_GUARDS: Record<string, SilenceReason> = {
  own: "own_message",
  owner: "owner_wrote",
  status: "status",
  too_old: "too_old",
  muted: "muted",
  loop_guard: "loop_guard",
  takeover: "takeover",
};

/**
 * Why a message that came was not answered.
 *
 * @param replies how many there are
 * @returns null when it was answered
 */
export function silenceOf(
  came: Pick<CameRow, "id" | "state">,
  decision: DecisionRow | null,
  delivery: DeliveryRow | null,
  replies: number,
): Silence | null {
  if (replies > 0) return null;
  const reason = decision === null ? undecided(came) : reasonOf(decision, delivery);
  return { reason, text: SILENCES[reason] };
}

function undecided({ id, state }: Pick<CameRow, "id" | "state">): SilenceReason {
  if (isImported(id)) return "imported";
  return state === "pending" ? "undecided" : "unknown";
}

function reasonOf(decision: DecisionRow, delivery: DeliveryRow | null): SilenceReason {
  const { by, guard, trail } = decision;
  const has = (outcome: string): boolean => trail.some((entry) => entry.outcome === outcome);
  if (has("merged")) return "merged";
  if (has("gave_back")) return "owner_handed_back";
  if (trail.some((entry) => entry.by === "pipeline")) return "given_up";
  const held = trail.some((entry) => entry.by === `guard:${guard}`);
  if (guard === "too_old" && !held) return "answer_too_late";
  if (guard !== null && guard !== "takeover") return OF_GUARDS[guard] ?? "unknown";
  // The answer stands in the trail, and its refusal behind it.
  if (by === null && has("answered") && has("failed")) return "answer_refused";
  if (by !== null && by !== "webhook")
    return has("answered") || !failed(decision) ? "bot_silent" : "bot_failed";
  if (guard === "takeover" && delivery?.state !== "delivered") return "takeover";
  if (delivery !== null) return ofWebhook(delivery);
  if (failed(decision)) return "bot_failed";
  return trail.length > 0 ? "passed" : "no_match";
}

const failed = ({ trail }: DecisionRow): boolean =>
  trail.some(({ by, outcome }) => by.startsWith("bot:") && (outcome === "failed" || outcome === "timed_out"));

function ofWebhook({ state }: Pick<DeliveryRow, "state">): SilenceReason {
  if (state === "pending" || state === "retrying") return "webhook_waiting";
  return state === "delivered" ? "webhook_silent" : "webhook_failed";
}
