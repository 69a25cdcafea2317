import type { ChatKind } from "../../model/messages.ts";
import type { PastMessage } from "../../model/past-message.ts";
import type { DialogueState, Foreseen, Idle, Resumed, Turn } from "./dialogue.ts";
import type { Duration } from "../duration.ts";
import type { FetchOptions } from "../handlers/fetching.ts";
import type { Kept } from "./kept.ts";
import type {
  Contact,
  Content,
  FileOptions,
  FileSource,
  Place,
  PollOptions,
  ReceivedFile,
  ReplyOptions,
  SendOptions,
} from "./content.ts";
import type { Message } from "./message.ts";
import type { BotStore } from "./store.ts";
import type { Timer, TimerArguments, TimerOptions } from "./timer.ts";

/** Structured log lines of the bot. Never log what people wrote. */
export interface BotLog {
  debug(fields: object, text?: string): void;
  info(fields: object, text?: string): void;
  warn(fields: object, text?: string): void;
  error(fields: object, text?: string): void;
}

/** How long a person has the chat, and what is sent first. */
export interface HandoffOptions {
  /** How long bots stay silent in the chat. Default `TAKEOVER_MINUTES`; at least one minute. */
  for?: Duration;
  /** Sent before the bots fall silent. */
  say?: string;
}

/** What happens to a running handler when the same person writes again. */
export interface NewerOptions {
  /**
   * `restart`: a newer text by the same writer aborts `ctx.signal` and starts the handler over, for all texts together,
   * joined by line breaks. This holds only until the first step has returned a result. From then on a newer text waits its
   * turn, and so does a text that another bot or an interrupt takes. Default: a newer text always waits.
   */
  newer?: "restart";
}

/**
 * The argument of every handler: the same in routes, dialogues and timers. The context closes when the handler returns; then
 * calls that change or send something throw ContextClosedError.
 *
 * Nothing but the signs of `typing` and `markRead` is sent while a handler runs. Replies, session, timers, dialogue and handoff are committed together with the
 * message's "done". All of it happens once; when the handler fails, none of it does.
 */
export interface Context<
  M = Message,
  Match = RegExpExecArray | null,
  Config = Readonly<Record<string, unknown>>,
  Session = undefined,
