import type { Duration } from "../duration.ts";
import type { StandardSchema } from "../standard-schema.ts";
import type { Dialogue } from "./context.ts";
import type { Handler, Middleware, Predicate, Routes } from "./routes.ts";

/** Where a bot listens. */
export type BotChat = "dm" | "group" | "channel";

/** What a bot remembers of a chat. */
export interface SessionOptions<Session> {
  /** Rises when the shape changes; default 1. */
  version?: number;
  /**
   * Any Standard Schema (zod, valibot, arktype, …). What it refuses is not stored, and the handler has failed. What was stored
   * before and lacks something is completed from `initial()`.
   */
  schema?: StandardSchema<unknown, Session>;
  initial(): Session;
  /** Forgotten after this time without a change. Default: with the chat, when nobody has written in it for a year. */
  ttl?: Duration;
  /**
   * Makes today's shape of what an older version wrote, or of what does not fit even with `initial()` beneath it. Default: it
   * begins anew, and the log says so.
   */
  migrate?(old: unknown, version: number): Session;
}

/** What several messages in a row are to a bot. */
export type Burst =
  /** Each is handled by itself. */
  | "each"
  /** Texts that come within this time of one another are handled as one, joined by line breaks. */
  | { merge: Duration }
  /** Of such texts only the last is handled. */
  | { latest: Duration };

/** How long and how often a bot may answer. */
export interface BotLimits {
  /** One handler's time. Default `BOT_TIMEOUT_MS`. */
  timeout?: Duration;
  /** Answered messages per chat, as `"20/min"` or `"5/10s"`; above it the bot is not asked. Default: no limit. */
  repliesPerChat?: string;
}

/** What follows from a handler that threw or took too long. */
export type OnError =
  /** The next bot is asked, at last the webhook. */
  | "next"
  /** Nobody is asked, nothing is said. */
  | "silent"
  /** Nobody else is asked, and this is said. */
  | { reply: string };

/** What `defineBot` takes before the function that adds the routes. All of it may be left out. */
export interface BotOptions<Config = Readonly<Record<string, unknown>>, Session = undefined> {
  /** 0 is asked first, 100 last. Default 50; equals are asked in the order of their ids. */
  priority?: number;
  /** Default `['dm']`. */
  chats?: readonly BotChat[];
  /** `all` (default): on for every number; `bound`: only where `PUT /devices/{number}/bots` turns it on. */
  enable?: "all" | "bound";
  /** Any Standard Schema for the settings that a number may give the bot. Checked when they are set. */
  config?: StandardSchema<unknown, Config>;
  /** Settings without which it is asked nothing on a number, however it is switched on there. */
  needs?: readonly string[];
  session?: SessionOptions<Session>;
  burst?: Burst;
  /** `restart`: for every route of this bot, see `NewerOptions`. Default: a newer text waits until this one is answered. */
  newer?: "restart";
  limits?: BotLimits;
  /** Default `next`. */
  onError?: OnError;
  /**
   * How many characters of a text `match` and the functions of `on` look at. Default 4,096, at most 65,536. `ctx.text` is the
   * whole text in any case.
   */
  maxText?: number;
  /**
   * What the owner writes into a chat, by itself, to give it back to the bots at once; false: nothing. Default `#bot`. The person
   * sees it, as all that the owner writes.
   */
  handback?: string | false;
  /** Language of `ctx.t` when nobody has chosen one. Default `en`. */
  locale?: string;
  /** Earlier ids of this bot: where it was bound, its sessions, open conversations and timers are this bot's. */
  was?: string | readonly string[];
}

/** A bot as a file exports it; `defineBot` makes one, and a file without imports may export one as it is. */
export interface BotDefinition<
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
> extends BotOptions<Config, Session> {
  routes(b: Routes<Config, Session>): void;
}

/**
 * How a route finds its messages; each kind is a method of `b`, but `timer` waits for a time and not for a message.
 */
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
  /** Of `keyword`, `word`, `prefix`, `interrupt`: the word, normalised. Of `command` and `timer`: its name. */
  word?: string;
  regex?: RegExp;
  filter?: Predicate;
  endsHandoff?: boolean;
  /** Of `interrupt`: it does not cut off what is being done. */
  waits?: boolean;
  /** A newer text begins the handler anew. */
  isRestarted?: boolean;
}

/** A bot whose definition was read and checked. */
export interface Bot {
  id: string;
  /** As it was read, for places in it; null when nobody knows. */
  file: string | null;
  /** Adds a warning with the place in the author's code that is running; each is said once. */
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
  /** Milliseconds to wait for more; null: each message by itself. */
  burst: { kind: "merge" | "latest"; ms: number } | null;
  /** A newer text begins every route's handler anew. */
  isRestarted: boolean;
  /** Milliseconds; null: the gateway's own. */
  timeoutMs: number | null;
  rate: { count: number; ms: number } | null;
  onError: OnError;
  /** Characters of a text that routes look at. */
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
