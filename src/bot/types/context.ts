import type { ChatKind } from "../../model/messages.ts";
import type { PastMessage } from "../../model/past-message.ts";
import type { DialogueState, Foreseen, Idle, Resumed, Turn } from "./dialogue.ts";
import type { Duration } from "../duration.ts";
import type { FetchOptions } from "../fetching.ts";
import type { Kept } from "./kept.ts";
import type { Message } from "./message.ts";
import type { BotStore } from "./store.ts";

/** Structured log lines of the bot; never put into them what people wrote. */
export interface BotLog {
  debug(fields: object, text?: string): void;
  info(fields: object, text?: string): void;
  warn(fields: object, text?: string): void;
  error(fields: object, text?: string): void;
}

/** What every kind of reply takes. */
export interface ReplyOptions {
  /** Quote the message that is answered. Default false. */
  quote?: boolean;
}

/** What a reply with a text takes. */
export interface TextOptions extends ReplyOptions {
  /** People whom the text mentions as `@digits`: digits or `…@lid`. */
  mentions?: readonly string[];
}

/** A file: its address, or its bytes. */
export type FileSource = string | { url: string } | { bytes: Uint8Array; fileName?: string };

/** What a reply with a file takes. */
export interface FileOptions extends ReplyOptions {
  /** Text under an image, a video or a document. */
  caption?: string;
  /** Documents only; default: the last part of the address. */
  fileName?: string;
}

/** What a poll takes. */
export interface PollOptions extends ReplyOptions {
  /** Any number of answers instead of one. Default false. */
  multiple?: boolean;
}

/** What can be sent, as data: `ctx.reply` and `ctx.sendTo` take it. */
export type Content =
  | string
  | { text: string; mentions?: readonly string[] }
  | { image: FileSource; caption?: string }
  | { video: FileSource; caption?: string }
  | { audio: FileSource }
  | { voice: FileSource }
  | { document: FileSource; fileName?: string; caption?: string }
  | { poll: string; options: readonly string[]; multiple?: boolean };

/** A file that came with the message. */
export interface ReceivedFile {
  bytes: Buffer;
  mimetype: string;
  /** "" when the message has none. */
  fileName: string;
}

/** How long a person takes over, and what is said before. */
export interface HandoffOptions {
  /** How long bots keep silent in the chat. Default: `TAKEOVER_MINUTES`; at least one minute. */
  for?: Duration;
  /** Said before the bots fall silent. */
  say?: string;
}

/** What a `timer` route is given of the timer. */
export interface Timer<Data = unknown> {
  readonly key: string;
  /** Null when it was set without one. */
  readonly id: string | null;
  /** As JSON keeps it: a Date is its text. */
  readonly data: Data;
}

declare const dataOf: unique symbol;
/** A timer's key, as `b.timer` returns it: the text, and for the compiler what its data are. */
export type TimerKey<Data> = string & { readonly [dataOf]: Data };

/** What follows the key where a timer is set. Data are needed when the key says what they are. */
export type TimerArguments<Key, Options> =
  Key extends TimerKey<infer Data>
    ? undefined extends Data
      ? [data?: Data, options?: Options]
      : [data: Data, options?: Options]
    : [data?: unknown, options?: Options];

/** Which timer it is, and until when. */
export interface TimerOptions {
  /** Tells timers of one key in one chat apart: 1 to 64 characters. Default: the chat has one of the key. */
  id?: string | number;
  /** What becomes of one that is set already: it is replaced (default), or stays as it is. */
  existing?: "replace" | "keep";
  /**
   * When it does not run any more, and what it has said does not leave any more, whatever held it up: a date, or how long after
   * its time. Default: it runs however late.
   */
  expire?: Duration | Date;
}

/** What `ctx.at` takes besides. */
export interface DateOptions extends TimerOptions {
  /** What becomes of it when the time is over: it runs at once (default), or not at all. */
  past?: "now" | "skip";
}

/** What becomes of work under way when the person goes on writing. */
export interface NewerOptions {
  /**
   * `restart`: a newer text of the same writer aborts `ctx.signal`, and the handler runs anew, for all texts together (line by
   * line). Only while nothing was done: from the first step that has given something, a newer text waits for its turn, and so does
   * one that another bot or an interrupt takes. Default: it always waits.
   */
  newer?: "restart";
}

