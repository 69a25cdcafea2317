import {
  fields,
  form,
  menu,
  type DialogueOptions,
  type Fields,
  type Menu,
  type MenuDefinition,
} from "../dialogues/index.ts";
import { readFilter } from "./filters.ts";
import type { FlowFunction, FlowOptions } from "../flow/types.ts";
import { normalise } from "../messages/normalise.ts";
import { flow } from "../flow/flow.ts";
import { readNewer } from "./options.ts";
import { namedTimer } from "../timers/timer-calls.ts";
import { FLOW_TIMERS, OWN_TIMERS } from "../timers/timer-rows.ts";
import type {
  Bot,
  Dialogue,
  Handler,
  InterruptOptions,
  Middleware,
  Route,
  RouteKind,
  Routes,
} from "../types.ts";

/** What the function of a bot adds. */
export type RouteParts = Pick<Bot, "routes" | "middleware" | "observers"> & {
  dialogues: Map<string, Dialogue<never>>;
  /** The bot is loaded: what is added now would never be asked. */
  loaded: boolean;
  /** Something that does not stop the bot and is not what its author meant; called while the author's code runs. */
  warn(text: string): void;
};

const COMMAND = /^[\p{L}\p{N}_-]{1,64}$/u;
const LONGEST_TIMER_KEY = 100;

/** Parts to be filled by a bot's function. */
export function emptyParts(warn: RouteParts["warn"]): RouteParts {
  return { routes: [], middleware: [], observers: [], dialogues: new Map(), loaded: false, warn };
}

/** What `defineBot`'s function is given. Every mistake is a TypeError that names the call. */
export function routeBuilder(parts: RouteParts): Routes<never, never> {
  const { routes } = parts;

  /** One row for each word: the table shows each, and a decision names the one that was written. */
  function add(kind: RouteKind, words: unknown, handler: unknown, more: Partial<Route> = {}): void {
    const read = readHandler(kind, handler);
    for (const [word, pattern] of readWords(kind, words)) {
      if (EXACT.has(kind) && routes.some((route) => route.kind === kind && route.word === word))
        parts.warn(`b.${kind}(${JSON.stringify(pattern)}) exists twice: the first one is asked first.`);
      routes.push({ kind, pattern, word, handler: read, ...more });
    }
  }

  return onlyWhileLoading(parts, {
    keyword: (words: unknown, handler: unknown, options?: unknown) =>
      add("keyword", words, handler, restarted("keyword", options)),
    word: (words: unknown, handler: unknown, options?: unknown) =>
      add("word", words, handler, restarted("word", options)),
    prefix: (texts: unknown, handler: unknown, options?: unknown) =>
      add("prefix", texts, handler, restarted("prefix", options)),
    interrupt(words: unknown, handler: unknown, options?: InterruptOptions) {
      const { endsHandoff = false, waits = false } = options ?? {};
      add("interrupt", words, handler, { endsHandoff: endsHandoff === true, waits: waits === true });
    },
    command(names: unknown, handler: unknown, options?: unknown) {
      const read = readHandler("command", handler);
      const more = restarted("command", options);
      for (const name of asList(names).map(readCommand))
        routes.push({ kind: "command", pattern: `/${name}`, word: normalise(name)!, handler: read, ...more });
    },
    match(pattern: unknown, handler: unknown, options?: unknown) {
      if (!(pattern instanceof RegExp))
        throw new TypeError("b.match needs a regular expression: b.match(/^order (\\d+)$/i, …).");
      const regex = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
      const route = { pattern: String(regex), regex, handler: readHandler("match", handler) };
      routes.push({ kind: "match", ...route, ...restarted("match", options) });
    },
    on(filter: unknown, handler: unknown, options?: unknown) {
      const route = { ...readFilter(filter), handler: readHandler("on", handler) };
      routes.push({ kind: "on", ...route, ...restarted("on", options) });
    },
    fallback(handler: unknown, options?: unknown) {
      const route = { pattern: "*", handler: readHandler("fallback", handler) };
      routes.push({ kind: "fallback", ...route, ...restarted("fallback", options) });
    },
    timer(key: unknown, handler: unknown) {
      if (typeof key !== "string" || key === "" || key.length > LONGEST_TIMER_KEY)
        throw new TypeError('b.timer needs the key of the timer: b.timer("remind", (ctx) => { … }).');
      if (namedTimer(key).id !== null)
        throw new TypeError(`b.timer(${JSON.stringify(key)}): the key has an invisible character.`);
      const own = [OWN_TIMERS, FLOW_TIMERS].find((begin) => key.startsWith(begin));
      if (own !== undefined)
        throw new TypeError(
          `b.timer(${JSON.stringify(key)}): keys that begin with "${own}" are reserved for Parley.`,
        );
      if (routes.some((route) => route.kind === "timer" && route.word === key))
        throw new TypeError(`b.timer(${JSON.stringify(key)}) exists twice.`);
      routes.push({ kind: "timer", pattern: key, word: key, handler: readHandler("timer", handler) });
      return key;
    },
    use(middleware: unknown) {
      parts.middleware.push(readHandler("use", middleware) as unknown as Middleware<never, never>);
    },
    tap(observer: unknown) {
      parts.observers.push(readHandler("tap", observer));
    },
    ...dialogueCalls(parts),
  }) as unknown as Routes<never, never>;
}

