import type { BotDefinition, Routes } from "../bot/types.ts";

/** A bot as its file exports it. */
// oxlint-disable-next-line typescript/no-explicit-any -- bots of whatever config and session
export type AnyBot = BotDefinition<any, any> | ((b: Routes) => void);

/**
 * The bots of a test: a list (their ids are `bot`, `bot2`, …), or an object by id. A function is called at every start, also
 * after a kill, so that it can import the bots again.
 */
export type TestBots =
  | readonly AnyBot[]
  | Readonly<Record<string, AnyBot>>
  | (() =>
      | readonly AnyBot[]
      | Readonly<Record<string, AnyBot>>
      | Promise<readonly AnyBot[] | Readonly<Record<string, AnyBot>>>);

/** A webhook of a test: gets the event and returns the answer, see docs on webhooks. A text stands for `{ message: text }`. */
export type TestWebhook = (event: Record<string, unknown>) => unknown;

/** What changes with new code. Options you leave out stay as they were. */
export interface DeployOptions {
  /** Settings of the bot. With several bots: settings by bot id. */
  config?: Record<string, unknown>;
  /** Texts of `ctx.t`, by language. */
  locales?: Record<string, unknown>;
}

/** The gateway and the person of a test. All options are optional. */
export interface TestChatOptions {
  /** Settings of the bot. With several bots: settings by bot id. */
  config?: Record<string, unknown>;
  /** A webhook behind the bots, called over real HTTP on loopback. */
  webhook?: TestWebhook;
  /** The bot's number, digits. Default 491700000001. */
  number?: string;
  /** The person who writes. Default Ana, 491700000002. */
  contact?: { name?: string; number?: string; lid?: string };
  /** Texts of `ctx.t`, by language. */
  locales?: Record<string, unknown>;
  /** When the test begins. Default 2026-01-05T10:00:00Z, a Monday. */
  now?: number | string | Date;
  /** Real milliseconds that a handler may take. Default 30,000. */
  botTimeoutMs?: number;
  /** Minutes that bots stay silent after the owner wrote. Default 30. */
  takeoverMinutes?: number;
  /**
   * Automatic replies per chat and minute before bots fall silent. Default 0, no limit: the clock stands still between
   * messages.
   */
  loopGuardPerMinute?: number;
  /**
   * When true, errors of bots go only to the bots' `onError` and fail no test. Default false: the chat's next call rejects
   * with the error.
   */
  allowErrors?: boolean;
  /** Real milliseconds to wait for a chat to finish its work before it counts as failed. Default 30,000. */
  patienceMs?: number;
}
