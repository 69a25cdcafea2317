import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { nearest, placeIn } from "../place.ts";
import { OPTION_NAMES, readOptions } from "./options.ts";
import { emptyParts, routeBuilder } from "./route-builder.ts";
import type { Bot, BotDefinition, BotOptions, Given, Routes } from "../types.ts";

/** Settings that no schema describes. */
type AnyConfig = Readonly<Record<string, unknown>>;

/**
 * Describes a bot. The file's name gives its id: `bots/sales/menu.ts` is `sales/menu`.
 *
 * @example export default defineBot((b) => { b.keyword("hi", (ctx) => ctx.reply(`Hello ${ctx.from.name}`)) })
 */
export function defineBot(routes: (b: Routes) => void): BotDefinition;
export function defineBot<
  Config = AnyConfig,
  Session = undefined,
  const Needs extends keyof Config & string = never,
>(
  options: BotOptions<Config, Session, Needs>,
  routes: (b: Routes<Given<Config, Needs>, Session>) => void,
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
 * @returns the bot, and warnings about what does not stop it, each with its place: options that Parley does not know, words
 *   that are there twice, choices without effect. What the bot does too late is added when it happens
 * @throws {TypeError} that says what is wrong with the file
 */
export function readBot(
  id: string,
  exported: unknown,
  { file = null, onLate = () => undefined }: ReadOptions = {},
): { bot: Bot; warnings: string[] } {
  const definition = typeof exported === "function" ? { routes: exported } : exported;
  if (!isRecord(definition) || typeof definition.routes !== "function") {
    throw new TypeError(
      "The default export is not a bot. Write `export default defineBot((b) => { … })`, `export default (b) => { … }`, or an object with `routes(b)`.",
    );
  }
  const options = readOptions(definition);
  const warnings = Object.keys(definition)
    .filter((key) => !OPTION_NAMES.includes(key))
    .map((key) => unknownOption(key, file));
  const parts = emptyParts((text) => {
    const place = placeIn(new Error("here").stack, file);
    const warning = place === null ? text : `${text} (${place})`;
    if (warnings.includes(warning) || warnings.length >= MOST_WARNINGS) return;
    warnings.push(warning);
    if (parts.loaded) onLate(warning);
  });
  const result: unknown = definition.routes(routeBuilder(parts));
  parts.loaded = true;
  if (isRecord(result) && typeof result.then === "function") {
    // Nobody waits for it: it must not end the process as an unhandled rejection either.
    Promise.resolve(result).catch(() => undefined);
    throw new TypeError(
      "The function that adds routes is async. Add the routes synchronously and await inside handlers.",
    );
  }
  const { routes, middleware, observers, dialogues, warn } = parts;
  return { bot: { ...options, id, file, warn, routes, middleware, observers, dialogues }, warnings };
}

/** What a bot does wrong again and again is said no more often. */
const MOST_WARNINGS = 50;

interface ReadOptions {
  /** Path of the file, for the places in warnings. */
  file?: string | null;
  /** Told what the bot adds when it has been read: nothing of it is asked. */
  onLate?: (warning: string) => void;
}

function unknownOption(key: string, file: string | null): string {
  const meant = nearest(key, OPTION_NAMES);
  const line = lineOf(key, file);
  return [
    `Option "${key}" is not known and is ignored.`,
    ...(meant === null ? [] : [`Did you mean "${meant}"?`]),
    ...(line === null ? [] : [`(${basename(file!)}:${line})`]),
  ].join(" ");
}

/** An object does not say where it was written; its file does, when it can be read. */
function lineOf(key: string, file: string | null): number | null {
  try {
    const lines = readFileSync(file ?? "", "utf8").split("\n");
    const index = lines.findIndex((line) => line.includes(`${key}:`) || line.includes(`"${key}"`));
    return index === -1 ? null : index + 1;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
