import type { Answer, Answerer, Asked, StoredMessage, TrailEntry } from "../model/answerer.ts";
import type { Bindings } from "./bindings.ts";
import type { Statement } from "../model/statement.ts";
import { blockedFor, createBlocking, type Blocking } from "./blocking.ts";
import { askingOrder } from "./bursts.ts";
import { createBreaker, createReplyRates } from "./breaker.ts";
import { bodyOf, endRows } from "./to-rows.ts";
import { lazyView } from "./message-view.ts";
import { knows, type Work } from "./run.ts";
import { scopeOf } from "./scope.ts";
import type { StoredDialogue } from "./state.ts";
import type { ActiveBot, Candidate, FilterFailure, Looking, RouteEntry, RouteTable } from "./table.ts";
import { notifyObservers } from "./observers.ts";
import { EXPIRE, FLOW_TIMERS, OWN_TIMERS, WAKE } from "./timer-rows.ts";
import { createTurns, type TurnResult, type TurnsDeps } from "./turns.ts";
import type { Dialogue, DialogueHost, Message, Turn } from "./types.ts";

/** What asking the bots needs: everything that a turn needs, and which bots a number has. */
export interface BotAnswerersDeps extends Omit<TurnsDeps, "blocking"> {
  /** Which bots each number has. */
  bindings: Pick<Bindings, "tableOf">;
}

/** In the order in which the pipeline asks them; a webhook that holds a chat comes after `interrupts`. */
export interface BotAnswerers {
  /** Observers, which answer nothing. */
  observers: Answerer;
  /** Words that are heard before anything else. */
  interrupts: Answerer;
  /** The dialogue that is under way, and timers. */
  conversations: Answerer;
  routes: Answerer;
  /** Which bots hold everybody up. */
  blocking: Blocking;
}

const LEFT_OUT = "blocks_everybody";
const EMPTY: Answer = { kind: "pass", trail: [] };

/**
 * Bots as answerers of the pipeline. Nothing is sent in here: replies and everything else that a handler wants are
 * returned and become rows of the message's commit, so that a crash means being asked again.
 *
 * They reject only when `stopping` aborts: the message is then undecided.
 */
