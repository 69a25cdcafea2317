import type { MediaKind } from "../../model/messages.ts";
import { normalise } from "../messages/normalise.ts";
import { isEmail, isNumber, isOffered, isText, isThing, isWritten, isYesOrNo } from "./accepted.ts";
import { numberIn } from "./numbers.ts";
import { understoodIn } from "./words.ts";
import type { AnyContext } from "../types/context.ts";
import {
  chosen,
  inLanguage,
  refuseDoubles,
  refuseNumbers,
  showChoices,
  type Choice,
  type Rendering,
  type Shown,
} from "./choices.ts";

/**
 * The question of a field: a text, a key of `locales/*.json`, or a function of the earlier answers. Write the type of the
 * answers that the function uses, `(ctx, answers: { name: string }) => …`: a form without such answers does not compile.
 */
export type Question<Answers = AnyAnswers> =
  | string
  | ((ctx: AnyContext, answers: Answers) => string | Promise<string>);

/** The earlier answers, by key. */
type AnyAnswers = Readonly<Record<string, unknown>>;

/**
 * What an answer was read as. `problem` replaces the form's retry text. `gone`: the option was shown but no longer exists;
 * the question is asked again, and no try is used up.
 */
export type Reading<Value> = { value: Value } | { problem: string | null } | { gone: string };

/** One question of a form, and which answers it accepts. Values are stored, so they must be JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever answers
export interface Field<Value, Answers = any> {
  readonly question: Question<Answers>;
  /** Returns the options each time the question is asked. Without it, the question has none. */
  readonly options?: (ctx: AnyContext, answers: Answers) => readonly Choice[] | Promise<readonly Choice[]>;
  /** Sends the question. */
  ask(ctx: AnyContext, shown: Shown): void;
  /** @param shown the question as the person has seen it, kept since */
  read(ctx: AnyContext, shown: Shown): Reading<Value> | Promise<Reading<Value>>;
  /** Whether a stored answer is still valid. Without it, every stored answer is. */
  accepts?(value: unknown): boolean;
  /** A "yes" counts only for the words that were shown. When the words change, the question is asked again. */
  readonly confirms?: true;
  /** The options, when the code lists them. */
  readonly list?: readonly Choice[];
  /** The kind of message that counts as an answer. Default `text`. */
  readonly wants?: "text" | "file" | "location";
  /** Words that skip the question. The value is then null. */
  readonly skip: readonly string[];
  readonly tries: number | null;
  /** What an answer does to the whole form. Default `go_on`. */
  readonly outcome?: (value: Value) => "go_on" | "cancel" | "restart";
}

/** The type of a field's value. */
export type ValueOf<F> = F extends Field<infer Value> ? Value : never;

/** Options of every kind of question. */
export interface FieldOptions {
  /** Sent when the answer is not valid, instead of the form's own text. */
  retry?: string;
  /** Overrides the form's number of tries. */
  tries?: number;
  /** Words that skip the question, such as "skip"; the value is then null. Default: an answer is required. */
  skip?: string | readonly string[];
}

/** The value; also null when `skip` is set. */
type Skipped<O, Value> = O extends { skip: string | readonly string[] } ? Value | null : Value;

function field<Value, O extends FieldOptions, Answers = AnyAnswers>(
  question: Question<Answers>,
  { retry, tries, skip }: O,
  read: (ctx: AnyContext, shown: Shown) => Value | undefined | Promise<Value | undefined>,
  ask: (ctx: AnyContext, shown: Shown) => void = (ctx, { text: asked }) => ctx.reply(asked),
): Field<Skipped<O, Value>, Answers> {
  const words = (skip === undefined ? [] : [skip].flat()).map((word) => normalise(word) ?? "");
  return {
    question,
    ask,
    skip: words,
    tries: tries ?? null,
    async read(ctx, shown) {
      const text = ctx.message.type === "text" ? normalise(ctx.text) : null;
      if (text !== null && words.includes(text)) return { value: null as Skipped<O, Value> };
      const value = await read(ctx, shown);
      return value === undefined ? { problem: retry ?? null } : { value: value as Skipped<O, Value> };
    },
  };
}

const written = (ctx: AnyContext): string | undefined => {
  const text = ctx.message.type === "text" ? ctx.text.trim() : "";
  return text === "" ? undefined : text;
};

