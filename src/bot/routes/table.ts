import type { Incoming, MessageType } from "../../model/messages.ts";
import { headOf, lazyHead } from "../messages/message-view.ts";
import type { Bot, Message, Route, RouteKind } from "../types.ts";
import { asHandback } from "./options.ts";
import { readWords, type Words } from "./words.ts";

/** A bot as one number has it. */
export interface ActiveBot {
  bot: Bot;
  priority: number;
  /** As the bot's schema reads it. */
  config: Readonly<Record<string, unknown>>;
}

/** A route in the order of asking. */
export interface RouteEntry extends ActiveBot {
  route: Route;
  rank: number;
}

/** A route that fits the message. */
export interface Candidate extends RouteEntry {
  /** What the route found: `ctx.match`. */
  match: unknown;
}

/** A predicate of `b.on` threw. */
export interface FilterFailure extends RouteEntry {
  error: unknown;
}

/** How routes are looked through: a bot's own expressions and functions run while they are. */
export interface Looking {
  /** Bots of which nothing runs. */
  isLeftOut(botId: string): boolean;
  monotonic(): number;
  /** Told how long a route took to say whether it fits: milliseconds. */
  looked(entry: RouteEntry, ms: number): void;
}

/** The routes of one number's bots in the order of asking. Keywords and commands cost one look-up, however many there are. */
export interface RouteTable {
  /** In the order in which they are asked. */
  readonly active: readonly ActiveBot[];
  /** Routes that fit, one after the other; the next is searched only when it is asked for. */
  candidates(
    message: Incoming,
    view: () => Message,
    looking?: Looking,
  ): Generator<Candidate | FilterFailure, void>;
  /** Interrupts that the message is, in the order of asking. */
  interrupts(message: Incoming): Candidate[];
  /** Whether it is an interrupt that does not wait for what is being done for its writer. */
  cutsOff(message: Incoming): boolean;
  /** Whether the owner gives the chat back with it. */
  handsBack(message: Incoming): boolean;
  /** Whether a keyword or a command is exactly this message. */
  isNamed(message: Incoming): boolean;
  /** The bot, by its id or one that it had before, when it is on here. */
  bot(id: string): ActiveBot | null;
  /** Bots that had another id before. */
  readonly renamed: readonly Bot[];
}

/** Types whose text a person wrote as a message: words and expressions look at nothing else. */
const WRITTEN: ReadonlySet<MessageType> = new Set(["text", "image", "video", "document", "channel"]);
/** Things done to a message are no message: a thumbs-up must not get "Sorry, I did not understand". */
const NO_FALLBACK: ReadonlySet<MessageType> = new Set([
  "reaction",
  "edit",
  "revoke",
  "poll_vote",
  "call",
  "unknown",
]);

const KIND_ORDER: Record<RouteKind, number> = {
  interrupt: 0,
  keyword: 0,
  command: 0,
  word: 1,
  prefix: 1,
  match: 1,
  on: 1,
  fallback: 2,
  timer: 3,
};

/**
 * Orders the routes: by priority; within a priority fallbacks come after all else, so that two bots of equal rank do
 * not hide each other's words; then by bot id; within a bot keywords and commands first, the rest as written.
 */
export function orderRoutes(active: readonly ActiveBot[]): RouteEntry[] {
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
  entries.forEach((entry, rank) => (entry.rank = rank));
  return entries;
}

/** A route as people are shown it. */
export interface ListedRoute {
  bot: string;
  priority: number;
  chats: string[];
  kind: RouteKind;
  pattern: string;
}

/** Interrupts are heard before all else; timers are no message. */
const stage = ({ route: { kind } }: RouteEntry): number =>
  kind === "timer" ? 2 : Number(kind !== "interrupt");

/** Every route in the order of asking; words that are heard before all else first, timers last. */
export function listRoutes(active: readonly ActiveBot[]): ListedRoute[] {
  return orderRoutes(active)
    .toSorted((a, b) => stage(a) - stage(b) || a.rank - b.rank)
    .map(({ bot, priority, route: { kind, pattern } }) => ({
      bot: bot.id,
      priority,
      chats: [...bot.chats],
      kind,
      pattern,
    }));
}

/** The number's word, else the bot's; null: none. */
function handbackOf({ bot, config }: ActiveBot): string | null {
  const { handback } = config;
  if (handback === false) return null;
  return typeof handback === "string" && handback.trim() !== "" ? asHandback(handback) : bot.handback;
}

