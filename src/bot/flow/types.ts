import type { Duration } from "../duration.ts";
import type { FetchOptions } from "../fetching.ts";
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
import type { AnyContext, Content, Dialogue, HandoffOptions, NewerOptions } from "../types/context.ts";
import type { MediaKind } from "../../model/messages.ts";
import type { Kept } from "../types/kept.ts";

/** What every question of a flow takes. */
export interface AskOptions {
  /** Earlier keys of this question: what was answered under them counts. */
  was?: string | readonly string[];
  /**
   * What it depends on besides its text and what can be chosen: when that is another than when it was answered, it is asked
   * anew. Default: nothing.
   */
  of?: unknown;
}

/** How something outside is done. */
export interface StepOptions extends NewerOptions {
  /** How often it is tried; default 1. Between two tries the flow sleeps: 2 s, 10 s, a minute, 5 and then 15 minutes. */
  tries?: number;
  /** Time for one try; default: that of the handler. */
  timeout?: Duration;
  /** What it depends on: when that is another than when it was done, it is done anew. Default: it is done once. */
  of?: unknown;
  /** Earlier keys of this step: what was done under them is not done again. */
  was?: string | readonly string[];
}

/** How somebody else's server is asked as a step. */
export interface CallOptions<T> extends StepOptions, Omit<FetchOptions, "signal" | "timeout"> {
  /** What its answer must be (any Standard Schema); another one is a failed try. Default: it is believed. */
  schema?: StandardSchema<unknown, T>;
}

/** What a flow waits for besides an answer: a time, a signal, or whichever comes first. */
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
 * What ended the waiting: the signal with what was sent along, or the time. `late`: the time was over long before, because it
 * was a past one, a person had the chat, or the gateway was away.
 */
export type Woken = { signal: string; value: unknown; late: false } | { signal: null; late: boolean };

/** What happens to a conversation that changed code cannot go on with. */
export type OnChange =
  /** It begins anew. */
  | "restart"
  /** It ends in silence. */
  | "end"
  /** It ends, and this is said. */
  | { say: string }
  /** Makes a journal that fits of the one that does not; null ends it. */
  | ((journal: readonly FlowEntry[]) => readonly FlowEntry[] | null);

/** What a question was when it was answered, in digests. */
export interface AnsweredAs {
  locale: string;
  text: string;
  options: string;
  /** Of what was chosen. */
  label?: string;
}

/** One thing that a flow has got: an answer, the result of a step, why a step failed, or another value. */
export interface FlowEntry {
  key: string;
  kind: "answer" | "step" | "failed" | "value";
  value: unknown;
  /** Digest of what a step or a question depended on. */
  of?: string;
  /** As a question was shown; not there when an earlier version has kept the answer. */
  shown?: AnsweredAs;
  /** Id of the message that was the answer. */
  message?: string;
}

/** How a flow behaves. */
export interface FlowOptions extends DialogueOptions {
  /** What is said after an error in the flow's code, which ends it; false: nothing. Default: an apology in the chat's language. */
  onError?: { say: string } | false;
  /** Default: it ends with a text, and the log says so. */
  onChange?: OnChange;
  /** Earlier ids of this flow: conversations that were begun under them go on here. */
  was?: string | readonly string[];
}

/** A conversation as a function; `ctx.start(flow, input)` begins it. */
export interface Flow<Input = undefined, Output = unknown> extends Dialogue<Input> {
  readonly kind: "flow";
  readonly body: FlowFunction<Input, Output>;
}

/** The code of a flow. It runs from the top at every message: what it did is not done again, what it got is given again. */
export type FlowFunction<Input = undefined, Output = unknown, Config = Readonly<Record<string, unknown>>> = (
  f: FlowContext<Input, Config>,
) => Promise<Output> | Output;

/** The value, or null as well when `skip` allows to leave the question unanswered. */
type OrNull<O, Value> = O extends { skip: string | readonly string[] } ? Value | null : Value;

/**
 * What the function of a flow is given. Questions and steps have keys: answers and results are kept under them, never by their
 * position, so that code may change while people are in the middle. A key that comes again, in a loop, is counted.
 */
