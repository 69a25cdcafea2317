import type { ChatKind, Incoming, MessageType } from "../model/messages.ts";
import type { PollView } from "../model/polls.ts";

/** Where a bot listens. */
export type BotChat = "dm" | "group" | "channel";

/** A message as bots see it: a frozen view of what arrived. */
export type Message = Readonly<
  Pick<
    Incoming,
    | "id"
    | "type"
    | "text"
    | "timestamp"
    | "quoted"
    | "mentions"
    | "location"
    | "contacts"
    | "reaction"
    | "targetId"
  > & {
    /** The poll that arrived, or that a vote is about, with every vote that is known. */
    poll: PollView | null;
  }
>;

type Known<Key extends keyof Message> = { [K in Key]: NonNullable<Message[K]> };

/** A message of one type, with what that type always carries. */
export type MessageOf<Type extends MessageType> = Type extends "location"
  ? Message & { type: Type } & Known<"location">
  : Type extends "contact"
    ? Message & { type: Type } & Known<"contacts">
    : Type extends "poll" | "poll_vote"
      ? Message & { type: Type } & Known<"poll">
      : Type extends "reaction"
        ? Message & { type: Type } & Known<"reaction">
        : Type extends "edit" | "revoke"
          ? Message & { type: Type } & Known<"targetId">
          : Message & { type: Type };

/** Structured log lines of the bot; never put into them what people wrote. */
export interface BotLog {
  debug(fields: object, text?: string): void;
  info(fields: object, text?: string): void;
  warn(fields: object, text?: string): void;
  error(fields: object, text?: string): void;
}

export interface ReplyOptions {
  /** Quote the message that is answered. Default false. */
  quote?: boolean;
}

/** What a handler is given. It is closed when the handler has returned: then `reply` and `next` throw ContextClosedError. */
export interface Context<M extends Message = Message, Match = RegExpExecArray | null> {
  /** What the person wrote, as it arrived; "" when there is nothing to read. */
  readonly text: string;
  /** The result of a `match` route, else null. */
  readonly match: Match;
  readonly from: {
    /** Name that the writer chose, "" when unknown. */
    readonly name: string;
    /** Digits, or null while only the LID is known. */
    readonly number: string | null;
    /** `…@lid`, or null. */
    readonly lid: string | null;
    /** Always there; the same for one person whether the number is known or not yet asked for. */
    readonly id: string;
  };
  readonly chat: { readonly id: string; readonly kind: ChatKind };
  readonly message: M;
  /** The number's own settings for this bot (`PUT /devices/{number}/bots`), `{}` when there are none. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly log: BotLog;
  /** Aborts when the handler's time is up: hand it to `fetch`. */
  readonly signal: AbortSignal;
  /** Milliseconds; use it instead of `Date.now()`, so that tests can run another clock. */
  now(): number;
  /**
   * Adds a reply. Replies leave in the order of the calls, once the handler has returned; one that throws has said
   * nothing.
   *
   * @throws {TypeError} when `text` is not a string, blank, or longer than 65,536 characters
   * @throws {ContextClosedError} after the handler returned or its time was up
   */
  reply(text: string, options?: ReplyOptions): void;
  /** Not mine: what was replied so far is dropped, the next route or bot that fits is asked, at last the webhook. */
  next(): void;
}

export type Handler<M extends Message = Message, Match = RegExpExecArray | null> = (
  ctx: Context<M, Match>,
) => unknown;

export type Predicate = (message: Message) => boolean;

/** What `defineBot`'s function is given. Routes are asked in this order: keywords, `match` and `on` as written, `fallback`. */
export interface Routes {
  /**
   * The whole message equals the word, or one of them. Case, accents, white space, and punctuation and emoji around the
   * message do not count: `menu` takes "Menú!" and "*MENU* 👋", not "the menu".
   */
  keyword(words: string | readonly string[], handler: Handler<Message, null>): void;
  /** The text matches. Flags `g` and `y` are dropped: the expression is asked afresh for each message. */
  match(pattern: RegExp, handler: Handler<Message, RegExpExecArray>): void;
  /** Messages of a type, of one of several types, or that a predicate accepts. */
  on<Type extends MessageType>(types: Type | readonly Type[], handler: Handler<MessageOf<Type>, null>): void;
  on<M extends Message>(filter: (message: Message) => message is M, handler: Handler<M, null>): void;
  on(filter: Predicate, handler: Handler<Message, null>): void;
  /**
   * Whatever a person sent that no other route of this priority took. It also takes the message away from the webhook.
   * Reactions, edits, deletions and votes never get here: ask for them with `on`.
   */
  fallback(handler: Handler<Message, null>): void;
}

export interface BotOptions {
  /** 0 is asked first, 100 last. Default 50; equals are asked in the order of their ids. */
  priority?: number;
  /** Default `['dm']`. */
  chats?: readonly BotChat[];
  /** `all` (default): on for every number; `bound`: only where `PUT /devices/{number}/bots` turns it on. */
  enable?: "all" | "bound";
}

/** A bot as a file exports it; `defineBot` makes one, and a file without imports may export one as it is. */
export interface BotDefinition extends BotOptions {
  routes(b: Routes): void;
}

export type RouteKind = "keyword" | "match" | "on" | "fallback";

/** One row of a bot's route table. */
export interface Route {
  kind: RouteKind;
  /** The word as written, the expression, the types, or `*`. Shown by `GET /bots`. */
  pattern: string;
  handler: Handler<never, never>;
  /** Of `keyword`: the word, normalised. */
  word?: string;
  regex?: RegExp;
  filter?: Predicate;
}

/** A bot whose definition was read and checked. */
export interface Bot {
  id: string;
  priority: number;
  chats: readonly BotChat[];
  enable: "all" | "bound";
  routes: Route[];
}