/** Orders the routes once, so that words are looked up and only the other routes are tried one by one. */
export function buildTable(active: readonly ActiveBot[]): RouteTable {
  const exact: ExactRoutes = { keyword: new Map(), command: new Map(), interrupt: new Map() };
  const scanned: RouteEntry[] = [];
  for (const entry of orderRoutes(active)) {
    const { kind, word } = entry.route;
    if (kind === "timer") continue;
    if (kind !== "keyword" && kind !== "command" && kind !== "interrupt") scanned.push(entry);
    else exact[kind].set(word!, [...(exact[kind].get(word!) ?? []), entry]);
  }
  const handback = new Set(active.map(handbackOf));
  const byId = new Map(active.flatMap((item) => item.bot.was.map((id) => [id, item] as const)));
  for (const item of active) byId.set(item.bot.id, item);
  const interrupts = (message: Incoming): Candidate[] => {
    if (exact.interrupt.size === 0 || !WRITTEN.has(message.type)) return [];
    const { whole } = readWords(message.text);
    const found = whole === null ? undefined : exact.interrupt.get(whole);
    return (found ?? []).filter((entry) => listens(entry, message)).map(plain);
  };
  return {
    active: active.toSorted((a, b) => a.priority - b.priority || compareIds(a.bot.id, b.bot.id)),
    candidates: (message, view, looking) => candidates(exact, scanned, { message, view, looking }),
    interrupts,
    cutsOff: (message) => interrupts(message).some(({ route }) => route.waits !== true),
    handsBack: ({ fromMe, type, text }) => fromMe && type === "text" && handback.has(asHandback(text)),
    isNamed: (message) =>
      WRITTEN.has(message.type) &&
      namedRoutes(exact, readWords(message.text)).some((entry) => listens(entry, message)),
    bot: (id) => byId.get(id) ?? null,
    renamed: active.flatMap(({ bot }) => (bot.was.length > 0 ? [bot] : [])),
  };
}

type ExactRoutes = Record<"keyword" | "command" | "interrupt", Map<string, RouteEntry[]>>;

const plain = (entry: RouteEntry): Candidate => ({ ...entry, match: null });
const listens = (entry: RouteEntry, message: Incoming): boolean =>
  (entry.bot.chats as readonly string[]).includes(message.chatKind);

function* candidates(
  exact: ExactRoutes,
  scanned: RouteEntry[],
  { message, view, looking }: { message: Incoming; view: () => Message; looking: Looking | undefined },
): Generator<Candidate | FilterFailure, void> {
  const isAsked = (entry: RouteEntry): boolean =>
    listens(entry, message) && !looking?.isLeftOut(entry.bot.id);
  const head = lazyHead(message, view);
  const words = WRITTEN.has(message.type) ? readWords(message.text) : null;
  const named = words === null ? [] : namedRoutes(exact, words);
  let next = 0;
  for (const entry of scanned) {
    while (next < named.length && named[next]!.rank < entry.rank) {
      const hit = named[next++]!;
      if (isAsked(hit)) yield hit;
    }
    if (!isAsked(entry)) continue;
    const began = looking?.monotonic();
    const found = fits(entry, message, words, head);
    if (began !== undefined) looking!.looked(entry, looking!.monotonic() - began);
    if (found !== null) yield { ...entry, ...found };
  }
  for (const hit of named.slice(next)) if (isAsked(hit)) yield hit;
}

/** Keywords and commands: found by look-up, in the order of asking. */
function namedRoutes({ keyword, command }: ExactRoutes, words: Words): Candidate[] {
  const whole = keyword.size > 0 ? words.whole : null;
  const hits = (whole === null ? undefined : keyword.get(whole))?.map(plain) ?? [];
  const called = command.size > 0 ? words.command : null;
  if (called === null) return hits;
  const { key, ...match } = called;
  const commands = (command.get(key) ?? []).map((entry) => ({ ...entry, match }));
  return [...hits, ...commands].toSorted((a, b) => a.rank - b.rank);
}

function fits(
  { route, bot }: RouteEntry,
  message: Incoming,
  words: Words | null,
  head: (maxText: number) => Message,
): { match: unknown } | { error: unknown } | null {
  switch (route.kind) {
    case "word":
      return words?.contains(route.word!) ? { match: null } : null;
    case "prefix": {
      const rest = words?.after(route.word!) ?? null;
      return rest === null ? null : { match: rest };
    }
    case "match": {
      const match = words === null ? null : route.regex!.exec(headOf(message.text, bot.maxText));
      return match && { match };
    }
    case "fallback":
      return NO_FALLBACK.has(message.type) ? null : { match: null };
    default:
      return accepted(route, () => head(bot.maxText));
  }
}

function accepted(route: Route, view: () => Message): { match: null } | { error: unknown } | null {
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
