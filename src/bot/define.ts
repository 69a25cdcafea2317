import type { MessageType } from "../model/messages.ts";
import { normalise } from "./normalise.ts";
import type {
  Bot,
  BotChat,
  BotDefinition,
  BotOptions,
  Handler,
  Message,
  Predicate,
  Route,
  Routes,
} from "./types.ts";

const CHATS: readonly BotChat[] = ["dm", "group", "channel"];
const OPTIONS = ["priority", "chats", "enable", "routes"];
const TYPES: readonly MessageType[] = [
  "text",
  "image",
  "video",
  "audio",
  "voice",
  "document",
  "sticker",
  "location",
  "contact",
  "poll",
  "poll_vote",
  "reaction",
  "edit",
  "revoke",
  "channel",
  "unknown",
];

/**
 * Describes a bot. The file's name gives its id: `bots/sales/menu.ts` is `sales/menu`.
 *
 * @example export default defineBot((b) => { b.keyword("hi", (ctx) => ctx.reply(`Hello ${ctx.from.name}`)) })
 */
export function defineBot(routes: (b: Routes) => void): BotDefinition;
export function defineBot(options: BotOptions, routes: (b: Routes) => void): BotDefinition;
export function defineBot(
  first: BotOptions | ((b: Routes) => void),
  second?: (b: Routes) => void,
): BotDefinition {
  if (typeof first === "function") return { routes: first };
  if (typeof second !== "function") {
    throw new TypeError("defineBot(options, (b) => …) needs a function that adds the routes.");
  }
  return { ...first, routes: second };
}

/**
 * Reads what a bot file exports by default: `(b) => …`, or an object with `routes(b)`.
 *
 * @returns the bot, and warnings about options that Parley does not know
 * @throws {TypeError} that says what is wrong with the file
 */
export function readBot(id: string, exported: unknown): { bot: Bot; warnings: string[] } {
  const definition = typeof exported === "function" ? { routes: exported } : exported;
  if (!isRecord(definition) || typeof definition.routes !== "function") {
    throw new TypeError(
      "The default export is no bot. Write `export default defineBot((b) => { … })`, `export default (b) => { … }`, or an object with `routes(b)`.",
    );
  }
  const options = readOptions(definition);
  const routes: Route[] = [];
  const result: unknown = definition.routes(routeBuilder(routes));
  if (isRecord(result) && typeof result.then === "function") {
    // Nobody waits for it: it must not end the process as an unhandled rejection either.
    Promise.resolve(result).catch(() => undefined);
    throw new TypeError(
      "The function that adds routes is async. Add the routes at once, await inside handlers.",
    );
  }
  const unknown = Object.keys(definition).filter((key) => !OPTIONS.includes(key));
  const warnings = unknown.map((key) => `Option "${key}" is not known and is ignored.`);
  return { bot: { id, ...options, routes }, warnings };
}

function readOptions(definition: Record<string, unknown>): Required<BotOptions> {
  const { priority = 50, chats = ["dm"], enable = "all" } = definition;
  if (!Number.isInteger(priority) || (priority as number) < 0 || (priority as number) > 100) {
    throw new TypeError("`priority` must be a whole number from 0 (asked first) to 100 (asked last).");
  }
  if (!Array.isArray(chats) || chats.length === 0 || !chats.every((chat) => CHATS.includes(chat))) {
    throw new TypeError("`chats` must be a list of 'dm', 'group', 'channel'.");
  }
  if (enable !== "all" && enable !== "bound") throw new TypeError("`enable` must be 'all' or 'bound'.");
  return { priority: priority as number, chats: [...(chats as BotChat[])], enable };
}

function routeBuilder(routes: Route[]): Routes {
  return {
    keyword(words: unknown, handler: unknown) {
      const list = Array.isArray(words) ? words : [words];
      if (list.length === 0) throw new TypeError("b.keyword needs at least one word.");
      const read = readHandler("keyword", handler);
      // One row per word: the table shows each, and a decision names the one that was written.
      for (const [normal, word] of new Map(list.map((word) => [readWord(word), String(word)]))) {
        routes.push({ kind: "keyword", pattern: word, word: normal, handler: read });
      }
    },
    match(pattern: unknown, handler: unknown) {
      if (!(pattern instanceof RegExp))
        throw new TypeError("b.match needs a regular expression: b.match(/^order (\\d+)$/i, …).");
      const regex = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
      routes.push({ kind: "match", pattern: String(regex), regex, handler: readHandler("match", handler) });
    },
    on(filter: unknown, handler: unknown) {
      routes.push({ kind: "on", ...readFilter(filter), handler: readHandler("on", handler) });
    },
    fallback(handler: unknown) {
      routes.push({ kind: "fallback", pattern: "*", handler: readHandler("fallback", handler) });
    },
  } as Routes;
}

function readWord(word: unknown): string {
  const normal = typeof word === "string" ? normalise(word) : null;
  if (normal === null) {
    throw new TypeError(
      `b.keyword(${JSON.stringify(word)}): a keyword is a text with at least one visible character.`,
    );
  }
  return normal;
}

function readFilter(filter: unknown): { pattern: string; filter: Predicate } {
  if (typeof filter === "function") {
    return { pattern: filter.name || "predicate", filter: filter as Predicate };
  }
  const types = (Array.isArray(filter) ? filter : [filter]) as MessageType[];
  const wrong = types.filter((type) => !TYPES.includes(type));
  if (wrong.length > 0 || types.length === 0) {
    throw new TypeError(
      `b.on(${JSON.stringify(filter)}): use a function, or message types of ${TYPES.join(", ")}.`,
    );
  }
  const wanted = new Set<string>(types);
  return { pattern: types.join("|"), filter: (message: Message) => wanted.has(message.type) };
}

function readHandler(route: string, handler: unknown): Handler<never, never> {
  if (typeof handler !== "function") throw new TypeError(`b.${route} needs a handler: (ctx) => { … }.`);
  return handler as Handler<never, never>;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
