import type { Duration } from "../duration.ts";
import type { FetchOptions } from "../handlers/fetching.ts";
import type { StandardSchema } from "../standard-schema.ts";
import type {
  ChoiceOptions,
  Choices,
  ConfirmOptions,
  Field,
  FieldOptions,
  FileAnswer,
  NumberOptions,
  TextOptions,
} from "../dialogues/fields.ts";
import type { DialogueOptions } from "../dialogues/texts.ts";
import type { Content, ReceivedFile } from "../types/content.ts";
import type { AnyContext, Dialogue, HandoffOptions, NewerOptions } from "../types/context.ts";
import type { MediaKind } from "../../model/messages.ts";
import type { Kept } from "../types/kept.ts";

/** Options of every question of a flow. */
export interface AskOptions {
  /** Earlier keys of this question. An answer stored under one of them counts. */
  was?: string | readonly string[];
  /**
   * A value that the answer depends on, besides the question's text and its options. When the value differs from the one at
   * the time of the answer, the question is asked again. Default: no such value.
   */
  of?: unknown;
}

/** Options of a step. */
export interface StepOptions extends NewerOptions {
  /**
   * How often to try; default 1. Between tries the flow sleeps: 2 s, 10 s, 1 min, 5 min, then 15 min each. What cannot get
   * better is not tried again: an address that `f.fetch` refuses, and an error whose `status` is 4xx, except 408, 425 and 429.
   */
  tries?: number;
  /**
   * Time for one try. After it the signal aborts and the try has failed, even if the work goes on. Default: the handler's
   * time.
   */
  timeout?: Duration;
  /**
   * A value that the result depends on. When it differs from the one at the time of the step, the step runs again. Default:
   * the step runs once.
   */
  of?: unknown;
  /** Earlier keys of this step. A step that ran under one of them does not run again. */
  was?: string | readonly string[];
}

/** Options of a request that runs as a step. */
export interface CallOptions<T> extends StepOptions, Omit<FetchOptions, "signal" | "timeout"> {
  /**
   * Schema of the response (any Standard Schema). A response that does not match is a failed try. Default: any JSON is
   * accepted.
   */
  schema?: StandardSchema<unknown, T>;
}

/** Options of a review. */
export interface ReviewOptions extends Omit<ConfirmOptions, "onNo"> {
  /**
   * What an answer is called, by its key: for its line, and to correct it. A text or a key of `locales/*.json`. Default: the
   * key, with a capital letter.
   */
  labels?: Readonly<Record<string, string>>;
}

/**
 * What a flow waits for other than an answer: a time, a signal, or whichever comes first. A time in the past, or below zero,
 * has come: the flow goes on at once.
 */
export type Until =
  | Duration
  | Date
  | {
      at?: Duration | Date;
      signal?: string;
      /** So long after its time it is still worth going on: after that it is `late`. Default: it is never late. */
      expire?: Duration;
    };

/**
 * What ended the wait: the signal with its value, or the time. `late`: the flow woke more than `expire` after that time,
 * because the time was in the past, a person had the chat, or the gateway was down.
 */
export type Woken = { signal: string; value: unknown; late: false } | { signal: null; late: boolean };

/** What happens to a conversation that cannot continue with the changed code. */
export type OnChange =
  /** The conversation starts over. */
  | "restart"
  /** The conversation ends, and nothing is sent. */
  | "end"
  /** The conversation ends, and this text is sent. */
  | { say: string }
  /** Turns the old journal into one that fits. Null ends the conversation. */
  | ((journal: readonly FlowEntry[]) => readonly FlowEntry[] | null);

/** The question at the time it was answered, as digests. */
export interface AnsweredAs {
  locale: string;
  text: string;
  /** Missing: it had none. */
  options?: string;
  /** Digest of the chosen option's label. */
  label?: string;
}

