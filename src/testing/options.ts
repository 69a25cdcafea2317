import { createRegistry, type BotRegistry } from "../bot/registry.ts";
import type { BotDefinition, Routes } from "../bot/types.ts";
import type { Logger } from "../log.ts";
import type { CrashPlan } from "./life.ts";

/** A bot as its file exports it. */
// oxlint-disable-next-line typescript/no-explicit-any -- bots of whatever config and session
export type AnyBot = BotDefinition<any, any> | ((b: Routes) => void);

/**
 * What answers: bots in a list (their ids are `bot`, `bot2`, …), or by id. A function is called at every start, after a
 * kill as well, so that it may import the bots anew.
 */
export type TestBots =
  | readonly AnyBot[]
  | Readonly<Record<string, AnyBot>>
  | (() =>
      | readonly AnyBot[]
      | Readonly<Record<string, AnyBot>>
      | Promise<readonly AnyBot[] | Readonly<Record<string, AnyBot>>>);

/** What a webhook is told, and what it answers: see docs on webhooks. A text stands for `{ message: text }`. */
export type TestWebhook = (event: Record<string, unknown>) => unknown;

export interface TestChatOptions {
  /** Settings of the bot; by id when there are several bots. */
  config?: Record<string, unknown>;
  /** Stands behind the bots, over real HTTP on loopback. */
  webhook?: TestWebhook;
  /** Digits of the bot's number. Default 491700000001. */
  number?: string;
  /** Who writes. Default Ana, 491700000002. */
  contact?: { name?: string; number?: string; lid?: string };
  /** Texts of `ctx.t` by language. */
  locales?: Record<string, unknown>;
  /** When it begins. Default 2026-01-05T10:00:00Z, a Monday. */
  now?: number | string | Date;
  /** Real milliseconds that a handler may take. Default 30,000. */
  botTimeoutMs?: number;
  /** Minutes that bots are silent after the owner wrote. Default 30. */
  takeoverMinutes?: number;
  /** Automatic replies per chat and minute, after which bots fall silent. Default 0, no limit: the clock stands still between messages. */
  loopGuardPerMinute?: number;
  /** Real milliseconds until a chat that does not come to rest is a failure. Default 30,000. */
  patienceMs?: number;
}

/** For `crashEverywhere` alone. */
export interface Harness {
  plan: CrashPlan;
}

/** @throws {TypeError} when a bot is none */
export async function readBots(bots: TestBots, log: Logger): Promise<BotRegistry> {
  const given = typeof bots === "function" ? await bots() : bots;
  const named: [string, unknown][] = Array.isArray(given)
    ? given.map((bot: unknown, index) => [index === 0 ? "bot" : `bot${index + 1}`, bot])
    : Object.entries(given);
  if (named.length === 0) throw new TypeError("createTestChat needs a bot: createTestChat([bot]).");
  const registry = createRegistry(
    named.map(([id, exported]) => ({ id, file: id, exported })),
    log,
  );
  const broken = registry.list().find(({ error }) => error !== undefined);
  if (broken) throw new TypeError(`The bot "${broken.id}" cannot be used: ${broken.error}`);
  return registry;
}

/** What `PUT /devices/{number}/bots` would say: every bot is on, with its settings. */
export function bindingsFor({ bots }: BotRegistry, config: Record<string, unknown> | undefined): unknown[] {
  return bots.map(({ id }) => {
    const own = bots.length === 1 ? config : config?.[id];
    return { id, enabled: true, ...(own !== undefined && { config: own }) };
  });
}
