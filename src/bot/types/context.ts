import type { ChatKind } from "../../model/messages.ts";
import type { DialogueState, Idle, Turn } from "./dialogue.ts";
import type { Duration } from "../duration.ts";
import type { FetchOptions } from "../fetching.ts";
import type { Message } from "./message.ts";

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
  readonly timer: { readonly key: string; readonly data: unknown } | null;
  /** Milliseconds; use it instead of `Date.now()`, so that tests can run another clock. */
  now(): number;

  /**
   * Adds a reply. Replies leave in the order of the calls, once the handler has returned.
   *
   * @throws {TypeError} a text that is blank or longer than 65,536 characters, a poll without 2 to 12 options, …
   */
  reply(content: Content, options?: TextOptions): void;
  /** A picture, with a caption. */
  image(file: FileSource, options?: FileOptions): void;
  /** A video, with a caption. */
  video(file: FileSource, options?: FileOptions): void;
  /** Sound as a file. */
  audio(file: FileSource, options?: ReplyOptions): void;
  /** Sound as a voice note. */
  voice(file: FileSource, options?: ReplyOptions): void;
  /** Any file, to be downloaded. */
  document(file: FileSource, options?: FileOptions): void;
  /** A question with 2 to 12 options; the votes come as messages (`b.on("poll:vote", …)`). */
  poll(question: string, options: readonly string[], settings?: PollOptions): void;
  /** An emoji on the message that is answered; "" takes it back. */
  react(emoji: string): void;
  /**
   * Sends to another chat than this: digits, `…@lid`, `…@g.us`, `…@newsletter`.
   * Paced like sends by REST, because it answers nobody.
   */
  sendTo(chat: string, content: Content): void;

  /** Begins a dialogue; its first question leaves after what was replied so far. Another one that is under way ends. */
  start<Input>(
    dialogue: Dialogue<Input>,
    ...input: undefined extends Input ? [input?: Input] : [input: Input]
  ): void;
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
   * @param work its result must be JSON
   */
  step<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T): Promise<T>;
  /** The same text whenever this step of this message runs. */
  idempotencyKey(key: string): string;
  /** Runs the bot's `timer` route of this key later, also after a restart. Setting it again moves it. */
  after(delay: Duration, key: string, data?: unknown): void;
  /** Forgets a timer that is not due yet. */
  cancelTimer(key: string): void;
  /**
   * `fetch`, for addresses that somebody else wrote down: never into a private network unless `ALLOW_PRIVATE_NETWORK` allows
   * it, each redirect checked again, with limits of time and size. It ends with the handler. The answer is read already.
   *
   * @throws {OutboundError} when there is no answer that may be used; `problem` says why
   */
  fetch(address: string | URL, options?: FetchOptions): Promise<Response>;
  /** The message's file. @throws when it has none, or WhatsApp does not give it */
  file(): Promise<ReceivedFile>;
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
  /** Its `wakeAt` has come. */
  wake?(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** A timer of its own has come. @param isBusy another dialogue has the chat: nothing may be asked */
  resume?(ctx: AnyContext, data: unknown, host: DialogueHost, isBusy: boolean): Turn | Promise<Turn>;
  /** Called when it ends because nobody went on. */
  expired?(ctx: AnyContext, state: DialogueState): void | Promise<void>;
}
