import type {
  DialogueOptions,
  Fields,
  Form,
  Menu,
  MenuDefinition,
  Values,
  fields,
} from "../dialogues/index.ts";
import type { Flow, FlowFunction, FlowOptions } from "../flow/types.ts";
import type { Kept } from "./kept.ts";
import type {
  Context,
  CommandMatch,
  Dialogue,
  NewerOptions,
  Observation,
  Timer,
  TimerKey,
} from "./context.ts";
import type { Filter, Filtered, Message } from "./message.ts";

/** What a route runs. Its result is awaited, and means nothing. */
export type Handler<
  M = Message,
  Match = RegExpExecArray | null,
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
> = (ctx: Context<M, Match, Config, Session>) => unknown;

/** What a timer's route runs. */
export type TimerHandler<Data, Config = Readonly<Record<string, unknown>>, Session = undefined> = (
  ctx: Context<Message, null, Config, Session> & { readonly timer: Timer<Kept<Data>> },
) => unknown;

/** A filter of one's own: whether the route takes the message. Its texts are the first 4,096 characters (`maxText`). */
export type Predicate = (message: Message) => boolean;

/** Runs around the routes of its bot, in the order of the calls. Not calling `next` keeps the route from running. */
export type Middleware<Config = Readonly<Record<string, unknown>>, Session = undefined> = (
  ctx: Context<Message, unknown, Config, Session>,
  next: () => Promise<void>,
) => unknown;

/** When an interrupt is heard. */
export interface InterruptOptions {
  /** Also heard while a person has the chat (`handoff`, or the owner wrote by hand), and ends that. Default false. */
  endsHandoff?: boolean;
  /**
   * A handler that works for the same person just now is heard to its end. Default false: after a quarter of a second it is cut off,
   * its `ctx.signal` aborts, and nothing of what it wanted happens.
   */
  waits?: boolean;
}

/** How a route answers. */
export type RouteOptions = NewerOptions;

/** One text, or several that mean the same. */
type Words = string | readonly string[];

/**
 * What `defineBot`'s function is given. Routes are asked in this order: keywords, commands; then `word`, `prefix`, `match`
 * and `on` as written; at last `fallback`.
 */
export interface Routes<Config = Readonly<Record<string, unknown>>, Session = undefined> {
  /**
   * The whole message equals the word, or one of them. Case, accents, white space, and punctuation and emoji around the
   * message do not count: `menu` takes "Menú!" and "*MENU* 👋", not "the menu".
   */
  keyword(words: Words, handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /** The message contains the word, or one of them, as a whole word; compared like keywords. */
  word(words: Words, handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /** The message begins with the text, or one of them; `ctx.match` is the rest. Compared like keywords. */
  prefix(texts: Words, handler: Handler<Message, string, Config, Session>, options?: RouteOptions): void;
  /** `/name`, whatever follows: `b.command("order", …)` takes "/order 2 pizzas". */
  command(
    names: Words,
    handler: Handler<Message, CommandMatch, Config, Session>,
    options?: RouteOptions,
  ): void;
  /**
   * The text matches; looked at are its first 4,096 characters (`maxText`). Flags `g` and `y` are dropped: the expression
   * is asked afresh for each message.
   */
  match(
    pattern: RegExp,
    handler: Handler<Message, RegExpExecArray, Config, Session>,
    options?: RouteOptions,
  ): void;
  /** Messages that a filter accepts, one of several filters, or a function. */
  on<F extends Filter>(
    filters: F | readonly F[],
    handler: Handler<Filtered<F>, null, Config, Session>,
    options?: RouteOptions,
  ): void;
  on<M extends Message>(
    filter: (message: Message) => message is M,
    handler: Handler<M, null, Config, Session>,
    options?: RouteOptions,
  ): void;
  on(filter: Predicate, handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /**
   * Whatever a person sent that no other route of this priority took. It also takes the message away from the webhook.
   * Reactions, edits, deletions and votes never get here: ask for them with `on`.
   */
  fallback(handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /** Runs around every route, dialogue and timer of this bot. */
  use(middleware: Middleware<Config, Session>): void;
  /** Sees every message of the bot's chats that may be answered, whoever answers. It cannot reply, and nobody waits for its result. */
  tap(observer: (observation: Observation<Config>) => unknown): void;
  /**
   * Words that are heard before any dialogue and before a webhook that holds the chat: "cancel", "stop", "help". They do not wait for
   * a handler that works for the same person; see `waits`.
   */
  interrupt(words: Words, handler: Handler<Message, null, Config, Session>, options?: InterruptOptions): void;
  /**
   * Runs when a timer of this key is due (`ctx.after`, `ctx.at`): `b.timer<{ order: string }>("remind", …)` says what its data are.
   *
   * @returns the key; where it is handed over instead of the text, the compiler checks the data
   */
  timer<Data = unknown>(key: string, handler: TimerHandler<Data, Config, Session>): TimerKey<Data>;
  /** A question with options, known to this bot: `ctx.start(…)` begins it. See {@link MenuDefinition}. */
  menu(id: string, definition: MenuDefinition<Context<Message, null, Config, Session>>): Menu;
  /** Questions one after the other, known to this bot: `ctx.start(…)` begins it, `done` gets the answers. */
  form<F extends Fields>(
    id: string,
    fields: F,
    done: (ctx: Context<Message, null, Config, Session>, values: Values<F>) => unknown,
    options?: DialogueOptions,
  ): Form<F>;
  /**
   * A conversation as a function that reads from top to bottom, known to this bot: `ctx.start(…)` begins it.
   * See `FlowContext`.
   */
  flow<Input = undefined, Output = unknown>(
    id: string,
    options: FlowOptions,
    body: FlowFunction<Input, Output, Config>,
  ): Flow<Input, Output>;
  flow<Input = undefined, Output = unknown>(
    id: string,
    body: FlowFunction<Input, Output, Config>,
  ): Flow<Input, Output>;
  /** Kinds of questions for `form`, for files that import nothing. */
  readonly fields: typeof fields;
  /** Makes dialogues known that were made outside of this function, so that they go on after a restart. */
  dialogue(...dialogues: Dialogue<never>[]): void;
}