/** Options of a text question. */
export interface TextOptions extends FieldOptions {
  /** Length in characters. Default 1 to 4,000. */
  min?: number;
  max?: number;
  pattern?: RegExp;
  /**
   * Your own check: returns true, or a text that says what is wrong. It may call other systems; use `ctx.step` for what must
   * happen once.
   */
  check?: (value: string, ctx: AnyContext) => boolean | string | Promise<boolean | string>;
}

/** Asks for a text. */
export function text<O extends TextOptions = Record<never, never>, Answers = AnyAnswers>(
  question: Question<Answers>,
  // Both: the constraint alone does not tell a `check` its types within a form.
  options: O & TextOptions = {} as O,
): Field<Skipped<O, string>, Answers> {
  const { check } = options;
  const accepts = (value: unknown): boolean => isText(value, options);
  const read = field<string, O, Answers>(question, options, (ctx) => {
    const value = written(ctx);
    return accepts(value) ? value : undefined;
  });
  const plain = { ...read, accepts };
  if (check === undefined) return plain;
  return {
    ...plain,
    async read(ctx, shown) {
      const reading = await plain.read(ctx, shown);
      if (!("value" in reading) || reading.value === null) return reading;
      const verdict = await check(reading.value as string, ctx);
      if (verdict === true) return reading;
      return { problem: typeof verdict === "string" ? verdict : (options.retry ?? null) };
    },
  };
}

/** Asks for an e-mail address. The value is in lower case. */
export function email<O extends FieldOptions = Record<never, never>, Answers = AnyAnswers>(
  question: Question<Answers>,
  options: O = {} as O,
): Field<Skipped<O, string>, Answers> {
  const plain = field<string, O, Answers>(question, options, (ctx) => {
    const value = written(ctx)?.toLowerCase();
    return isEmail(value) ? value : undefined;
  });
  return { ...plain, accepts: isEmail };
}

/** Asks for a phone number with country code, 7 to 15 digits. The answer `"mine"` stands for the contact's own number. */
export function phone<
  O extends FieldOptions & { mine?: string | readonly string[] } = Record<never, never>,
  Answers = AnyAnswers,
