import { withSentence } from "../model/errors/error-sentences.ts";
import { ENDED_STATES, isImported, SENT_STATES, type SentState } from "../model/messages.ts";
import type { CameRow, DecisionRow, DeliveryRow, WentRow } from "./trace-rows.ts";

/** Steps that a trace may have. */
export const TRACE_STEPS = [
  "sent",
  "stored",
  "lane",
  "guard",
  "asked",
  "decided",
  "reply",
  "acknowledged",
  "delivered",
  "read",
  "played",
  "failed",
  "expired",
  "cancelled",
  "delivery",
  "attempt",
] as const;

/** One step of a message's way. What is not known, or does not belong to the step, is missing or null. */
export interface TraceStep {
  step: (typeof TRACE_STEPS)[number];
  /** Unix milliseconds; null: no row says when. */
  at: number | null;
  /** How long it took. */
  ms?: number;
  by?: string;
  outcome?: string;
  route?: string;
  detail?: string;
  id?: string;
  count?: number;
  /** The commit that made it so, and what it held. */
  commit?: { name: "T1" | "T2"; held: string[] };
}

/** As the pipeline asks them; `takeover` keeps bots alone from being asked. */
const GUARDS = ["own", "status", "owner", "too_old", "muted", "loop_guard", "takeover"];
/** Those after which nobody looks whether a person has the chat. */
const FINAL = new Set(["own", "status", "owner"]);
/** What T1 holds of a message that came encrypted, which posts of channels and calls do not. */
const ENCRYPTED = ["ratchet", "ciphertext_hash"];

/** What happened to a message until it was decided, in order. */
export function stepsOf(came: CameRow, decision: DecisionRow | null): TraceStep[] {
  const { timestamp, receivedAt, type, chat } = came;
  // When it was imported no row says.
  if (isImported(came.id)) return [{ step: "sent", at: timestamp * 1000 }];
  const clear = type === "call" || chat.endsWith("@newsletter");
  const held = [...(clear ? [] : ENCRYPTED), "inbox", ...(type === "poll_vote" ? ["votes"] : [])];
  return [
    { step: "sent", at: timestamp > 0 ? timestamp * 1000 : null },
    { step: "stored", at: receivedAt, commit: { name: "T1", held } },
    ...(decision === null ? [] : stepsOfDecision(came, decision)),
  ];
}

function stepsOfDecision({ receivedAt }: CameRow, decision: DecisionRow): TraceStep[] {
  const { way, at } = decision;
  const begun = way === null ? null : at - way.asked;
  return [
    {
      step: "lane",
      at: begun,
      ...(way !== null && { ms: Math.max(0, begun! - receivedAt), count: way.ahead }),
    },
    ...verdicts(decision),
    ...decision.trail.filter(({ by }) => !by.startsWith("guard:")).map(askedStep),
  ];
}

/** Each guard with its verdict; nothing when the decision was made in another way. */
function verdicts({ trail, guard }: DecisionRow): TraceStep[] {
  if (trail.some(({ by, outcome }) => by === "pipeline" || outcome === "merged")) return [];
  const said = new Map(
    trail
      .filter(({ by }) => by.startsWith("guard:"))
      .map(({ by, outcome }) => [by.slice("guard:".length), outcome]),
  );
  const stop = GUARDS.find((name) => name !== "takeover" && said.has(name)) ?? null;
  return GUARDS.map((name, place) => {
    const after = stop !== null && place > GUARDS.indexOf(stop);
    const asked = !after || (name === "takeover" && !FINAL.has(stop));
    // A later version may know a guard of another name: then nothing is said of the others.
    const unknown = guard !== null && !GUARDS.includes(guard);
    const outcome = said.get(name) ?? (asked && !unknown ? "passed" : "not_asked");
    return { step: "guard", at: null, by: `guard:${name}`, outcome };
  });
}

const askedStep = (entry: DecisionRow["trail"][number] & { route?: string }): TraceStep => ({
  step: "asked",
  at: null,
  ...entry,
});

/** The commit of the decision. */
export function decidedStep({ by, route, way, at }: DecisionRow): TraceStep {
  return {
    step: "decided",
    at,
    ...(way !== null && { ms: way.asked }),
    ...(by !== null && { by }),
    ...(route !== null && { route }),
    commit: { name: "T2", held: ["decision", ...Object.keys(way?.held ?? {})] },
  };
}

/** A delivery to the webhook, and its attempts. */
export const stepsOfDelivery = ({ id, state, createdAt, tried }: DeliveryRow): TraceStep[] => [
  { step: "delivery", at: createdAt, id, outcome: state },
  ...tried.map(({ attempt, at, statusCode, durationMs, error }) => ({
    step: "attempt" as const,
    at,
    ms: durationMs,
    id,
    count: attempt,
    outcome: statusCode === null ? "no_answer" : String(statusCode),
    ...(error !== null && { detail: error }),
  })),
];

/**
 * A reply that was stored, and how far it has come. WhatsApp tells of receipts in whole seconds: as everywhere, no step comes
 * before the one that made it possible.
 *
 * @param decidedAt its row is made some moments before the decision's, and both are stored by the same commit
 */
export function stepsOfReply(reply: WentRow, decidedAt: number): TraceStep[] {
  const at = Math.max(reply.createdAt, decidedAt);
  const stored = { step: "reply" as const, at, id: reply.waId, by: reply.origin, outcome: reply.state };
  const later = stepsOnTheWay(reply).map((step) => ({ ...step, at: step.at && Math.max(step.at, at) }));
  return [stored, ...later];
}

const NAMES = { sent: "acknowledged", delivered: "delivered", read: "read", played: "played" } as const;

const isEnd = (state: SentState): state is (typeof ENDED_STATES)[number] =>
  (ENDED_STATES as readonly SentState[]).includes(state);

/** What became of a message that the gateway sends, as far as its row says when. */
export function stepsOnTheWay(row: WentRow): TraceStep[] {
  const times = { sent: row.sentAt, delivered: row.deliveredAt, read: row.readAt, played: row.playedAt };
  const reached = SENT_STATES.filter((state) => state !== "queued").flatMap((state): TraceStep[] =>
    times[state] === null ? [] : [{ step: NAMES[state], at: times[state], id: row.waId }],
  );
  if (!isEnd(row.state)) return reached;
  const detail = row.error ? withSentence(row.error).message : undefined;
  return [
    ...reached,
    { step: row.state, at: row.endedAt, id: row.waId, ...(detail !== undefined && { detail }) },
  ];
}