export function createBotAnswerers(deps: BotAnswerersDeps): BotAnswerers {
  const { bindings, state, log, time, checksFlows = false } = deps;
  const breaker = createBreaker(time.now);
  const rates = createReplyRates(time.now);
  const blocking = createBlocking(log, time);
  const turns = createTurns({ ...deps, blocking });
  /** Asks one bot, unless it has failed too often or answers this chat too often. */
  async function ask(
    active: ActiveBot,
    stored: StoredMessage,
    label: string,
    work: Work,
    match: unknown,
    view: () => Message,
    dialogue: StoredDialogue | null,
  ): Promise<TurnResult> {
    const { bot } = active;
    const { deviceId, message } = stored;
    const by = `bot:${bot.id}`;
    const notAsked = (detail: string): TurnResult => ({
      kind: "skipped",
      trail: [{ by, outcome: "not_asked", route: label, detail }],
      statements: [],
    });
    if (blocking.isLeftOut(bot.id)) return notAsked(LEFT_OUT);
    if (breaker.isOpen(deviceId, bot.id)) return notAsked("circuit_open");
    const chat = `${deviceId}:${bot.id}:${message.chatKey}`;
    if (bot.rate !== null && !rates.allows(chat, bot.rate)) return notAsked("rate_limited");
    const result = await turns.run(active, stored, { label, work, match, view, dialogue });
    if (result.kind === "failed" || result.kind === "ended") {
      if (breaker.failed(deviceId, bot.id))
        log.error({ bot: bot.id, device: deviceId }, "a bot keeps failing; it is not asked for a minute");
    }
    // Passing a message on proves nothing: a bot may do so in one route and fail in the next.
    if (result.kind === "answered") breaker.succeeded(deviceId, bot.id);
    if (result.kind === "answered" && bot.rate !== null) rates.count(chat);
    return result;
  }

  async function observe(stored: StoredMessage): Promise<Answer> {
    notifyObservers({ ...deps, blocking }, bindings.tableOf(stored.deviceId).active, stored);
    return EMPTY;
  }

  async function interrupt(stored: StoredMessage, { paused, notes }: Asked): Promise<Answer> {
    const view = lazyView(stored.message);
    const trail: TrailEntry[] = [];
    const statements: Statement[] = [];
    for (const candidate of bindings.tableOf(stored.deviceId).interrupts(stored.message)) {
      const { endsHandoff, pattern } = candidate.route;
      if ((paused && !endsHandoff) || notes.failedBots.has(candidate.bot.id)) continue;
      const under = await state.dialogue(stored.deviceId, scopeOf(stored.message));
      const work = handlerOf(candidate);
      const result = await ask(candidate, stored, `interrupt:${pattern}`, work, null, view, under);
      trail.push(...result.trail);
      if (result.kind !== "answered" && result.kind !== "ended") {
        statements.push(...result.statements);
        if (result.kind !== "passed") notes.failedBots.add(candidate.bot.id);
        continue;
      }
      const chat = result.answer.chat ?? {};
      // Who hands over again has not ended it.
      if (paused && chat.takeoverUntil === undefined) chat.takeoverEnded = true;
      return { ...result.answer, trail, chat, statements: [...statements, ...result.statements] };
    }
    return { kind: "pass", trail, statements };
  }

  async function converse(stored: StoredMessage, { heldUntil, notes }: Asked): Promise<Answer> {
    const { deviceId, message } = stored;
    const table = bindings.tableOf(deviceId);
    if (message.timer && heldUntil !== undefined) return postpone(stored, heldUntil);
    if (message.timer) return runTimer(table, stored);
    if (!table.active.some(({ bot }) => bot.dialogues.size > 0)) return EMPTY;
    const scope = scopeOf(message);
    const under = await state.dialogue(deviceId, scope);
    if (under === null) return EMPTY;
    const known = dialogueOf(table, under);
    const isOver = under.expiresAt !== null && under.expiresAt <= time.now();
    // A bot that is off here may come back; what it does not know any more cannot go on.
    if (known === null && !isOver && table.bot(under.botId) === null) return EMPTY;
    if (known === null || isOver)
      return { ...EMPTY, statements: endRows(state, deviceId, under.botId, scope) };
    const { active, dialogue } = known;
    if (notes.failedBots.has(active.bot.id)) return EMPTY;
    const host = hostOf(table, active, message, checksFlows);
    const take = (ctx: Parameters<typeof dialogue.take>[0]) => dialogue.take(ctx, under.state, host);
    const label = `${dialogue.kind}:${dialogue.id}`;
    const work: Work = { dialogue: dialogue.id, take };
    const result = await ask(active, stored, label, work, null, lazyView(message), under);
    if (result.kind === "answered" || result.kind === "ended") return result.answer;
    if (result.kind === "failed") notes.failedBots.add(active.bot.id);
    return { kind: "pass", trail: result.trail, statements: result.statements };
  }

  /** A person has the chat, or it got too much already: the timer runs afterwards. */
  function postpone(stored: StoredMessage, dueAt: number): Answer {
    const { deviceId, message } = stored;
    const { botId, key, data } = message.timer!;
    // A dialogue that expires meanwhile does so in silence, and nobody is reminded of it after a talk with a person.
    if (key.startsWith(OWN_TIMERS)) return EMPTY;
    const timer = { key, dueAt, body: bodyOf(stored, data) };
    const trail = [{ by: `bot:${botId}`, outcome: "not_asked", route: `timer:${key}`, detail: "postponed" }];
    return {
      kind: "pass",
      trail,
      statements: state.postponeTimer(deviceId, botId, scopeOf(message), timer),
    };
  }

  async function runTimer(table: RouteTable, stored: StoredMessage): Promise<Answer> {
    const { deviceId, message } = stored;
    const { botId, key } = message.timer!;
    const active = table.bot(botId);
    const by = `bot:${botId}`;
    if (active === null)
      return { kind: "pass", trail: [{ by, outcome: "not_asked", detail: "not on this number" }] };
    const scope = scopeOf(message);
    const under = await state.dialogue(deviceId, scope);
    const isBusy = under !== null && (under.expiresAt === null || under.expiresAt > time.now());
    const work = timerWork(table, active, stored, { under, isBusy, checksFlows });
    if (work === null)
      return { kind: "pass", trail: [{ by, outcome: "not_asked", detail: `no timer ${key}` }] };
    const result = await ask(active, stored, `timer:${key}`, work, null, lazyView(message), under);
    if (result.kind === "answered" || result.kind === "ended") return result.answer;
    return { kind: "pass", trail: result.trail, statements: result.statements };
  }

  /** One line for each bot of which nothing runs. */
  function leftOut({ active }: RouteTable, { message }: StoredMessage): TrailEntry[] {
    return active
      .filter(
        ({ bot }) =>
          (bot.chats as readonly string[]).includes(message.chatKind) && blocking.isLeftOut(bot.id),
      )
      .map(({ bot }) => ({ by: `bot:${bot.id}`, outcome: "not_asked", detail: LEFT_OUT }));
  }

  /** Expressions and functions of routes are a bot's own code: what they take is theirs. */
  function lookingAt({ deviceId, message }: StoredMessage, trail: TrailEntry[]): Looking {
    return {
      isLeftOut: blocking.isLeftOut,
      monotonic: time.monotonic,
      looked(entry, ms) {
        const route = labelOf(entry);
        const place = { bot: entry.bot.id, route, device: deviceId, message: message.id };
        if (blocking.took(place, ms))
          trail.push({ by: `bot:${entry.bot.id}`, outcome: "blocked", route, detail: blockedFor(ms) });
      },
    };
  }

  async function route(stored: StoredMessage, asked: Asked): Promise<Answer> {
    const table = bindings.tableOf(stored.deviceId);
    const trail = leftOut(table, stored);
    const statements: Statement[] = [];
    const looking = lookingAt(stored, trail);
    for await (const { candidate, message, view, took } of askingOrder(table, stored, asked, looking)) {
      const { bot } = candidate;
      if (asked.notes.failedBots.has(bot.id)) continue;
      const work = handlerOf(candidate);
      const match = "match" in candidate ? candidate.match : null;
      const result = await ask(candidate, message, labelOf(candidate), work, match, view, null);
      trail.push(...result.trail);
      if (result.kind === "failed" || result.kind === "skipped") asked.notes.failedBots.add(bot.id);
      if (result.kind !== "answered" && result.kind !== "ended") {
        statements.push(...result.statements);
        continue;
      }
      const all = [...statements, ...result.statements];
      return { ...result.answer, trail, statements: all, ...(took.length > 0 && { took }) };
    }
    return { kind: "pass", trail, statements };
  }

  return {
    observers: { name: "observers", ignoresTakeover: true, answer: observe },
    interrupts: { name: "interrupts", ignoresTakeover: true, answer: interrupt },
    conversations: { name: "conversations", ignoresTakeover: false, runsTimers: true, answer: converse },
    routes: { name: "bots", ignoresTakeover: false, answer: route },
    blocking,
  };
}

