import type { BotDefinition, Routes } from "../bot/types.ts";

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

/** What comes with new code; what is left out stays as it was. */
export interface DeployOptions {
  /** Settings of the bot; by id when there are several bots. */
  config?: Record<string, unknown>;
  /** Texts of `ctx.t` by language. */
  locales?: Record<string, unknown>;
}

/** The gateway and the person of a test. All of it may be left out. */
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
  /** What bots throw is for the bots' `onError` alone, and fails no test. Default false: the next call of the chat rejects with it. */
  allowErrors?: boolean;
  /** Real milliseconds until a chat that does not come to rest is a failure. Default 30,000. */
  patienceMs?: number;
}
