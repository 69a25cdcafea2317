import { LONGEST_BURST_MS } from "../../model/answerer.ts";
import { SECOND_MS } from "../../model/time.ts";
import { milliseconds, rate } from "../duration.ts";
import { isStandardSchema } from "../standard-schema.ts";
import type { Bot, BotChat, NewerOptions, OnError } from "../types.ts";

type Options = Omit<Bot, "id" | "file" | "warn" | "routes" | "middleware" | "observers" | "dialogues">;

const CHATS: readonly BotChat[] = ["dm", "group", "channel"];
const DEFAULT_HANDBACK = "#bot";
const LOCALE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;
/** Nobody writes more to a bot that means it; a stranger may send sixteen times as much. */
const DEFAULT_MAX_TEXT = 4_096;
const LONGEST_TEXT = 65_536;

/** All that a bot's definition may hold; any other name is taken for a slip. */
export const OPTION_NAMES = [
  "priority",
  "chats",
  "enable",
  "config",
  "needs",
  "session",
  "burst",
  "newer",
  "limits",
  "onError",
  "maxText",
  "locale",
  "handback",
  "was",
  "routes",
];

/** @throws {TypeError} that names the option and what it takes */
export function readOptions(definition: Record<string, unknown>): Options {
  const { priority = 50, chats = ["dm"], enable = "all", locale = "en" } = definition;
  if (!Number.isInteger(priority) || (priority as number) < 0 || (priority as number) > 100)
    throw new TypeError("`priority` must be a whole number from 0 (asked first) to 100 (asked last).");
  if (!Array.isArray(chats) || chats.length === 0 || !chats.every((chat) => CHATS.includes(chat)))
    throw new TypeError("`chats` must be a list of 'dm', 'group', 'channel'.");
  if (enable !== "all" && enable !== "bound") throw new TypeError("`enable` must be 'all' or 'bound'.");
  const limits = readRecord(definition.limits, "limits");
  return {
    priority: priority as number,
    chats: [...(chats as BotChat[])],
    enable,
    locale: readLocale(locale),
    config: readSchema(definition.config, "config"),
    session: readSession(definition.session),
    needs: readNeeds(definition.needs),
    burst: readBurst(definition.burst),
    isRestarted: readNewer(definition, "The bot").newer === "restart",
    timeoutMs: limits.timeout === undefined ? null : milliseconds(limits.timeout, "limits.timeout"),
    rate: limits.repliesPerChat === undefined ? null : rate(limits.repliesPerChat, "limits.repliesPerChat"),
    onError: readOnError(definition.onError),
    maxText: readMaxText(definition.maxText),
    handback: readHandback(definition.handback),
    was: readWas(definition.was),
  };
}

/** @throws {TypeError} */
export function readLocale(locale: unknown): string {
  if (typeof locale !== "string" || !LOCALE.test(locale))
    throw new TypeError('`locale` must be a language like "en" or "pt-BR".');
  return locale;
}

/** @returns null for none @throws {TypeError} */
export function readHandback(word: unknown = DEFAULT_HANDBACK): string | null {
  if (word === false) return null;
  if (typeof word !== "string" || word.trim() === "" || word.length > 100)
    throw new TypeError('`handback` must be a text of 1 to 100 characters like "#bot", or false.');
  return asHandback(word);
}

/** As it is compared: a sign in front of a word counts here, since the owner writes all the other words to people. */
export const asHandback = (text: string): string => text.trim().toLowerCase();

function readSchema(value: unknown, name: string): Bot["config"] {
  if (value === undefined) return null;
  if (!isStandardSchema(value))
    throw new TypeError(`\`${name}\` must be a Standard Schema, for instance from zod.`);
  return value;
}

function readSession(value: unknown): Bot["session"] {
  if (value === undefined) return null;
  const { version = 1, schema, initial, ttl, migrate } = readRecord(value, "session");
  if (!Number.isInteger(version) || (version as number) < 1)
    throw new TypeError("`session.version` must be a whole number from 1.");
  if (typeof initial !== "function")
    throw new TypeError("`session.initial` must be a function that gives the session of a new chat.");
  if (migrate !== undefined && typeof migrate !== "function")
    throw new TypeError("`session.migrate` must be a function (old, version) => session.");
  return {
    version: version as number,
    schema: readSchema(schema, "session.schema"),
    initial: initial as () => unknown,
    ttl: ttl === undefined ? null : milliseconds(ttl, "session.ttl"),
    migrate: (migrate as ((old: unknown, version: number) => unknown) | undefined) ?? null,
  };
}

function readBurst(value: unknown): Bot["burst"] {
  if (value === undefined || value === "each") return null;
  const { merge, latest } = readRecord(value, "burst");
  if ((merge === undefined) === (latest === undefined))
    throw new TypeError('`burst` must be \'each\', { merge: "1.2s" } or { latest: "1.2s" }.');
  const kind = merge === undefined ? "latest" : "merge";
  const ms = milliseconds(merge ?? latest, `burst.${kind}`);
  if (ms > LONGEST_BURST_MS)
    throw new TypeError(
      `\`burst.${kind}\` must be at most ${LONGEST_BURST_MS / SECOND_MS}s: people wait for an answer.`,
    );
  return { kind, ms };
}

function readNeeds(value: unknown = []): readonly string[] {
  if (Array.isArray(value) && value.every((key) => typeof key === "string" && key !== "")) return [...value];
  throw new TypeError('`needs` must be a list of settings: needs: ["key"].');
}

/** @throws {TypeError} for a word that means nothing */
export function readNewer(options: unknown, what: string): NewerOptions {
  const { newer } = (options ?? {}) as { newer?: unknown };
  if (newer === undefined) return {};
  if (newer === "restart") return { newer };
  throw new TypeError(`${what}: \`newer\` must be "restart" or absent.`);
}

function readOnError(value: unknown): OnError {
  if (value === undefined || value === "next") return "next";
  if (value === "silent") return value;
  const { reply } = readRecord(value, "onError");
  if (typeof reply !== "string" || reply.trim() === "")
    throw new TypeError("`onError` must be 'next', 'silent' or { reply: \"…\" }.");
  return { reply };
}

function readMaxText(value: unknown = DEFAULT_MAX_TEXT): number {
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > LONGEST_TEXT)
    throw new TypeError(`\`maxText\` must be a whole number of characters from 1 to ${LONGEST_TEXT}.`);
  return value as number;
}

function readWas(value: unknown = []): readonly string[] {
  const names = [value].flat();
  if (names.every((name) => typeof name === "string" && name !== "")) return [...new Set(names as string[])];
  throw new TypeError('`was` must be an earlier id of the bot, or a list of them: "booking".');
}

function readRecord(value: unknown, name: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw new TypeError(`\`${name}\` must be an object.`);
  return value as Record<string, unknown>;
}
