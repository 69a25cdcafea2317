import type { Answer, StoredMessage } from "../../model/answerer.ts";
import type { BotTimer } from "../../model/messages.ts";
import type { Time } from "../../model/time.ts";
import type { Ask } from "../answerers/asking.ts";
import { hostOf } from "../answerers/attempts.ts";
import { dialogueCalled } from "../dialogues/called.ts";
import { lazyView } from "../messages/message-view.ts";
import type { Work } from "../handlers/run.ts";
import { scopeOf } from "../sessions/scope.ts";
import type { BotState, StoredDialogue } from "../sessions/state.ts";
import type { ActiveBot, Candidate, RouteTable } from "../routes/table.ts";
import { timerName } from "./timer-calls.ts";
import { EXPIRE, FLOW_TIMERS, OWN_TIMERS, REMIND, WAKE } from "./timer-rows.ts";
import { bodyOf } from "../handlers/to-rows.ts";
import type { Turn } from "../types.ts";

/** What answering a timer takes. */
interface TimerAnswersDeps {
  state: Pick<BotState, "dialogue" | "setTimerUnlessSet" | "signals">;
  time: Pick<Time, "now">;
  checksFlows: boolean;
  ask: Ask;
}

/** Answers a timer of a bot that has come back as a message. */
export type TimerAnswer = (
  table: RouteTable,
  stored: StoredMessage,
  heldUntil: number | undefined,
) => Answer | Promise<Answer>;

/** @returns what becomes of a timer: it runs, it runs later, or it comes too late */
export function createTimerAnswers({ state, time, checksFlows, ask }: TimerAnswersDeps): TimerAnswer {
  /** A person has the chat, or it got too much already: the timer runs afterwards. */
  function postpone(table: RouteTable, stored: StoredMessage, dueAt: number): Answer {
    const { deviceId, message } = stored;
    const { key, id = null, data, expiresAt } = message.timer!;
    const botId = table.bot(message.timer!.botId)?.bot.id ?? message.timer!.botId;
    // A dialogue that expires meanwhile does so in silence, and nobody is reminded of it after a talk with a person.
    if (key === REMIND || key === EXPIRE) return { kind: "pass", trail: [] };
    const body = { ...bodyOf(stored, data), ...(expiresAt !== undefined && { expiresAt }) };
    const timer = { key: timerName(key, id), dueAt, body, heldIn: message.chatKey };
    const trail = [{ by: `bot:${botId}`, outcome: "not_asked", route: `timer:${key}`, detail: "postponed" }];
    return {
      kind: "pass",
      trail,
      statements: state.setTimerUnlessSet(deviceId, botId, scopeOf(message), timer),
    };
  }

  async function runTimer(table: RouteTable, stored: StoredMessage): Promise<Answer> {
    const { deviceId, message } = stored;
    const { botId, key } = message.timer!;
    const active = table.bot(botId);
    const by = `bot:${active?.bot.id ?? botId}`;
    if (active === null)
      return { kind: "pass", trail: [{ by, outcome: "not_asked", detail: "not on this number" }] };
    const scope = scopeOf(message);
    const under = await state.dialogue(deviceId, scope);
    const isBusy = under !== null && (under.expiresAt === null || under.expiresAt > time.now());
    const sent = (keys: readonly string[]): Promise<unknown[]> =>
      state.signals(deviceId, active.bot.id, scope, keys);
    const work = timerWork(table, active, stored, { under, isBusy, checksFlows, sent });
    if (work === null)
      return { kind: "pass", trail: [{ by, outcome: "not_asked", detail: `no timer ${key}` }] };
    const result = await ask(active, stored, `timer:${key}`, work, null, lazyView(message), under);
    if (result.kind === "answered" || result.kind === "ended") return result.answer;
    return { kind: "pass", trail: result.trail, statements: result.statements };
  }

  return (table, stored, heldUntil) => {
    const timer = stored.message.timer!;
    if (comesTooLate(timer, heldUntil ?? time.now())) return expired(timer);
    return heldUntil === undefined ? runTimer(table, stored) : postpone(table, stored, heldUntil);
  };
}

const comesTooLate = ({ expiresAt = Infinity }: BotTimer, at: number): boolean => expiresAt < at;

/** Whatever held it up, it would come too late. */
const expired = ({ botId, key }: BotTimer): Answer => ({
  kind: "pass",
  trail: [{ by: `bot:${botId}`, outcome: "not_asked", route: `timer:${key}`, detail: "expired" }],
});

/** What runs when a timer of a bot has come; null: nobody is there for it. */
function timerWork(
  table: RouteTable,
  active: ActiveBot,
  stored: StoredMessage,
  {
    under,
    isBusy,
    checksFlows,
    sent,
  }: {
    under: StoredDialogue | null;
    isBusy: boolean;
    checksFlows: boolean;
    sent(keys: readonly string[]): Promise<unknown[]>;
  },
): Work | null {
  const { key, data } = stored.message.timer!;
  if (key.startsWith(OWN_TIMERS)) return idleWork(table, active, stored, { under, checksFlows });
  if (!key.startsWith(FLOW_TIMERS))
    return workOf(active.bot.routes.find((route) => route.kind === "timer" && route.word === key));
  const id = key.slice(FLOW_TIMERS.length).split(":")[0]!;
  const dialogue = dialogueCalled(active.bot, id);
  if (dialogue?.resume === undefined) return null;
  const host = hostOf(table, active, stored.message, checksFlows);
  return { dialogue: dialogue.id, take: (ctx) => dialogue.resume!(ctx, data, host, { isBusy, sent }) };
}

/** A dialogue that nobody has gone on with: it asks again, or ends. */
function idleWork(
  table: RouteTable,
  active: ActiveBot,
  { message }: StoredMessage,
  { under, checksFlows }: { under: StoredDialogue | null; checksFlows: boolean },
): Work | null {
  const { key, data } = message.timer!;
  if (under === null || table.bot(under.botId) !== active) return null;
  const dialogue = dialogueCalled(active.bot, under.dialogue);
  if (!dialogue || under.dialogue !== (data as { dialogue?: string } | null)?.dialogue) return null;
  const host = hostOf(table, active, message, checksFlows);
  return {
    dialogue: dialogue.id,
    async take(ctx): Promise<Turn> {
      if (key === WAKE) return (await dialogue.wake?.(ctx, under.state, host)) ?? { kind: "pass" };
      if (key === EXPIRE) {
        await dialogue.expired?.(ctx, under.state);
        return { kind: "end", note: "expired" };
      }
      return { kind: "continue", state: (await dialogue.remind(ctx, under.state, host)) ?? under.state };
    },
  };
}

const workOf = (route: Candidate["route"] | undefined): Work | null =>
  route === undefined ? null : { handler: route.handler as never };
