import type { Answer, Answerer, StoredMessage, TrailEntry } from "../../model/answerer.ts";
import type { Statement } from "../../model/statement.ts";
import type { Time } from "../../model/time.ts";
import type { Bindings } from "../bindings/bindings.ts";
import { blockedFor, type Blocking } from "../handlers/blocking.ts";
import { askingOrder, staysByItself } from "../messages/bursts.ts";
import type { Looking, RouteTable } from "../routes/table.ts";
import { LEFT_OUT, type Asking } from "./asking.ts";
import { aboutAll, attemptOf, labelOf, mergedOf } from "./attempts.ts";
import { askWithNewer, type NewerTexts } from "./newer.ts";

interface RoutesDeps extends Pick<Asking, "askOnce"> {
  bindings: Pick<Bindings, "tableOf">;
  time: Time;
  blocking: Blocking;
}

/** Routes by which somebody asks for something else by its name. */
const NAMED: ReadonlySet<string> = new Set(["keyword", "command"]);

/** The routes of all bots of a number, in their order; the first that does not pass has answered. */
export function createRoutes(deps: RoutesDeps): Answerer["answer"] {
  const { bindings, time, blocking, askOnce } = deps;
  return async (stored, asked): Promise<Answer> => {
    const table = bindings.tableOf(stored.deviceId);
    const trail = leftOut(blocking, table, stored);
    const statements: Statement[] = [];
    const looking = lookingAt(deps, stored, trail);
    const { onInterrupt } = asked;
    for await (const { candidate, message, view, merged: first } of askingOrder(
      table,
      stored,
      asked,
      looking,
    )) {
      const { bot } = candidate;
      if (asked.notes.failedBots.has(bot.id)) continue;
      const newer: NewerTexts = {
        stored,
        waitForMore: asked.waitForMore,
        isOthers: (text) => staysByItself(table, text, candidate, looking),
        renew: (texts) => aboutAll(table, candidate, texts, looking, onInterrupt),
        time,
      };
      const attempt = attemptOf(candidate, message, view, onInterrupt);
      const { result, merged } = await askWithNewer(attempt, first, newer, askOnce);
      trail.push(...result.trail);
      if (result.kind === "failed" || result.kind === "skipped") asked.notes.failedBots.add(bot.id);
      if (result.kind !== "answered" && result.kind !== "ended") {
        statements.push(...result.statements);
        continue;
      }
      const all = [...statements, ...result.statements];
      const answer = { ...result.answer, trail, statements: all, ...mergedOf(merged) };
      const isAside = result.kind === "answered" && result.isAside && NAMED.has(candidate.route.kind);
      return isAside ? ((await asked.notes.comeBack?.(answer)) ?? answer) : answer;
    }
    return { kind: "pass", trail, statements };
  };
}

/** One line for each bot of which nothing runs. */
function leftOut(
  blocking: Pick<Blocking, "isLeftOut">,
  { active }: RouteTable,
  { message }: StoredMessage,
): TrailEntry[] {
  return active
    .filter(
      ({ bot }) => (bot.chats as readonly string[]).includes(message.chatKind) && blocking.isLeftOut(bot.id),
    )
    .map(({ bot }) => ({ by: `bot:${bot.id}`, outcome: "not_asked", detail: LEFT_OUT }));
}

/** Expressions and functions of routes are a bot's own code: what they take is theirs. */
function lookingAt(
  { blocking, time }: Pick<RoutesDeps, "blocking" | "time">,
  { deviceId, message }: StoredMessage,
  trail: TrailEntry[],
): Looking {
  return {
    isLeftOut: blocking.isLeftOut,
    monotonic: time.monotonic,
    looked(entry, ms) {
      const route = labelOf(entry);
      const place = { bot: entry.bot.id, route, device: deviceId, message: message.id };
      if (blocking.noteTime(place, ms))
        trail.push({ by: `bot:${entry.bot.id}`, outcome: "blocked", route, detail: blockedFor(ms) });
    },
  };
}