/**
 * What a handler is given: the same in routes, dialogues and timers. It is closed when the handler has returned: then
 * everything that would change or send something throws ContextClosedError.
 *
 * Nothing leaves while a handler runs. Replies, session, timers, dialogue and handing over are kept and committed together
 * with the fact that the message is done: all of it happens once, or, when the handler fails, nothing.
 */
export interface Context<
  M = Message,
  Match = RegExpExecArray | null,
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
> {
  /** What the person wrote, as it arrived; "" when there is nothing to read. */
  readonly text: string;
  /** `match`: what the expression found; `command`: see {@link CommandMatch}; `prefix`: the rest; else null. */
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
  /** The linked number itself, digits. */
  readonly number: string;
  /** The whole message, frozen. */
  readonly message: M;
  /** The number's own settings for this bot (`PUT /devices/{number}/bots`), as the bot's `config` schema reads them. */
  readonly config: Config;
  /** What the bot remembers of this chat (in a group: of this writer). Change it; it is stored with the replies. */
  session: Session;
  /** For this message only: what middleware hands to routes. */
  readonly vars: Record<string, unknown>;
  readonly log: BotLog;
  /** Aborts when the handler's time is up: hand it to `fetch`. */
  readonly signal: AbortSignal;
  /** Language for `t`: what `setLocale` chose in this chat, else the binding's `config.locale`, else the bot's. */
  readonly locale: string;
  /** What a `timer` route was set with; null elsewhere. */
  readonly timer: Timer | null;
  /** Milliseconds; use it instead of `Date.now()`, so that tests can run another clock. */
  now(): number;

  /**
   * Adds a reply. Replies leave in the order of the calls, once the handler has returned.
   *
   * @returns the id that the message will have, as all that sends does: what quotes it says `ctx.message.quoted.id`
   * @throws {TypeError} a text that is blank or longer than 65,536 characters, a poll without 2 to 12 options, …
   */
  reply(content: Content, options?: TextOptions): string;
  /** A picture, with a caption. */
  image(file: FileSource, options?: FileOptions): string;
  /** A video, with a caption. */
  video(file: FileSource, options?: FileOptions): string;
  /** Sound as a file. */
  audio(file: FileSource, options?: ReplyOptions): string;
  /** Sound as a voice note. */
  voice(file: FileSource, options?: ReplyOptions): string;
  /** Any file, to be downloaded. */
  document(file: FileSource, options?: FileOptions): string;
  /** A question with 2 to 12 options; the votes come as messages (`b.on("poll:vote", …)`). */
  poll(question: string, options: readonly string[], settings?: PollOptions): string;
  /** An emoji on the message that is answered; "" takes it back. */
  react(emoji: string): string;
  /**
   * Sends to another chat than this: digits, `…@lid`, `…@g.us`, `…@newsletter`.
   * Paced like sends by REST, because it answers nobody.
   *
   * @returns the id that the message will have
   */
  sendTo(chat: string, content: Content): string;

  /** Begins a dialogue; its first question leaves after what was replied so far. Another one that is under way ends. */
  start<Input>(
    dialogue: Dialogue<Input>,
    ...input: undefined extends Input ? [input?: Input] : [input: Input]
  ): void;
  /**
   * Has another bot of this number begin one of its menus, forms or flows, with its own settings. It speaks after what was replied here, and
   * the chat is its from then on.
   *
   * @param input what the dialogue is begun with
   * @throws {TypeError} when no such bot is on here
   */
  startIn(bot: string, dialogue: string, input?: unknown): void;
  /** Ends the dialogue that is under way. @param say said to the person */
  leave(say?: string): void;
  /** A person takes over: bots are silent in this chat for a while, as when the owner writes by hand. */
  handoff(options?: HandoffOptions): void;
  /** Not mine: all that was said and changed so far is dropped; the next route or bot is asked, at last the webhook. */
  next(): void;

  /**
   * Does something outside once for this message: its result is stored at once, and a handler that runs again after a crash
   * gets it instead of doing it again. Only a crash between the effect and its storing does it twice: give the other side
   * `ctx.idempotencyKey(key)`.
   *
   * @param key names the effect within this message
   * @param work its result must be JSON: what comes back is what JSON keeps, a Date is its text
   * @param options `newer`: see {@link NewerOptions}
   */
  step<T>(
    key: string,
    work: (signal: AbortSignal) => Promise<T> | T,
    options?: NewerOptions,
  ): Promise<Kept<T>>;
  /** The same text whenever this step of this message runs. */
  idempotencyKey(key: string): string;
  /** Runs the bot's `timer` route of this key later, also after a restart. Setting it again moves it. */
  after<Key extends string>(delay: Duration, key: Key, ...rest: TimerArguments<Key, TimerOptions>): void;
  /** As `after`, at a time of the calendar. @returns false when that is over and is skipped (`past: "skip"`) */
  at<Key extends string>(date: Date, key: Key, ...rest: TimerArguments<Key, DateOptions>): boolean;
  /** Forgets a timer that is not due yet; with an id the one of that id. */
  cancelTimer(key: string, id?: string | number): void;
  /**
   * `fetch`, for addresses that somebody else wrote down: never into a private network unless `ALLOW_PRIVATE_NETWORK` allows
   * it, each redirect checked again, with limits of time and size. It ends with the handler. The answer is read already.
   *
   * @throws {OutboundError} when there is no answer that may be used; `problem` says why
   */
  fetch(address: string | URL, options?: FetchOptions): Promise<Response>;
  /** The message's file. @throws when it has none, or WhatsApp does not give it */
  file(): Promise<ReceivedFile>;
  /**
   * The last messages of this chat, oldest first: of the other side, of bots, and of the owner, also what was written by hand on
   * the phone. The message that is answered is the last; what has come since is not among them.
   *
   * @param count from 1 to 200; fewer when their texts are more than 262,144 characters together
   */
  history(count: number): Promise<PastMessage[]>;
  /** What this bot keeps for itself on this number, in all chats. */
  readonly store: BotStore;
  /** A text of `locales/<language>.json`, `{name}` replaced by `values.name`; the key itself when there is none. */
  t(key: string, values?: Readonly<Record<string, unknown>>): string;
  /** Chooses the chat's language for this bot. */
  setLocale(locale: string): void;
}

