import type { Answer, Answered, Answerer, Asked, StoredMessage, TrailEntry } from "../../model/answerer.ts";
import type { Statement } from "../../model/statement.ts";
import { createAsking, LEFT_OUT } from "./asking.ts";
import { aboutAll, attemptOf, handlerOf, hostOf, labelOf, tookOf } from "./attempts.ts";
import type { Bindings } from "../bindings/bindings.ts";
import { blockedFor, createBlocking, type Blocking } from "../handlers/blocking.ts";
import { askingOrder, staysByItself } from "../messages/bursts.ts";
import { dialogueCalled } from "../dialogues/called.ts";
import { lazyView } from "../messages/message-view.ts";
import { askWithNewer, type Attempt, type NewerTexts } from "./newer.ts";
import { notifyObservers } from "./observers.ts";
import type { Work } from "../handlers/run.ts";
import { scopeOf } from "../sessions/scope.ts";
import type { StoredDialogue } from "../sessions/state.ts";
import type { ActiveBot, Looking, RouteTable } from "../routes/table.ts";
import { createTimerAnswers } from "../timers/timer-answers.ts";
import { endRows } from "../handlers/to-rows.ts";
import type { TurnsDeps } from "../handlers/turns.ts";
import type { Dialogue } from "../types.ts";

/** What asking the bots needs: everything that a turn needs, and which bots a number has. */
export interface BotAnswerersDeps extends Omit<TurnsDeps, "blocking" | "hasDialogue"> {
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

/** A dialogue that waits on, while the routes are asked. */
interface Passed {
  active: ActiveBot;
  dialogue: Dialogue<never>;
  under: StoredDialogue;
  label: string;
}

/** Routes by which somebody asks for something else by its name. */
const NAMED: ReadonlySet<string> = new Set(["keyword", "command"]);
const EMPTY: Answer = { kind: "pass", trail: [] };

/**
 * Bots as answerers of the pipeline. Nothing is sent in here: replies and everything else that a handler wants are
 * returned and become rows of the message's commit, so that a crash means being asked again.
 *
 * They reject only when `stopping` aborts: the message is then undecided.
 */
export function createBotAnswerers(deps: BotAnswerersDeps): BotAnswerers {
  const { bindings, state, log, time, checksFlows = false } = deps;
  const blocking = createBlocking(log, time);
  const { ask, askOnce } = createAsking({ ...deps, blocking });
  const answerTimer = createTimerAnswers({ state, time, checksFlows, ask });

  async function observe(stored: StoredMessage): Promise<Answer> {
    notifyObservers({ ...deps, blocking }, bindings.tableOf(stored.deviceId).active, stored);
    return EMPTY;
  }

  async function interrupt(stored: StoredMessage, { paused, notes, onInterrupt }: Asked): Promise<Answer> {
    const view = lazyView(stored.message);
    const trail: TrailEntry[] = [];
    const statements: Statement[] = [];
    const table = bindings.tableOf(stored.deviceId);
    for (const candidate of table.interrupts(stored.message)) {
      const { endsHandoff, pattern } = candidate.route;
      if ((paused && !endsHandoff) || notes.failedBots.has(candidate.bot.id)) continue;
      await state.adopt(table.renamed, stored);
      const under = await state.dialogue(stored.deviceId, scopeOf(stored.message));
      const work = handlerOf(candidate);
      const result = await ask(candidate, stored, `interrupt:${pattern}`, work, null, view, under, {
        onInterrupt,
      });
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

  async function converse(
    stored: StoredMessage,
    { heldUntil, notes, following, onInterrupt }: Asked,
  ): Promise<Answer> {
    const { deviceId, message } = stored;
    const table = bindings.tableOf(deviceId);
    await state.adopt(table.renamed, stored);
    if (message.timer) return answerTimer(table, stored, heldUntil);
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
    const label = `${dialogue.kind}:${dialogue.id}`;
    const attempt = (message: StoredMessage): Attempt => {
      const host = hostOf(table, active, message.message, checksFlows);
      const take = (ctx: Parameters<typeof dialogue.take>[0]) => dialogue.take(ctx, under.state, host);
      const work: Work = { dialogue: dialogue.id, take };
      return {
        active,
        message,
        label,
        work,
        match: null,
        view: lazyView(message.message),
        dialogue: under,
        onInterrupt,
      };
    };
    const isOthers = ({ message: text }: StoredMessage): boolean =>
      table.interrupts(text).length > 0 || table.isNamed(text);
    const newer = { stored, following, isOthers, renew: attempt, time };
    const { result, took } = await askWithNewer(attempt(stored), [], newer, askOnce);
    if (result.kind === "answered" || result.kind === "ended") return { ...result.answer, ...tookOf(took) };
    if (result.kind === "failed") notes.failedBots.add(active.bot.id);
    if (result.kind === "passed" && dialogue.comeBack !== undefined)
      notes.comeBack = (first) => andBack(stored, first, { active, dialogue, under, label });
    return { kind: "pass", trail: result.trail, statements: result.statements };
  }

  /** A word of a bot was answered while a dialogue waits: after that it says again what it waits for. */
  async function andBack(
    stored: StoredMessage,
    first: Answered,
    { active, dialogue, under, label }: Passed,
  ): Promise<Answered> {
    const host = hostOf(bindings.tableOf(stored.deviceId), active, stored.message, checksFlows);
    const work: Work = { dialogue: dialogue.id, take: (ctx) => dialogue.comeBack!(ctx, under.state, host) };
    // Middleware has run around the message already, and the session may have changed in that.
    const plain = { ...active, bot: { ...active.bot, middleware: [], session: null } };
    const firstReply = first.replies.length;
    const view = lazyView(stored.message);
    const second = await ask(plain, stored, label, work, null, view, under, { firstReply });
    if (second.kind !== "answered") return first;
    return {
      ...first,
      replies: [...first.replies, ...second.answer.replies],
      trail: [...first.trail, ...second.trail],
      statements: [...(first.statements ?? []), ...second.statements],
    };
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
    const { onInterrupt } = asked;
    for await (const { candidate, message, view, took: first } of askingOrder(
      table,
      stored,
      asked,
      looking,
    )) {
      const { bot } = candidate;
      if (asked.notes.failedBots.has(bot.id)) continue;
      const newer: NewerTexts = {
        stored,
        following: asked.following,
        isOthers: (text) => staysByItself(table, text, candidate, looking),
        renew: (texts) => aboutAll(table, candidate, texts, looking, onInterrupt),
        time,
      };
      const attempt = attemptOf(candidate, message, view, onInterrupt);
      const { result, took } = await askWithNewer(attempt, first, newer, askOnce);
      trail.push(...result.trail);
      if (result.kind === "failed" || result.kind === "skipped") asked.notes.failedBots.add(bot.id);
      if (result.kind !== "answered" && result.kind !== "ended") {
        statements.push(...result.statements);
        continue;
      }
      const all = [...statements, ...result.statements];
      const answer = { ...result.answer, trail, statements: all, ...tookOf(took) };
      const isAside = result.kind === "answered" && result.isAside && NAMED.has(candidate.route.kind);
      return isAside ? ((await asked.notes.comeBack?.(answer)) ?? answer) : answer;
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

function dialogueOf(
  table: RouteTable,
  { botId, dialogue }: StoredDialogue,
): { active: ActiveBot; dialogue: Dialogue<never> } | null {
  const active = table.bot(botId);
  const known = active && dialogueCalled(active.bot, dialogue);
  return active && known ? { active, dialogue: known } : null;
}
