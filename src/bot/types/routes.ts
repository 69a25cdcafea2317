import type {
  DialogueOptions,
  Fields,
  Form,
  Menu,
  MenuDefinition,
  Values,
  WithItsAnswers,
  fields,
} from "../dialogues/index.ts";
import type { Flow, FlowFunction, FlowOptions } from "../flow/types.ts";
import type { Kept } from "./kept.ts";
import type { Context, CommandMatch, Dialogue, NewerOptions, Observation } from "./context.ts";
import type { Timer, TimerKey } from "./timer.ts";
import type { Filter, Filtered, Message } from "./message.ts";

/** The function of a route. Parley awaits it and ignores its result. */
export type Handler<
  M = Message,
  Match = RegExpExecArray | null,
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
> = (ctx: Context<M, Match, Config, Session>) => unknown;

/** The function of a timer's route. */
export type TimerHandler<Data, Config = Readonly<Record<string, unknown>>, Session = undefined> = (
  ctx: Context<Message, null, Config, Session> & { readonly timer: Timer<Kept<Data>> },
) => unknown;

/** Your own filter: returns true when the route takes the message. It sees the first 4,096 characters of each text (`maxText`). */
export type Predicate = (message: Message) => boolean;

/** Runs around the routes of its bot, in the order of the `use` calls. If it does not call `next`, the route does not run. */
export type Middleware<Config = Readonly<Record<string, unknown>>, Session = undefined> = (
  ctx: Context<Message, unknown, Config, Session>,
  next: () => Promise<void>,
) => unknown;

/** Options of an interrupt. */
export interface InterruptOptions {
  /** Also works during a takeover (`handoff`, or the owner wrote by hand), and ends it. Default false. */
  endsHandoff?: boolean;
  /**
   * Waits until a handler that is running for the same person has finished. Default false: after a quarter of a second the
   * handler is cut off. Its `ctx.signal` aborts, and its replies and changes are dropped.
   */
  waits?: boolean;
}

/** Options of a route. */
export type RouteOptions = NewerOptions;

/** One text, or several with the same meaning. */
type Words = string | readonly string[];

/**
 * The argument of `defineBot`'s function. Routes are tried in this order: keywords and commands; then `word`, `prefix`,
 * `match` and `on` in the order they are written; last `fallback`.
 */
export interface Routes<Config = Readonly<Record<string, unknown>>, Session = undefined> {
  /**
   * Takes messages that equal the word, or one of the words. Case, accents, white space, and punctuation and emoji around the
   * message do not count: `menu` takes "Menú!" and "*MENU* 👋", but not "the menu".
   */
  keyword(words: Words, handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /** Takes messages that contain the word, or one of the words, as a whole word. Compares like keywords. */
  word(words: Words, handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /** Takes messages that begin with the text, or one of the texts. `ctx.match` is the rest. Compares like keywords. */
  prefix(texts: Words, handler: Handler<Message, string, Config, Session>, options?: RouteOptions): void;
  /** Takes `/name`, whatever follows it: `b.command("order", …)` takes "/order 2 pizzas". */
  command(
    names: Words,
    handler: Handler<Message, CommandMatch, Config, Session>,
    options?: RouteOptions,
  ): void;
  /**
   * Takes messages whose text matches. Only the first 4,096 characters are searched (`maxText`). The flags `g` and `y` are
   * dropped: each message is searched from its beginning.
   */
  match(
    pattern: RegExp,
    handler: Handler<Message, RegExpExecArray, Config, Session>,
    options?: RouteOptions,
  ): void;
  /** Takes messages that pass a filter, one of several filters, or a function. */
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
   * Takes every message of a person that no other route of this priority took. The webhook then does not get the message.
   * Reactions, edits, deletions and votes never reach a fallback: use `on` for them.
   */
  fallback(handler: Handler<Message, null, Config, Session>, options?: RouteOptions): void;
  /** Adds middleware around every route, dialogue and timer of this bot. */
  use(middleware: Middleware<Config, Session>): void;
  /**
   * Calls the observer with every message of the bot's chats that may be answered, whoever answers. It cannot reply, and
   * nobody waits for its result.
   */
  tap(observer: (observation: Observation<Config>) => unknown): void;
  /**
   * Takes words such as "cancel", "stop" and "help" before any dialogue, and before a webhook that holds the chat. They do
   * not wait for a handler that is running for the same person; see `waits`.
   */
  interrupt(words: Words, handler: Handler<Message, null, Config, Session>, options?: InterruptOptions): void;
  /**
   * Adds the handler of a timer (`ctx.after`, `ctx.at`). `b.timer<{ order: string }>("remind", …)` declares the type of its
   * data.
   *
   * @returns the key; pass it instead of the text, and the compiler checks the data
   */
  timer<Data = unknown>(key: string, handler: TimerHandler<Data, Config, Session>): TimerKey<Data>;
  /** Adds a menu to this bot. `ctx.start(…)` starts it. See {@link MenuDefinition}. */
  menu(id: string, definition: MenuDefinition<Context<Message, null, Config, Session>>): Menu;
  /** Adds a form to this bot. `ctx.start(…)` starts it, and `done` gets the answers. */
  form<F extends Fields>(
    id: string,
    fields: F & WithItsAnswers<F>,
    done: (ctx: Context<Message, null, Config, Session>, values: Values<F>) => unknown,
    options?: DialogueOptions,
  ): Form<F>;
  /**
   * Adds a flow to this bot: a conversation as a function that reads from top to bottom. `ctx.start(…)` starts it. See
   * `FlowContext`.
   */
  flow<Input = undefined, Output = unknown>(
    id: string,
    options: FlowOptions,
    body: FlowFunction<Input, Output, Config, Session>,
  ): Flow<Input, Output>;
  flow<Input = undefined, Output = unknown>(
    id: string,
    body: FlowFunction<Input, Output, Config, Session>,
  ): Flow<Input, Output>;
  /** Kinds of questions for `form`, for files that import nothing. */
  readonly fields: typeof fields;
  /** Adds dialogues that were made outside this function, so that they continue after a restart. */
  dialogue(...dialogues: Dialogue<never>[]): void;
}