/** Any context, for functions that serve several bots. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever a bot's own types are
export type AnyContext = Context<Message, any, any, any>;

/** What a `command` route finds. */
export interface CommandMatch {
  /** Without the slash. */
  readonly command: string;
  /** What stands behind it, trimmed. */
  readonly rest: string;
  /** `rest` at white space. */
  readonly args: readonly string[];
}

/** What a tap is given: everything that can be read, nothing that answers. */
export type Observation<Config = Readonly<Record<string, unknown>>> = Pick<
  Context<Message, null, Config>,
  "text" | "from" | "chat" | "number" | "message" | "config" | "log" | "signal" | "now"
>;

/** What a dialogue may ask about where it runs. */
export interface DialogueHost {
  /** Whether the bot has this dialogue. */
  knows(dialogue: Dialogue<never>): boolean;
  /** Whether a keyword or a command of some bot is exactly this message. */
  isRouted(): boolean;
  /** Whether the code of flows is run twice and compared, as tests do. */
  readonly checksFlows: boolean;
}

/**
 * A conversation over several messages, as data: its state is a row, so that it survives restarts and changed code.
 * `menu`, `form` and `flow` make them.
 */
export interface Dialogue<Input = undefined> {
  readonly kind: string;
  /** Unique within the bot; stored. */
  readonly id: string;
  readonly idle: Idle;
  /** Earlier ids: what was begun under them goes on here. */
  readonly was?: readonly string[];
  /** Asks the first question. */
  begin(ctx: AnyContext, input: Input, host: DialogueHost): Turn | Promise<Turn>;
  /** A message while it is under way. */
  take(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** Says again what it waits for. @returns its state from now on; nothing: as it was */
  remind(
    ctx: AnyContext,
    state: DialogueState,
    host: DialogueHost,
  ): DialogueState | void | Promise<DialogueState | void>;
  /** A word of a bot was answered in between: what it waits for is said again. Left out: it goes on in silence. */
  comeBack?(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** Its `wakeAt` has come. */
  wake?(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** A timer of its own has come. */
  resume?(ctx: AnyContext, data: unknown, host: DialogueHost, how: Resumed): Turn | Promise<Turn>;
  /** What becomes of a stored state with this code; nothing may be done or said. Left out: it goes on. */
  foresee?(ctx: AnyContext, state: DialogueState): Foreseen | Promise<Foreseen>;
  /** Called when it ends because nobody went on. */
  expired?(ctx: AnyContext, state: DialogueState): void | Promise<void>;
}
