/** One decision as `GET /devices/{number}/decisions` gives it. */
export interface Decision {
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
  own: "It is a message of this gateway itself.",
  owner: "The owner wrote it on the phone.",
  status: "It is a status broadcast.",
  too_old: "It was older than the number's age limit for answers.",
  muted: "The chat is muted: it had too many automatic replies.",
  loop_guard: "The chat had as many automatic replies as a minute may have.",
  takeover: "A person has the chat: bots keep silent there.",
};

const OUTCOMES: Record<string, string> = {
  answered: "answered",
  passed: "passed it on",
  failed: "failed",
  timed_out: "took too long",
  blocked: "looked at it for too long",
  not_asked: "was not asked",
  forwarded: "was told of it",
  interrupted: "was cut off by a word of the same person",
  merged: "answered it together with",
};

const REASONS: Record<string, string> = {
  circuit_open: "it had failed too often",
  blocks_everybody: "it has blocked everybody too often",
  rate_limited: "it had answered the chat often enough",
  takeover: "a person has the chat",
  expired: "it would have come too late",
  postponed: "it runs when bots may speak again",
};

/** Why a message was or was not answered, in sentences. */
export function sentencesOf(decision: Decision): string[] {
  const { by, route, guard, trail } = decision;
  const answered = by !== null && by.startsWith("bot:");
  const asked = trail.filter((entry) => !entry.by.startsWith("guard:"));
  const gaveBack = trail.some(({ outcome }) => outcome === "gave_back");
  if (gaveBack) return ["The owner gave the chat back to the bots with it."];
  const lines = guard === null ? [] : [GUARDS[guard] ?? `It was held back: ${guard}.`];
  lines.push(...asked.map(sentenceOf));
  if (by === null) lines.push("Nobody answered.");
  else if (route !== null && !asked.some((entry) => entry.by === by))
    lines.push(`${by} answered (${route}).`);
  const told = asked.some((entry) => entry.by === "webhook");
  if (answered && !told) lines.push("The webhook was not asked.");
  if (by === null && asked.length === 0 && guard === null) lines.unshift("No bot has a route for it.");
  return lines;
}

function sentenceOf({ by, outcome, route, detail }: Decision["trail"][number]): string {
  const who = by === "webhook" ? "The webhook" : by;
  const did = OUTCOMES[outcome] ?? outcome;
  if (outcome === "merged") return `${who} ${did} message ${detail}.`;
  const more = [route, detail && (REASONS[detail] ?? detail)].filter(Boolean).join(", ");
  return `${who} ${did}${more === "" ? "" : ` (${more})`}.`;
}