/** What a dialogue may ask about a bot of this number. */
const hostOf = (
  table: RouteTable,
  { bot }: ActiveBot,
  message: StoredMessage["message"],
  checksFlows: boolean,
): DialogueHost => ({
  checksFlows,
  knows: (dialogue) => knows(bot, dialogue),
  isRouted: () => table.isNamed(message),
});

/** What runs when a timer of a bot has come; null: nobody is there for it. */
function timerWork(
  table: RouteTable,
  active: ActiveBot,
  stored: StoredMessage,
  { under, isBusy, checksFlows }: { under: StoredDialogue | null; isBusy: boolean; checksFlows: boolean },
): Work | null {
  const { key, data } = stored.message.timer!;
  if (key.startsWith(OWN_TIMERS)) return idleWork(table, stored, under, checksFlows);
  if (!key.startsWith(FLOW_TIMERS))
    return workOf(active.bot.routes.find((route) => route.kind === "timer" && route.word === key));
  const id = key.slice(FLOW_TIMERS.length).split(":")[0]!;
  const dialogue = dialogueCalled(active, id);
  if (dialogue?.resume === undefined) return null;
  const host = hostOf(table, active, stored.message, checksFlows);
  return { dialogue: dialogue.id, take: (ctx) => dialogue.resume!(ctx, data, host, isBusy) };
}

/** A dialogue that nobody has gone on with: it asks again, or ends. */
function idleWork(
  table: RouteTable,
  { message }: StoredMessage,
  under: StoredDialogue | null,
  checksFlows: boolean,
): Work | null {
  const { botId, key, data } = message.timer!;
  if (under === null || under.botId !== botId) return null;
  const known = dialogueOf(table, under);
  if (!known || under.dialogue !== (data as { dialogue?: string } | null)?.dialogue) return null;
  const { active, dialogue } = known;
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

function handlerOf(candidate: Candidate | FilterFailure): Work {
  if (!("error" in candidate)) return { handler: candidate.route.handler as never };
  return {
    handler: () => {
      throw candidate.error;
    },
  };
}

const workOf = (route: Candidate["route"] | undefined): Work | null =>
  route === undefined ? null : { handler: route.handler as never };

function labelOf({ route }: RouteEntry): string {
  return route.kind === "fallback" ? route.kind : `${route.kind}:${route.pattern}`;
}

/** By its id, or by one that it had before. */
function dialogueCalled({ bot }: ActiveBot, id: string): Dialogue<never> | null {
  const { dialogues } = bot;
  return dialogues.get(id) ?? [...dialogues.values()].find(({ was }) => was?.includes(id)) ?? null;
}

function dialogueOf(
  table: RouteTable,
  { botId, dialogue }: StoredDialogue,
): { active: ActiveBot; dialogue: Dialogue<never> } | null {
  const active = table.bot(botId);
  const known = active && dialogueCalled(active, dialogue);
  return active && known ? { active, dialogue: known } : null;
}
