import type { Incoming, MessageType } from "../model/messages.ts";
import { normalise } from "./normalise.ts";
import type { Bot, Message, Route } from "./types.ts";

/** A bot as one number has it. */
export interface ActiveBot {
  bot: Bot;
  priority: number;
  config: Readonly<Record<string, unknown>>;
}

interface Entry extends ActiveBot {
  route: Route;
  /** Position in the order of asking. */
  rank: number;
}

export interface Candidate extends Entry {
  match: RegExpExecArray | null;
}

/** The routes of one number's bots in the order of asking. Keywords cost one look-up, however many there are. */
export interface RouteTable {
  /** Routes that fit, one after the other; the next is searched only when it is asked for. */
  candidates(message: Incoming, view: () => Message): Generator<Candidate | FilterFailure, void>;
}

/** A predicate of `b.on` threw. */
export interface FilterFailure extends Entry {
  error: unknown;
}

/** Types whose text a person wrote as a message: keywords and `match` look at nothing else. */
const WRITTEN: ReadonlySet<MessageType> = new Set(["text", "image", "video", "document", "channel"]);
/** Things done to a message are no message: a thumbs-up must not get "Sorry, I did not understand". */
const NO_FALLBACK: ReadonlySet<MessageType> = new Set(["reaction", "edit", "revoke", "poll_vote", "unknown"]);

const KIND_ORDER = { keyword: 0, match: 1, on: 1, fallback: 2 } as const;

/**
 * Orders the routes: by priority; within a priority fallbacks come after all else, so that two bots of equal rank do
 * not hide each other's words; then by bot id; within a bot keywords first, the rest as written.
 */
export function buildTable(active: ActiveBot[]): RouteTable {
  const entries = active
    .flatMap((item) => item.bot.routes.map((route, written) => ({ ...item, route, written, rank: 0 })))
    .sort(
      (a, b) =>
        a.priority - b.priority ||
        Number(a.route.kind === "fallback") - Number(b.route.kind === "fallback") ||
        compareIds(a.bot.id, b.bot.id) ||
        KIND_ORDER[a.route.kind] - KIND_ORDER[b.route.kind] ||
        a.written - b.written,
    );
  const keywords = new Map<string, Entry[]>();
  const scanned: Entry[] = [];
  entries.forEach((entry, rank) => {
    entry.rank = rank;
    const { word } = entry.route;
    if (word === undefined) scanned.push(entry);
    else keywords.set(word, [...(keywords.get(word) ?? []), entry]);
  });
  return { candidates: (message, view) => candidates(keywords, scanned, message, view) };
}

function* candidates(
  keywords: Map<string, Entry[]>,
  scanned: Entry[],
  message: Incoming,
  view: () => Message,
): Generator<Candidate | FilterFailure, void> {
  const listens = (entry: Entry): boolean => (entry.bot.chats as string[]).includes(message.chatKind);
  const word = keywords.size > 0 && WRITTEN.has(message.type) ? normalise(message.text) : null;
  const exact = (word === null ? undefined : keywords.get(word)) ?? [];
  let next = 0;
  for (const entry of scanned) {
    while (next < exact.length && exact[next]!.rank < entry.rank) {
      const hit = exact[next++]!;
      if (listens(hit)) yield { ...hit, match: null };
    }
    if (!listens(entry)) continue;
    const found = fits(entry, message, view);
    if (found !== null) yield { ...entry, ...found };
  }
  for (const hit of exact.slice(next)) if (listens(hit)) yield { ...hit, match: null };
}

function fits(
  { route }: Entry,
  message: Incoming,
  view: () => Message,
): { match: RegExpExecArray | null } | { error: unknown } | null {
  if (route.regex) {
    const match = WRITTEN.has(message.type) ? route.regex.exec(message.text) : null;
    return match && { match };
  }
  if (route.kind === "fallback") return NO_FALLBACK.has(message.type) ? null : { match: null };
  try {
    return route.filter?.(view()) ? { match: null } : null;
  } catch (error) {
    return { error };
  }
}

/** Plain code unit order: the same on every machine. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