>(question: Question<Answers>, options: O = {} as O): Field<Skipped<O, string>, Answers> {
  const mine = [options.mine ?? "mine"].flat().map((word) => normalise(word));
  const plain = field<string, O, Answers>(question, options, (ctx) => {
    const value = written(ctx) ?? "";
    if (ctx.from.number !== null && mine.includes(normalise(value))) return ctx.from.number;
    const digits = value.replace(/[\s+().-]/g, "").replace(/^00/, "");
    return /^[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
  });
  return { ...plain, accepts: isWritten };
}

/** Options of a number question. */
export interface NumberOptions extends FieldOptions {
  min?: number;
  max?: number;
  /** Whole numbers only. Default false. */
  integer?: boolean;
}

/**
 * Asks for a number. Words may stand around it ("4 people", "somos 4"), and it may be a word: of the chat's language, if that
 * is English, Spanish, Portuguese or Indonesian, or an English one. A comma counts as a decimal point. When the answer has two
 * numbers or may mean thousands ("1,000"), the question is asked again.
 */
export function number<O extends NumberOptions = Record<never, never>, Answers = AnyAnswers>(
  question: Question<Answers>,
  options: O = {} as O,
): Field<Skipped<O, number>, Answers> {
  const accepts = (value: unknown): boolean => isNumber(value, options);
  const plain = field<number, O, Answers>(question, options, (ctx) => {
    const read = numberIn(written(ctx) ?? "", ctx.locale);
    return accepts(read) ? read : undefined;
  });
  return { ...plain, accepts };
}

/** The options: labels by key, or a list of labels that are also the keys. A label is a text or a key of `locales/*.json`. */
export type Choices<Key extends string> = Readonly<Record<Key, string>> | readonly Key[];

/** The choices in their order. */
export const listOf = (choices: Choices<string>): Choice[] =>
  Array.isArray(choices)
    ? (choices as readonly string[]).map((key) => ({ key, label: key }))
    : Object.entries(choices).map(([key, label]) => ({ key, label }));

/** How options are shown. */
export interface ChoiceOptions extends FieldOptions {
  /** Default `text`. */
  render?: Rendering;
}

/**
 * Asks for one of several options. The contact answers with a number, a label, a key or a vote. The value is the key.
 *
 * @param choices the options, or a function that returns them each time the question is asked; an answer may choose whatever
 * was shown
 */
export function choice<
  const Key extends string,
  O extends ChoiceOptions = Record<never, never>,
  Answers = AnyAnswers,
>(
  question: Question<Answers>,
  choices: Choices<Key> | ((ctx: AnyContext, answers: Answers) => Choices<Key> | Promise<Choices<Key>>),
  options: O = {} as O,
): Field<Skipped<O, Key>, Answers> {
  const list = typeof choices === "function" ? null : listOf(choices);
  if (list?.length === 0) throw new TypeError("choice() needs at least one option.");
  if (list !== null) refuseDoubles("choice()", list);
  if (list !== null && !Array.isArray(choices)) refuseNumbers("choice()", Object.keys(choices));
  const plain = field<Key, O, Answers>(
    question,
    options,
    (ctx, shown) => chosen(ctx, shown)?.key as Key | undefined,
    (ctx, shown) => showChoices(ctx, shown, options.render ?? "text"),
  );
  return {
    ...plain,
    ...(list && { list }),
    accepts: (value) => isOffered(value, choices),
    async options(ctx, answers) {
      const now = typeof choices === "function" ? listOf(await choices(ctx, answers)) : list!;
      if (now.length === 0) throw new TypeError("choice() needs at least one option.");
      return inLanguage(ctx, now);
    },
    async read(ctx, shown) {
      const reading = await plain.read(ctx, shown);
      const key = "value" in reading ? reading.value : null;
      // What code gives at run time was to be had when it was shown; what stands in the code may have been taken out.
      const isGone = key !== null && list !== null && !list.some((known) => known.key === key);
      return isGone ? { gone: key as string } : reading;
    },
  };
}

/** Your own words for yes and no, and what a no does. */
export interface ConfirmOptions extends FieldOptions {
  yes?: readonly string[];
  no?: readonly string[];
  /** What a "no" does: `cancel` (default) ends the form, `restart` starts it over, `go_on` takes it as an answer. */
  onNo?: "cancel" | "restart" | "go_on";
}

/** Asks for yes or no. A thumbs-up counts as yes. */
export function confirm<O extends ConfirmOptions = Record<never, never>, Answers = AnyAnswers>(
  question: Question<Answers>,
  options: O = {} as O,
): Field<Skipped<O, boolean>, Answers> {
  const { onNo = "cancel" } = options;
  const isOneOf = (value: string, ctx: AnyContext, kind: "yes" | "no"): boolean =>
    options[kind]?.some((word) => normalise(word) === value) ??
    understoodIn(ctx.locale, kind).includes(value);
  const plain = field<boolean, O, Answers>(question, options, (ctx) => {
    const value = normalise(ctx.text);
    if (value === null || ctx.message.type !== "text") return undefined;
    if (isOneOf(value, ctx, "yes")) return true;
    return isOneOf(value, ctx, "no") ? false : undefined;
  });
  return {
    ...plain,
    accepts: isYesOrNo,
    confirms: true,
    outcome: (value) => (value === false ? onNo : "go_on"),
  };
}

/**
 * A file that the contact sent: its kind and type, and the id of its message. `ctx.file()` returns the bytes, but only in the
 * turn in which the file arrives.
 */
export interface FileAnswer {
  messageId: string;
  kind: MediaKind;
  mimetype: string;
  fileName: string;
}

/** Asks for a file: a picture, a document, a voice note, …. `kinds` limits which; default: all kinds. */
export function file<
  O extends FieldOptions & { kinds?: readonly MediaKind[] } = Record<never, never>,
  Answers = AnyAnswers,
>(question: Question<Answers>, options: O = {} as O): Field<Skipped<O, FileAnswer>, Answers> {
  const plain = field<FileAnswer, O, Answers>(question, options, (ctx) => {
    const { media, id } = ctx.message;
    if (media === null || (options.kinds && !options.kinds.includes(media.kind))) return undefined;
    return { messageId: id, kind: media.kind, mimetype: media.mimetype, fileName: media.fileName };
  });
  return { ...plain, accepts: isThing, wants: "file" };
}

/** Asks the contact to share a location. */
export function location<O extends FieldOptions = Record<never, never>, Answers = AnyAnswers>(
  question: Question<Answers>,
  options: O = {} as O,
): Field<
  Skipped<O, { latitude: number; longitude: number; name: string | null; address: string | null }>,
  Answers
> {
  const plain = field(question, options, (ctx) => ctx.message.location ?? undefined);
  return { ...plain, accepts: isThing, wants: "location" };
}