/** One entry of a flow's journal: an answer, the result of a step, the error of a failed step, or another value. */
export interface FlowEntry {
  key: string;
  kind: "answer" | "step" | "failed" | "value";
  value: unknown;
  /** Digest of the step's or the question's `of`. */
  of?: string;
  /** The question as it was shown. Missing when an earlier version stored the answer. */
  shown?: AnsweredAs;
  /** Id of the message that answered the question. */
  message?: string;
}

/** Options of a flow. */
export interface FlowOptions extends DialogueOptions {
  /**
   * Sent after an error in the flow's code; the flow then ends. False: nothing is sent. Default: an apology in the chat's
   * language.
   */
  onError?: { say: string } | false;
  /** Default: the flow ends with a text, and the log says so. */
  onChange?: OnChange;
  /** Earlier ids of this flow. Conversations that began under them continue here. */
  was?: string | readonly string[];
}

/**
 * A conversation as a function. `ctx.start(flow, input)` starts it. The types of the input and of the result are those of the
 * function: write the type at its second parameter.
 */
export interface Flow<Input = undefined, Output = unknown> extends Dialogue<Input> {
  readonly kind: "flow";
  readonly body: FlowFunction<Input, Output>;
}

/**
 * The code of a flow. It runs from the top at every message: finished steps do not run again, and stored answers and results
 * are returned. `input` is the value that the flow was started with.
 *
 * @example b.flow("visit", async (f, { name }: { name: string }) => f.confirm("coming", `${name}, are you coming?`))
 */
export type FlowFunction<
  Input = undefined,
  Output = unknown,
  Config = Readonly<Record<string, unknown>>,
  // oxlint-disable-next-line typescript/no-explicit-any -- of whatever bot
  Session = any,
> = (f: FlowContext<Input, Config, Session>, input: Input) => Promise<Output> | Output;

/** The value; also null when `skip` is set. */
type OrNull<O, Value> = O extends { skip: string | readonly string[] } ? Value | null : Value;

/**
 * The argument of a flow's function. Each question and each step has a key, and its result is stored under that key, not by
 * position. So the code may change while conversations are open. In a loop, a key that appears again gets a number.
 */
export interface FlowContext<
  Input = undefined,
  Config = Readonly<Record<string, unknown>>,
  // oxlint-disable-next-line typescript/no-explicit-any -- of whatever bot
  Session = any,