> {
  /** The text as it arrived; "" when the message has none. */
  readonly text: string;
  /** How many texts of the person are joined in this one by `burst` or `newer`: otherwise 1. */
  readonly texts: number;
  /**
   * For `match`: the match of the expression. For `command`: see {@link CommandMatch}. For `prefix`: the rest of the text.
   * Otherwise null.
   */
  readonly match: Match;
  readonly from: {
    /** The name that the writer chose; "" when unknown. */
    readonly name: string;
    /** Digits, or null while only the LID is known. */
    readonly number: string | null;
    /** `…@lid`, or null. */
    readonly lid: string | null;
    /** Always set. It stays the same for one person, whether or not the phone number is known. */
    readonly id: string;
  };
  readonly chat: { readonly id: string; readonly kind: ChatKind };
  /** The bot's own number, digits. */
  readonly number: string;
  /** The whole message, frozen. */
  readonly message: M;
  /** The settings of this bot on this number (`PUT /devices/{number}/bots`), as the bot's `config` schema returns them. */
  readonly config: Config;
  /** What the bot stores about this chat (in a group: about this writer). Change it; the change is stored with the replies. */
  session: Session;
  /** Values that middleware passes to routes, for this message only. */
  readonly vars: Record<string, unknown>;
  readonly log: BotLog;
  /** Aborts when the handler's time is up. Pass it to `fetch`. */
  readonly signal: AbortSignal;
  /** Language of `t`: what `setLocale` chose in this chat, otherwise the binding's `config.locale`, otherwise the bot's. */
  readonly locale: string;
  /** The timer that a `timer` route handles; null elsewhere. */
  readonly timer: Timer | null;
  /** Unix milliseconds. Use it instead of `Date.now()`, so that tests can set the clock. */
  now(): number;

  /**
   * Adds a reply. Replies are sent in the order of the calls, once the handler has returned.
   *
   * @returns the id that the message will have, as every call that sends does; when somebody quotes it,
   * `ctx.message.quoted.id` is this id
   * @throws {TypeError} for a text that is blank or longer than 65,536 characters, a poll without 2 to 12 options, …
   */
  reply(content: Content, options?: ReplyOptions): string;
  /** Replies with an image, optionally with a caption. */
  image(file: FileSource, options?: FileOptions): string;
  /** Replies with a video, optionally with a caption. */
  video(file: FileSource, options?: FileOptions): string;
  /** Replies with sound as an audio file. */
  audio(file: FileSource, options?: ReplyOptions): string;
  /** Replies with sound as a voice note. */
  voice(file: FileSource, options?: ReplyOptions): string;
  /** Replies with any file, to be downloaded. */
  document(file: FileSource, options?: FileOptions): string;
  /** Replies with a sticker, made of a picture or a short GIF. WebP of 512 × 512 is sent as it is. */
  sticker(file: FileSource, options?: ReplyOptions): string;
  /** Replies with a poll of 2 to 12 options. Votes arrive as messages (`b.on("poll:vote", …)`). */
  poll(question: string, options: readonly string[], settings?: PollOptions): string;
  /** Replies with a place on the map. @throws {TypeError} for degrees that are none */
  location(place: Place, options?: ReplyOptions): string;
  /** Replies with the cards of 1 to 10 people. Their phones offer to write to each. */
  contact(contacts: Contact | readonly Contact[], options?: ReplyOptions): string;
  /** Puts an emoji on the message that is answered; "" removes it. */
  react(emoji: string): string;
  /**
   * Gives a message that went to this chat another text. WhatsApp shows it as edited, for 15 minutes after it was sent.
   *
   * @param id what `reply` and the others returned
   */
  edit(id: string, text: string): string;
  /** Takes a message that went to this chat back for everyone, for 48 hours. @param id what `reply` and the others returned */
  delete(id: string): string;
  /**
   * Hands a message of this number on to another chat, marked as forwarded: the one that is answered (`ctx.message.id`), or any
   * other by its id. A file that WhatsApp no longer has is uploaded again. The handler fails, and nothing is sent, when the
   * message is not stored any more, or cannot be forwarded.
   *
   * @param chat digits, `…@lid`, `…@g.us` or `…@newsletter`
   * @returns the id that the message will have
   */
  forward(id: string, chat: string, options?: SendOptions): string;
  /**
   * Sends to another chat: digits, `…@lid`, `…@g.us` or `…@newsletter`. The message is paced like a send by REST, because it
   * answers nobody.
   *
   * @returns the id that the message will have
   */
  sendTo(chat: string, content: Content, options?: SendOptions): string;

  /**
   * Shows at once that somebody is typing, until the handler ends. Without it, a handler that takes longer than a second
   * shows it by itself.
   */
  typing(): void;
  /** Tells the writer at once that the message was read: two blue ticks. What a handler answers does not do that. */
  markRead(): void;

  /** Starts a dialogue. Its first question follows the replies so far. A dialogue that is already open ends. */
  start<Input>(
    dialogue: Dialogue<Input>,
    ...input: undefined extends Input ? [input?: Input] : [input: Input]
  ): void;
  /**
   * Lets another bot of this number start one of its menus, forms or flows, with that bot's own settings. Its first question
   * follows the replies so far, and from then on the chat is in its dialogue.
   *
   * @param input the dialogue's input
   * @throws {TypeError} when no such bot is on for this number
   */
  startIn(bot: string, dialogue: string, input?: unknown): void;
  /** Ends the open dialogue. @param say sent to the contact */
  leave(say?: string): void;
  /** Hands the chat to a person. Bots are silent in this chat for a while, as when the owner writes by hand. */
  handoff(options?: HandoffOptions): void;
  /** Declines the message. Replies and changes so far are dropped; the next route or bot is asked, and last the webhook. */
  next(): void;

  /**
   * Does something outside once for this message. The result is stored at once. When the handler runs again after a crash, it
   * gets the stored result. The work runs twice only after a crash between the effect and the storing of its result; so pass
   * `ctx.idempotencyKey(key)` to the other system.
   *
   * @param key names the effect within this message
   * @param work must return JSON; the result comes back as JSON keeps it: a Date comes back as text
   * @param options `newer`: see {@link NewerOptions}
   */
  step<T>(
    key: string,
    work: (signal: AbortSignal) => Promise<T> | T,
    options?: NewerOptions,
  ): Promise<Kept<T>>;
  /** Returns the same text whenever this step of this message runs. */
  idempotencyKey(key: string): string;
  /**
   * Runs the bot's `timer` route with this key later. Timers survive restarts. Setting the timer again moves it.
   *
   * @returns false when that time is in the past and the timer is skipped (`past: "skip"`)
   */
  after<Key extends string>(delay: Duration, key: Key, ...rest: TimerArguments<Key, TimerOptions>): boolean;
  /** Like `after`, at a date. */
  at<Key extends string>(date: Date, key: Key, ...rest: TimerArguments<Key, TimerOptions>): boolean;
  /** Cancels a timer that is not due yet. With an id: the timer with that id. */
  cancelTimer(key: string, id?: string | number): void;
  /**
   * Like `fetch`, for URLs that somebody else wrote. It never enters a private network, unless `ALLOW_PRIVATE_NETWORK`
   * permits it, checks every redirect again, and limits time and size. It ends with the handler. The response has already
   * been read in full.
   *
   * @throws {OutboundError} when there is no usable response; `problem` says why
   */
  fetch(address: string | URL, options?: FetchOptions): Promise<Response>;
  /** Downloads the message's file. @throws when the message has none, or WhatsApp does not deliver it */
  file(): Promise<ReceivedFile>;
  /**
   * Returns the last messages of this chat, oldest first: by the contact, by bots and by the owner, also those written by
   * hand on the phone. The last one is the message that is answered; messages that arrived later are not included.
   *
   * @param count from 1 to 200; fewer come back when their texts exceed 262,144 characters together
   */
  history(count: number): Promise<PastMessage[]>;
  /** What this bot stores for itself on this number, shared by all chats. */
  readonly store: BotStore;
  /** A text of `locales/<language>.json`, with `{name}` replaced by `values.name`. Without such a text: the key itself. */
  t(key: string, values?: Readonly<Record<string, unknown>>): string;
  /** Sets the language of this bot in this chat. */
  setLocale(locale: string): void;
}

