import { sentAt, type Incoming } from "../model/messages.ts";
import type { ChatChange, TrailEntry } from "../model/answerer.ts";
import { MINUTE_MS } from "../model/time.ts";
import type { ChatFacts } from "./chats.ts";

/** Why a message is not answered, or not by everybody. Stands in the decision. */
export type Guard = "own" | "owner" | "status" | "too_old" | "muted" | "loop_guard" | "takeover";

/** What guards allow. */
export interface Ruling {
  /** The first guard that held, in the order of `Guard`'s checks; null when none did. */
  guard: Guard | null;
  /** `all`, only those who ignore a takeover, only those who run timers, or nobody. */
  ask: "all" | "ignoringTakeover" | "timers" | "nobody";
  /** Whether a message that is not answered is told to those who only want to know (the webhook). */
  forward: boolean;
  /** Of a timer that may not run now: Unix milliseconds from which it may. */
  heldUntil?: number;
  change: ChatChange;
  trail: TrailEntry[];
}

/** Limits on what bots and webhooks may say by themselves. */
interface GuardLimits {
  takeoverMinutes: number;
  /** Automatic replies per chat in one minute; 0 is no limit. */
  loopGuardPerMinute: number;
}

/** How long a chat gets no automatic replies after it had too many. */
const LOOP_GUARD_MUTE_MS = 10 * MINUTE_MS;

const GAVE_BACK: TrailEntry = { by: "guard:owner", outcome: "gave_back" };

/** What the owner's phone reports without the owner having written something. */
const NOT_WRITTEN = new Set(["reaction", "poll_vote", "revoke", "unknown"]);

/**
 * Decides who may answer a message, before anybody is asked. Pure: what it changes is in `change`.
 *
 * @param ownEcho       the message is one that we sent
 * @param replyMaxAge   seconds
 * @param now           Unix milliseconds
 */
export function judgeMessage(
  message: Incoming,
  facts: ChatFacts,
  limits: GuardLimits,
  { ownEcho, replyMaxAge, now }: { ownEcho: boolean; replyMaxAge: number; now: number },
): Ruling {
  if (message.timer) return judgeTimer(facts, limits, now);
  if (ownEcho) return silence("own", false);
  // Status broadcasts never leave the gateway, the owner's own included.
  if (message.chatKind === "status") return silence("status", false);
  if (message.handsBack) return { ...silence("owner", false, { takeoverEnded: true }), trail: [GAVE_BACK] };
  if (message.fromMe) return silence("owner", true, takeover(message, limits, now));
  const change = { lastIncomingAt: Math.min(now, sentAt(message)) };
  const strict = silencingGuard(message, facts, limits, replyMaxAge, now);
  const paused = facts.takeoverUntil > now;
  if (strict === null)
    return {
      ...speech(),
      change,
      ...(paused && { guard: "takeover", ask: "ignoringTakeover", trail: [held("takeover")] }),
    };
  const ruling = silence(
    strict,
    true,
    strict === "loop_guard" ? { ...change, mutedUntil: now + LOOP_GUARD_MUTE_MS } : change,
  );
  if (paused) ruling.trail.unshift(held("takeover"));
  return ruling;
}

/** A timer is no message: nobody is told of it, and it changes nothing in the chat. One that may not run now waits. */
function judgeTimer(facts: ChatFacts, limits: GuardLimits, now: number): Ruling {
  const asked: Ruling = { ...speech(), ask: "timers" };
  const later = (guard: Guard, heldUntil: number): Ruling => ({
    ...asked,
    guard,
    heldUntil,
    trail: [held(guard)],
  });
  if (facts.takeoverUntil > now) return later("takeover", facts.takeoverUntil);
  if (facts.mutedUntil > now) return later("muted", facts.mutedUntil);
  return mayReply(facts, limits, now) ? asked : later("loop_guard", now + MINUTE_MS);
}

/** Whether the answer would come later than the number's owner wants any answer to come. */
export function isTooOld(message: Incoming, replyMaxAge: number, now: number): boolean {
  return now - sentAt(message) > replyMaxAge * 1000;
}

/** Whether the loop guard lets automatic replies into the chat now. */
export function mayReply(
  facts: ChatFacts,
  { loopGuardPerMinute }: Pick<GuardLimits, "loopGuardPerMinute">,
  now: number,
): boolean {
  if (facts.mutedUntil > now) return false;
  return loopGuardPerMinute === 0 || repliesOfLastMinute(facts, now) < loopGuardPerMinute;
}

function repliesOfLastMinute(facts: ChatFacts, now: number): number {
  return facts.repliedAt.filter((at) => at > now - MINUTE_MS).length;
}

/** Remembers automatic replies for the loop guard; only the last minute counts. */
export function countReplies(facts: ChatFacts, replies: number, now: number): void {
  facts.repliedAt = facts.repliedAt.filter((at) => at > now - MINUTE_MS);
  for (let count = 0; count < replies; count++) facts.repliedAt.push(now);
}

function silencingGuard(
  message: Incoming,
  facts: ChatFacts,
  limits: GuardLimits,
  replyMaxAge: number,
  now: number,
): Guard | null {
  if (isTooOld(message, replyMaxAge, now)) return "too_old";
  if (facts.mutedUntil > now) return "muted";
  return mayReply(facts, limits, now) ? null : "loop_guard";
}

/** Counted from when the owner wrote: a message that reaches us late must not silence bots for the time after. */
function takeover(message: Incoming, { takeoverMinutes }: GuardLimits, now: number): ChatChange {
  if (takeoverMinutes === 0 || NOT_WRITTEN.has(message.type)) return {};
  return { takeoverUntil: Math.min(now, sentAt(message)) + takeoverMinutes * MINUTE_MS };
}

function speech(): Ruling {
  return { guard: null, ask: "all", forward: true, change: {}, trail: [] };
}

function silence(guard: Guard, forward: boolean, change: ChatChange = {}): Ruling {
  return { guard, ask: "nobody", forward, change, trail: [held(guard)] };
}

function held(guard: Guard): TrailEntry {
  return { by: `guard:${guard}`, outcome: "held" };
}
