import type { Duration } from "../duration.ts";
import type { StandardSchema } from "../standard-schema.ts";
import type { Dialogue } from "./context.ts";
import type { Handler, Middleware, Predicate, Routes } from "./routes.ts";

/** A kind of chat that a bot listens in. */
export type BotChat = "dm" | "group" | "channel";

/** Options of the session: what a bot stores about a contact in a chat. */
export interface SessionOptions<Session> {
  /** Raise it when the shape changes. Default 1. */
  version?: number;
  /**
   * Any Standard Schema (zod, valibot, arktype, …). A session that it refuses is not stored, and the handler fails. When a
   * stored session lacks a key, `initial()` fills it in.
   */
  schema?: StandardSchema<unknown, Session>;
  initial(): Session;
  /**
   * Deletes the session after this time without a change. Default: it is deleted with the chat, when nobody has written there
   * for a year.
   */
  ttl?: Duration;
  /**
   * Converts a session that an older version stored, or that does not fit even after `initial()` has filled in missing keys.
   * Default: the session starts over, and the log says so.
   */
  migrate?(old: unknown, version: number): Session;
}

/** How a bot handles several messages in a row. At most 8 texts, or 10 seconds, are held together; the rest comes next. */
export type Burst =
  /** Handles each message by itself. */
  | "each"
  /** Handles texts that come within this time of one another as one text, joined by line breaks. */
  | { merge: Duration }
  /** Handles only the last of such texts. */
  | { latest: Duration };

/** Limits on how long and how often a bot may answer. */
export interface BotLimits {
  /** Time for one handler. Default `BOT_TIMEOUT_MS`. */
  timeout?: Duration;
  /** Answered messages per chat, as `"20/min"` or `"5/10s"`. Above the limit, the bot is not asked. Default: no limit. */
  repliesPerChat?: string;
}

/** What happens after a handler threw or ran out of time. */
export type OnError =
  /** The next bot is asked, and last the webhook. */
  | "next"
  /** Nobody else is asked, and nothing is sent. */
  | "silent"
  /** Nobody else is asked, and this text is sent. */
  | { reply: string };

/** A number's settings as a bot's code sees them: those that it `needs` are there. */
export type Given<Config, Needs extends PropertyKey> = [Needs] extends [never]
  ? Config
  : Config & { readonly [Key in keyof Config as Key & Needs]-?: NonNullable<Config[Key]> };

/** Options of `defineBot`, before the function that adds the routes. All are optional. */
export interface BotOptions<
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
  Needs extends string = string,
> {
  /** 0 is asked first, 100 last. Default 50. Bots of equal priority are asked in the order of their ids. */
  priority?: number;
  /** Default `['dm']`. */
  chats?: readonly BotChat[];
  /** `all` (default): on for every number. `bound`: on only where `PUT /devices/{number}/bots` turns the bot on. */
  enable?: "all" | "bound";
  /** Any Standard Schema for the bot's settings on a number. Settings are checked when they are saved. */
  config?: StandardSchema<unknown, Config>;
  /**
   * Settings that the bot needs. On a number where one is missing, the bot is not asked, even when it is turned on there. In
   * the bot's code they are never missing, also when the schema says that they are optional.
   */
  needs?: readonly Needs[];
  session?: SessionOptions<Session>;
  burst?: Burst;
  /** `restart`: applies to every route of this bot, see `NewerOptions`. Default: a newer text waits until this one is answered. */
  newer?: "restart";
  limits?: BotLimits;
  /** Default `next`. */
  onError?: OnError;
  /**
   * How many characters of a text `match` and the functions of `on` see. Default 4,096, at most 65,536. `ctx.text` is always
   * the whole text.
   */
  maxText?: number;
  /**
   * The word that the owner writes, as the whole message, to hand the chat back to the bots at once. Default `#bot`; false
   * turns it off. The contact sees the word. A number's `config.handback` takes its place.
   */
  handback?: string | false;
  /** Language of `ctx.t` when nobody has chosen one. Default `en`. */
  locale?: string;
  /** Earlier ids of this bot. Bindings, sessions, open conversations and timers under these ids belong to this bot. */
  was?: string | readonly string[];
}

/** A bot as its file exports it. `defineBot` makes one; a file without imports may export the object itself. */
export interface BotDefinition<
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
> extends BotOptions<Config, Session> {
  routes(b: Routes<Config, Session>): void;
}

/** How a route finds its messages. Each kind is a method of `b`. A `timer` route waits for a time, not for a message. */
export type RouteKind =
  | "keyword"
  | "command"
  | "word"
  | "prefix"
  | "match"
  | "on"
  | "fallback"
  | "interrupt"
  | "timer";

/** One row of a bot's route table. */
export interface Route {
  kind: RouteKind;
  /** The word as written, the expression, the filters, or `*`. Shown by `GET /bots`. */
  pattern: string;
  handler: Handler<never, never, never, never>;
  /** For `keyword`, `word`, `prefix` and `interrupt`: the normalised word. For `command` and `timer`: the name. */
  word?: string;
  regex?: RegExp;
  filter?: Predicate;
  endsHandoff?: boolean;
  /** For `interrupt`: does not cut off a running handler. */
  waits?: boolean;
  /** A newer text starts the handler over. */
  isRestarted?: boolean;
}

/** A bot whose definition has been read and checked. */
export interface Bot {
  id: string;
  /** Path of the file, for places in warnings; null when unknown. */
  file: string | null;
  /** Adds a warning with the running place in the author's code. Each warning is shown once. */
  warn(text: string): void;
  priority: number;
  chats: readonly BotChat[];
  enable: "all" | "bound";
  config: StandardSchema<unknown, unknown> | null;
  session:
    | (Required<Pick<SessionOptions<unknown>, "version" | "initial">> & {
        schema: StandardSchema<unknown, unknown> | null;
        /** Milliseconds. */
        ttl: number | null;
        migrate: ((old: unknown, version: number) => unknown) | null;
      })
    | null;
  needs: readonly string[];
  /** Milliseconds to wait for more texts; null: handle each message by itself. */
  burst: { kind: "merge" | "latest"; ms: number } | null;
  /** A newer text starts any route's handler over. */
  isRestarted: boolean;
  /** Milliseconds; null: the gateway's default. */
  timeoutMs: number | null;
  rate: { count: number; ms: number } | null;
  onError: OnError;
  /** How many characters of a text routes see. */
  maxText: number;
  /** In lower case; null: none. */
  handback: string | null;
  locale: string;
  /** Earlier ids that no other bot has. */
  was: readonly string[];
  routes: Route[];
  middleware: Middleware<never, never>[];
  observers: ((observation: never) => unknown)[];
  dialogues: ReadonlyMap<string, Dialogue<never>>;
}