/** Any context, for functions that several bots share. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever a bot's own types are
export type AnyContext = Context<Message, any, any, any>;

/** The match of a `command` route. */
export interface CommandMatch {
  /** The name, without the slash. */
  readonly command: string;
  /** The text after the name, trimmed. */
  readonly rest: string;
  /** `rest`, split at white space. */
  readonly args: readonly string[];
}

/** The argument of a tap: all that can be read, nothing that answers. */
export type Observation<Config = Readonly<Record<string, unknown>>> = Pick<
  Context<Message, null, Config>,
  "text" | "from" | "chat" | "number" | "message" | "config" | "log" | "signal" | "now"
>;

/** What a dialogue can ask about the bot it runs in. */
export interface DialogueHost {
  /** Whether the bot has this dialogue. */
  knows(dialogue: Dialogue<never>): boolean;
  /** Whether a keyword or a command of some bot is exactly this message. */
  isRouted(): boolean;
  /** Whether flows run twice and the runs are compared, as in tests. */
  readonly checksFlows: boolean;
}

/**
 * A conversation over several messages, as data. Its state is a database row, so it survives restarts and changed code.
 * `menu`, `form` and `flow` make dialogues.
 */
export interface Dialogue<Input = undefined> {
  readonly kind: string;
  /** Unique within the bot. The id is stored. */
  readonly id: string;
  readonly idle: Idle;
  /** Earlier ids. Conversations that began under them continue here. */
  readonly was?: readonly string[];
  /** Asks the first question. */
  begin(ctx: AnyContext, input: Input, host: DialogueHost): Turn | Promise<Turn>;
  /** Handles a message while the dialogue is open. */
  take(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** Repeats the open question. @returns the new state; nothing keeps the old one */
  remind(
    ctx: AnyContext,
    state: DialogueState,
    host: DialogueHost,
  ): DialogueState | void | Promise<DialogueState | void>;
  /** Repeats the open question after a bot answered a word in between. Without it, the dialogue continues in silence. */
  comeBack?(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** Runs when the time of `wakeAt` has come. */
  wake?(ctx: AnyContext, state: DialogueState, host: DialogueHost): Turn | Promise<Turn>;
  /** Runs when a timer of the dialogue itself is due. */
  resume?(ctx: AnyContext, data: unknown, host: DialogueHost, how: Resumed): Turn | Promise<Turn>;
  /** Tells what happens to a stored state with this code, without doing or sending anything. Without it: the dialogue goes on. */
  foresee?(ctx: AnyContext, state: DialogueState): Foreseen | Promise<Foreseen>;
  /** Runs when the dialogue expires. */
  expired?(ctx: AnyContext, state: DialogueState): void | Promise<void>;
}
