import { orderRoutes, type ActiveBot, type RouteEntry } from "./table.ts";

/** Something about a number's bots that works otherwise than its author may think. */
export interface Conflict {
  kind: "same_word" | "unreachable" | "webhook_shut_out";
  /** Who answers. */
  winner: { bot: string; route: string };
  /** Who is never asked, or only when the winner passes; null: the webhook. */
  loser: { bot: string; route: string } | null;
  /** One sentence for people. */
  text: string;
}

const NAMED = new Set(["keyword", "command", "interrupt"]);

/**
 * Finds words that two routes claim, routes behind a `fallback`, and a `fallback` that takes every message from the
 * webhook. None of them stops a bot: a winner may pass with `next()`.
 */
export function findConflicts(active: readonly ActiveBot[]): Conflict[] {
  const entries = orderRoutes(active);
  return [...sameWords(entries), ...behindFallbacks(entries)];
}

function sameWords(entries: RouteEntry[]): Conflict[] {
  const first = new Map<string, RouteEntry[]>();
  return entries.flatMap((entry): Conflict[] => {
    const { kind, word } = entry.route;
    if (!NAMED.has(kind)) return [];
    const key = `${kind} ${word}`;
    const before = first.get(key) ?? [];
    first.set(key, [...before, entry]);
    const winner = before.find((other) => shareChats(other, entry));
    if (winner === undefined) return [];
    const text = `${nameOf(entry)} is asked only when ${nameOf(winner)} passes: both take "${entry.route.pattern}".`;
    return [{ kind: "same_word", winner: sideOf(winner), loser: sideOf(entry), text }];
  });
}

function behindFallbacks(entries: RouteEntry[]): Conflict[] {
  const found: Conflict[] = [];
  const fallbacks: RouteEntry[] = [];
  for (const entry of entries) {
    const { kind } = entry.route;
    if (kind === "timer" || kind === "interrupt") continue;
    // What is done to a message never reaches a fallback.
    const hidden = kind !== "on" && fallbacks.find((other) => coversChats(other, entry));
    if (hidden) {
      const text = `${nameOf(entry)} cannot be reached: ${nameOf(hidden)} takes everything before it.`;
      found.push({ kind: "unreachable", winner: sideOf(hidden), loser: sideOf(entry), text });
    }
    if (kind !== "fallback") continue;
    fallbacks.push(entry);
    const text = `${nameOf(entry)} takes every message: the webhook of this number gets none of them (unless its mode is "always").`;
    found.push({ kind: "webhook_shut_out", winner: sideOf(entry), loser: null, text });
  }
  return found;
}

const shareChats = (a: RouteEntry, b: RouteEntry): boolean =>
  a.bot.chats.some((chat) => b.bot.chats.includes(chat));
const coversChats = (a: RouteEntry, b: RouteEntry): boolean =>
  b.bot.chats.every((chat) => a.bot.chats.includes(chat));
const routeOf = ({ route }: RouteEntry): string =>
  route.kind === "fallback" ? "fallback" : `${route.kind}:${route.pattern}`;
const sideOf = (entry: RouteEntry) => ({ bot: entry.bot.id, route: routeOf(entry) });
const nameOf = (entry: RouteEntry): string => `${entry.bot.id} (${routeOf(entry)})`;