/** What makes dialogues, or adds those that were made elsewhere. */
function dialogueCalls(parts: RouteParts) {
  return {
    fields,
    menu(id: string, definition: MenuDefinition) {
      const made = menu(readId("menu", id), definition);
      addDialogue(parts, made as Dialogue<never>);
      return made;
    },
    form(id: string, questions: Fields, done: () => unknown, options?: DialogueOptions) {
      const made = form(readId("form", id), questions, done, options);
      addDialogue(parts, made as Dialogue<never>);
      return made;
    },
    flow(id: string, first: FlowOptions | FlowFunction, second?: FlowFunction) {
      const made =
        typeof first === "function"
          ? flow(readId("flow", id), {}, first)
          : flow(readId("flow", id), first, second!);
      addDialogue(parts, made as Dialogue<never>);
      return made;
    },
    dialogue(...dialogues: Dialogue<never>[]) {
      for (const dialogue of dialogues) addDialogue(parts, dialogue);
    },
  };
}

/** Kinds of which a word has one route: a second is asked only when the first passes. */
const EXACT: ReadonlySet<RouteKind> = new Set(["keyword", "interrupt"]);

const restarted = (call: string, options: unknown): Pick<Route, "isRestarted"> =>
  readNewer(options, `b.${call}`).newer === "restart" ? { isRestarted: true } : {};

/** A route that is added in a handler or after an `await` is in no table: it is said, and nothing happens. */
function onlyWhileLoading(parts: RouteParts, calls: Record<string, unknown>): Record<string, unknown> {
  const guarded = Object.entries(calls).map(([name, call]) => {
    if (typeof call !== "function") return [name, call] as const;
    const made = (...args: unknown[]): unknown => {
      if (!parts.loaded) return (call as (...args: unknown[]) => unknown)(...args);
      parts.warn(
        `b.${name} was called after the bot was loaded and does nothing. Add all routes synchronously.`,
      );
      return undefined;
    };
    return [name, made] as const;
  });
  return Object.fromEntries(guarded);
}

/** @throws {TypeError} when another dialogue of this bot has its id */
export function addDialogue(parts: RouteParts, dialogue: Dialogue<never>): void {
  if (typeof dialogue?.begin !== "function" || typeof dialogue.id !== "string" || dialogue.id === "")
    throw new TypeError("b.dialogue takes dialogues made by menu(…) or form(…).");
  const other = parts.dialogues.get(dialogue.id);
  if (other !== undefined && other !== dialogue)
    throw new TypeError(`Two dialogues have the id ${JSON.stringify(dialogue.id)}. Rename one of them.`);
  if (other !== undefined) return;
  parts.dialogues.set(dialogue.id, dialogue);
  for (const text of (dialogue as Partial<Menu>).warnings ?? []) parts.warn(text);
  for (const next of (dialogue as Partial<Menu>).leadsTo ?? []) addDialogue(parts, next as Dialogue<never>);
}

function readId(kind: string, id: unknown): string {
  if (typeof id === "string" && /^[\w./:-]{1,64}$/.test(id)) return id;
  throw new TypeError(
    `b.${kind}(${JSON.stringify(id)}): the first argument is the id, for instance "signup"; the id is stored.`,
  );
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function readWords(kind: RouteKind, words: unknown): Map<string, string> {
  const list = asList(words);
  if (list.length === 0) throw new TypeError(`b.${kind} needs at least one word.`);
  return new Map(list.map((word) => [readWord(kind, word), String(word)]));
}

function readWord(kind: RouteKind, word: unknown): string {
  const normal = typeof word === "string" ? normalise(word) : null;
  if (normal === null)
    throw new TypeError(
      `b.${kind}(${JSON.stringify(word)}): a ${kind} is a text with at least one visible character.`,
    );
  return normal;
}

function readCommand(name: unknown): string {
  const bare = typeof name === "string" ? name.replace(/^\//, "") : "";
  if (!COMMAND.test(bare))
    throw new TypeError(`b.command(${JSON.stringify(name)}): a command is one word, like "order".`);
  return bare;
}

function readHandler(route: string, handler: unknown): Handler<never, never, never, never> {
  if (typeof handler !== "function") throw new TypeError(`b.${route} needs a handler: (ctx) => { … }.`);
  return handler as Handler<never, never, never, never>;
}
