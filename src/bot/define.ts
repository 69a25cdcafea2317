import { OPTION_NAMES, readOptions } from "./options.ts";
import { emptyParts, routeBuilder } from "./route-builder.ts";
import type { Bot, BotDefinition, BotOptions, Routes } from "./types.ts";

/** Settings that no schema describes. */
type AnyConfig = Readonly<Record<string, unknown>>;

/**
 * Describes a bot. The file's name gives its id: `bots/sales/menu.ts` is `sales/menu`.
 *
 * @example export default defineBot((b) => { b.keyword("hi", (ctx) => ctx.reply(`Hello ${ctx.from.name}`)) })
 */
export function defineBot(routes: (b: Routes) => void): BotDefinition;
export function defineBot<Config = AnyConfig, Session = undefined>(
  options: BotOptions<Config, Session>,
  routes: (b: Routes<Config, Session>) => void,
): BotDefinition<Config, Session>;
export function defineBot<Config, Session>(
  first: BotOptions<Config, Session> | ((b: Routes) => void),
  second?: (b: Routes<Config, Session>) => void,
): BotDefinition | BotDefinition<Config, Session> {
  if (typeof first === "function") return { routes: first };
  if (typeof second !== "function") {
    throw new TypeError("defineBot(options, (b) => …) needs a function that adds the routes.");
  }
  return { ...first, routes: second };
}

/**
 * Reads what a bot file exports by default: `(b) => …`, or an object with `routes(b)`.
 *
 * @returns the bot, and warnings about what does not stop it: options that Parley does not know, routes that cannot be reached
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
  const parts = emptyParts();
  const result: unknown = definition.routes(routeBuilder(parts));
  if (isRecord(result) && typeof result.then === "function") {
    // Nobody waits for it: it must not end the process as an unhandled rejection either.
    Promise.resolve(result).catch(() => undefined);
    throw new TypeError(
      "The function that adds routes is async. Add the routes at once, await inside handlers.",
    );
  }
  const unknown = Object.keys(definition).filter((key) => !OPTION_NAMES.includes(key));
  const warnings = unknown.map((key) => `Option "${key}" is not known and is ignored.`);
  return { bot: { id, ...options, ...parts }, warnings };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