export interface FlowContext<Input = undefined, Config = Readonly<Record<string, unknown>>> extends Pick<
  AnyContext,
  "from" | "chat" | "locale" | "log" | "fetch" | "t" | "store" | "history"
> {
  /** What the flow was begun with. */
  readonly input: Input;
  readonly config: Config;

  /** A text. */
  text<O extends TextOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, string>>;
  /** An e-mail address, in lower case. */
  email<O extends FieldOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, string>>;
  /** A telephone number with its country, as digits. */
  phone<O extends FieldOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, string>>;
  /** A number. */
  number<O extends NumberOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, number>>;
  /** One of several that stand in the code; the value is the key. */
  choice<const Key extends string, O extends ChoiceOptions & AskOptions>(
    key: string,
    question: string,
    choices: Choices<Key>,
    options?: O,
  ): Promise<OrNull<O, Key>>;
  /** One of several that are known when it is asked; the value is the item that stood there then. */
  choose<Item, O extends ChoiceOptions & AskOptions>(
    key: string,
    question: string,
    items: readonly Item[],
    label: (item: Item) => string,
    options?: O,
  ): Promise<OrNull<O, Kept<Item>>>;
  /** Yes or no. */
  confirm<O extends Omit<ConfirmOptions, "onNo"> & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, boolean>>;
  /** A file. */
  file<O extends FieldOptions & AskOptions & { kinds?: readonly MediaKind[] }>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, FileAnswer>>;
  /** A place. */
  location<O extends FieldOptions & AskOptions>(
    key: string,
    question: string,
    options?: O,
  ): Promise<OrNull<O, { latitude: number; longitude: number; name: string | null; address: string | null }>>;
  /** Any kind of question, as forms have them. */
  ask<Value>(key: string, field: Field<Value>, options?: AskOptions): Promise<Value>;

  /** Says something, in the order of the calls, with the next question or at the end. @returns the message's id */
  say(content: Content): string;
  /** Sends to another chat than this. @returns the message's id, the same whenever the flow runs again: what quotes it names it */
  sendTo(chat: string, content: Content): string;
  /**
   * Does something outside. Its result is kept: it is not done again, whatever the code becomes.
   *
   * @param work gets a signal that ends with the time, and a key that is the same at every try: hand it to the other side
   * @throws {StepFailedError} when the last try has failed
   */
  step<T>(
    key: string,
    work: (signal: AbortSignal, idempotencyKey: string) => Promise<T> | T,
    options?: StepOptions,
  ): Promise<Kept<T>>;
  /**
   * Asks somebody else's server, as a step: its JSON is kept. What changes something there (`json`, `method`) goes with an
   * `idempotency-key` that is the same at every try. An answer that is not 2xx, or no JSON, is a failed try.
   *
   * @throws {StepFailedError} when the last try has failed
   */
  call<T>(key: string, address: string, options?: CallOptions<T>): Promise<Kept<T>>;
  /** Waits for a time, also over restarts, or for a signal that `send` of another flow gives. */
  until(what: Until): Promise<Woken>;
  /** Milliseconds; the same whenever the flow runs again from the top. */
  now(): number;
  /** From 0 up to 1; the same whenever the flow runs again from the top. */
  random(): number;
  /** The same functions with keys of their own, for what is asked of each thing in a list. */
  at(id: string | number): FlowContext<Input, Config>;
  /** Another flow as a part of this one. @returns what it returns */
  run<Part, Output>(flow: Flow<Part, Output>, input: Part): Promise<Output>;
  /** Begins a flow beside this one. It goes on by itself, and asks when nothing else is being asked. Its id is yours; the same again replaces it. */
  spawn<Part>(flow: Flow<Part>, id: string | number, input: Part): void;
  /** Ends a flow that `spawn` began. */
  stop(flow: Flow<never>, id: string | number): void;
  /** Wakes a flow that `spawn` began and that waits for this signal. */
  send(flow: Flow<never>, id: string | number, signal: string, value?: unknown): void;
  /** Begins this flow anew, with a journal that is empty. It does not return. */
  again(input: Input): Promise<never>;
  /** A person takes over. Return it: the flow ends. */
  handoff(options?: HandoffOptions): void;
}
