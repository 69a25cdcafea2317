/** One decision as `GET /devices/{number}/decisions` gives it. */
export interface ShownDecision {
  message_id: string;
  chat: string;
  type: string;
  by: string | null;
  route: string | null;
  guard: string | null;
  trail: { by: string; outcome: string; route?: string; detail?: string }[];
  at: string;
}

const GUARDS: Record<string, string> = {
  own: "The gateway sent this message.",
  owner: "The owner wrote this message on the phone.",
  status: "The message is a status broadcast.",
  too_old: "The message was older than the number's age limit for answers.",
  muted: "The chat is muted because it got too many automatic replies.",
  loop_guard: "The chat got too many automatic replies in a minute.",
  takeover: "A person has taken over the chat: bots pause there.",
};

const OUTCOMES: Record<string, string> = {
  answered: "answered",
  passed: "passed it on",
  failed: "failed",
  timed_out: "took too long",
  blocked: "blocked the event loop",
  not_asked: "was not asked",
  forwarded: "got the message",
  interrupted: "was interrupted by the same person",
  merged: "answered it together with",
};

const REASONS: Record<string, string> = {
  circuit_open: "it had failed too often",
  blocks_everybody: "it had blocked the event loop too often",
  rate_limited: "it had reached its limit of answers in this chat",
  takeover: "a person has taken over the chat",
  expired: "the answer would have come too late",
  postponed: "it runs once bots may answer in this chat again",
};

const NAMES: Record<string, string> = { webhook: "The webhook", listeners: "Listeners" };

/** What `GET /devices/{number}/why` says of a webhook that takes nothing. */
export interface ShownTrouble {
  state: string;
  failing_since: string | null;
  next_attempt_at: string | null;
}

/** Whether the webhook did not take this message. */
export const webhookFailed = ({ trail }: Pick<ShownDecision, "trail">): boolean =>
  trail.some(({ by, outcome }) => by === "webhook" && outcome === "failed");

function troubleSentence({ state, failing_since: since, next_attempt_at: next }: ShownTrouble): string {
  const fails = `The webhook ${since === null ? "fails" : `has failed since ${since}`}`;
  if (state === "disabled") return `${fails} and was switched off: set it again when the receiver works.`;
  return `${fails}; the event is kept${next === null ? "" : `, and the next try is at ${next}`}.`;
}

/** Why a message was or was not answered, in sentences. @param trouble of the number's webhook now, if it has failed */
export function sentencesOf(decision: ShownDecision, trouble: ShownTrouble | null = null): string[] {
  const { by, route, guard, trail } = decision;
  const answered = by !== null && by.startsWith("bot:");
  const asked = trail.filter((entry) => !entry.by.startsWith("guard:"));
  const answering = asked.filter((entry) => entry.by !== "listeners");
  const gaveBack = trail.some(({ outcome }) => outcome === "gave_back");
  if (gaveBack) return ["The owner handed the chat back to the bots with this message."];
  const lines = guard === null ? [] : [GUARDS[guard] ?? `A guard kept the bots silent: ${guard}.`];
  lines.push(...asked.map(sentenceOf));
  if (by === null && !webhookFailed(decision)) lines.push("Nobody answered.");
  else if (by === null)
    lines.push("Nobody has answered yet.", ...(trouble ? [troubleSentence(trouble)] : []));
  else if (route !== null && !asked.some((entry) => entry.by === by))
    lines.push(`${by} answered (${route}).`);
  const told = asked.some((entry) => entry.by === "webhook");
  if (answered && !told) lines.push("The webhook was not asked.");
  if (by === null && answering.length === 0 && guard === null)
    lines.unshift("No bot has a route for the message.");
  return lines;
}

function sentenceOf({ by, outcome, route, detail }: ShownDecision["trail"][number]): string {
  const who = NAMES[by] ?? by;
  const did = OUTCOMES[outcome] ?? outcome;
  if (outcome === "merged") return `${who} ${did} message ${detail}.`;
  const more = [route, detail && (REASONS[detail] ?? detail)].filter(Boolean).join(", ");
  return `${who} ${did}${more === "" ? "" : ` (${more})`}.`;
}