> extends Pick<AnyContext, "from" | "chat" | "locale" | "log" | "fetch" | "t" | "store" | "history"> {
  readonly config: Config;
  /**
   * What the bot stores about this chat, as `ctx.session`. Change its keys: each change counts once, although the code runs
   * again, and is stored with the turn's replies. Other routes may change the session meanwhile; each turn reads it anew.
   */
  readonly session: Session;

  /** Asks for a text. */
  text<O extends TextOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, string>>;
  /** Asks for an e-mail address. The value is in lower case. */
  email<O extends FieldOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, string>>;
  /** Asks for a phone number with country code. The value is digits. */
  phone<O extends FieldOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, string>>;
  /** Asks for a number. */
  number<O extends NumberOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, number>>;
  /** Asks for one of several options that the code lists. The value is the option's key. */
  choice<const Key extends string, O extends ChoiceOptions & AskOptions>(
    key: string,
    question: string,
    choices: Choices<Key>,
    options?: O,
  ): Promise<OrNull<O, Key>>;
  /** Asks for one of several items that are known only when the question is asked. The value is the item that was shown then. */
  choose<Item, O extends ChoiceOptions & AskOptions>(
    key: string,
    question: string,
    items: readonly Item[],
    label: (item: Item) => string,
    options?: O,
  ): Promise<OrNull<O, Kept<Item>>>;
  /** Asks for yes or no. */
  confirm<O extends Omit<ConfirmOptions, "onNo"> & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, boolean>>;
  /**
   * Shows answers for confirmation, then asks yes or no: one line for each answer, the question, and how to correct one
   * ("change name"). A correction asks that question again; afterwards the review is shown again. It counts only for what it
   * showed.
   *
   * @param answers what is shown, by the key of its question; a value that is no answer of this flow is shown only
   */
  review<O extends ReviewOptions & AskOptions>(
    key: string,
    question: string,
    answers: Readonly<Record<string, string | number | boolean | null>>,
    options?: O,
  ): Promise<OrNull<O, boolean>>;
  /** Asks for a file. */
  file<O extends FieldOptions & AskOptions & { kinds?: readonly MediaKind[] }>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, FileAnswer>>;
  /** Asks for a location. */
  location<O extends FieldOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, { latitude: number; longitude: number; name: string | null; address: string | null }>>;
  /** Asks any kind of question that forms have. */
  ask<Value>(key: string, field: Field<Value>, options?: AskOptions): Promise<Value>;

  /**
   * Adds a text or a file to what is sent with the next question, or at the end. The order of the calls is kept. @returns the
   * message's id
   */
  say(content: Content): string;
  /**
   * Sends to another chat. @returns the message's id, the same whenever the flow runs again; an answer that quotes the
   * message carries it
   */
  sendTo(chat: string, content: Content): string;
  /** Puts an emoji on the message that is answered; "" removes it. @returns the message's id */
  react(emoji: string): string;
  /** Sets the language of this bot in this chat, at once: what follows is asked and said in it. */
  setLocale(locale: string): void;
  /**
   * Downloads the file of an answer, also of an earlier turn. Call it inside a step, and return what you need of the file.
   *
   * @throws when the message is not stored any more, or WhatsApp does not deliver the file
   */
  bytes(answer: FileAnswer): Promise<ReceivedFile>;
  /**
   * Does something outside, such as a booking. The result is stored: the step does not run again, however the code changes.
   *
   * @param work gets a signal that aborts when the time is up, and a key that is the same at every try: pass it to the other
   * system
   * @throws {StepFailedError} when the last try fails
   */
  step<T>(
    key: string,
    work: (signal: AbortSignal, idempotencyKey: string) => Promise<T> | T,
    options?: StepOptions,
  ): Promise<Kept<T>>;
  /**
   * Sends a request as a step, and stores the JSON of the response. Requests that change something (`json`, `method`) carry
   * an `idempotency-key` header that is the same at every try. A response that is not 2xx, or not JSON, is a failed try.
   *
   * @throws {StepFailedError} when the last try fails
   */
  call<T>(key: string, address: string, options?: CallOptions<T>): Promise<Kept<T>>;
  /** Waits for a time or for a signal. Another flow gives the signal with `send`. The wait survives restarts. */
  until(what: Until): Promise<Woken>;
  /** Time in Unix milliseconds. The value is the same whenever the flow runs again from the top. */
  now(): number;
  /** A random number from 0 up to 1. The value is the same whenever the flow runs again from the top. */
  random(): number;
  /** Returns the same functions with keys of their own, for questions about each item of a list. */
  at(id: string | number): FlowContext<Input, Config, Session>;
  /** Runs another flow as a part of this one. @returns what that flow returns */
  run<Part, Output>(flow: Flow<Part, Output>, input: Part): Promise<Output>;
  /**
   * Starts a flow beside this one. It continues on its own, and asks questions only while nothing else is being asked. You
   * choose the id; the same id again replaces the flow.
   */
  spawn<Part>(flow: Flow<Part>, id: string | number, input: Part): void;
  /** Ends a flow that `spawn` started. */
  stop(flow: Flow<never>, id: string | number): void;
  /** Wakes a flow that `spawn` started and that waits for this signal. */
  send(flow: Flow<never>, id: string | number, signal: string, value?: unknown): void;
  /** Starts this flow over with an empty journal. It does not return. */
  again(input: Input): Promise<never>;
  /** Hands the chat to a person. Return its result: the flow then ends. */
  handoff(options?: HandoffOptions): void;
}
