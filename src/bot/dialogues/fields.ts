import type { MediaKind } from "../../model/messages.ts";
import { normalise } from "../normalise.ts";
import { isEmail, isNumber, isOffered, isText, isThing, isWritten, isYesOrNo } from "./accepted.ts";
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

/** The question of a field: a text (or key of `locales/*.json`), or a function of what was answered before. */
export type Question = string | ((ctx: AnyContext, answers: Answers) => string | Promise<string>);

/** What was answered before, by key. */
type Answers = Readonly<Record<string, never>>;

/**
 * What an answer was understood as. `problem` takes the place of the form's own retry text. `gone`: it was shown, and cannot
 * be had any more; the question is asked anew, and no try is used up.
 */
export type Reading<Value> = { value: Value } | { problem: string | null } | { gone: string };

/** One question of a form and what its answer must be. Values must be JSON: they are stored. */
export interface Field<Value> {
  readonly question: Question;
  /** What can be chosen, each time the question is asked; left out: nothing. */
  readonly options?: (ctx: AnyContext, answers: Answers) => readonly Choice[] | Promise<readonly Choice[]>;
  /** Shows the question. */
  ask(ctx: AnyContext, shown: Shown): void;
  /** @param shown the question as the person has seen it, kept since */
  read(ctx: AnyContext, shown: Shown): Reading<Value> | Promise<Reading<Value>>;
  /** Whether a stored answer is still one today; left out: any is. */
  accepts?(value: unknown): boolean;
  /** A yes to it is a yes to its words, and to no others. */
  readonly confirms?: true;
  /** What can be chosen, when it stands in the code. */
  readonly list?: readonly Choice[];
  /** What kind of message an answer is; default `text`. */
  readonly wants?: "text" | "file" | "location";
  /** The words that leave it out; its value is then null. */
  readonly skip: readonly string[];
  readonly tries: number | null;
  /** What an answer means for the whole form; default `go_on`. */
  readonly outcome?: (value: Value) => "go_on" | "cancel" | "restart";
}

/** What the answer of a field is. */
export type ValueOf<F> = F extends Field<infer Value> ? Value : never;

/** What every kind of question takes. */
export interface FieldOptions {
  /** Said when the answer cannot be used, instead of the form's own text. */
  retry?: string;
  /** Instead of the form's own number. */
  tries?: number;
  /** Words that leave the question unanswered (null), for instance "skip". Default: it must be answered. */
  skip?: string | readonly string[];
}

/** The value, or null as well when `skip` allows to leave the question unanswered. */
type Skipped<O, Value> = O extends { skip: string | readonly string[] } ? Value | null : Value;

function field<Value, O extends FieldOptions>(
  question: Question,
  { retry, tries, skip }: O,
  read: (ctx: AnyContext, shown: Shown) => Value | undefined | Promise<Value | undefined>,
  ask: (ctx: AnyContext, shown: Shown) => void = (ctx, { text: asked }) => ctx.reply(asked),
): Field<Skipped<O, Value>> {
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

/** What a text must be. */
export interface TextOptions extends FieldOptions {
  /** Characters; default 1 and 4,000. */
  min?: number;
  max?: number;
  pattern?: RegExp;
  /** A check of your own: true, or what is wrong. May ask elsewhere; use `ctx.step` for what must happen once. */
  check?: (value: string, ctx: AnyContext) => boolean | string | Promise<boolean | string>;
}

/** A text. */
export function text<O extends TextOptions = Record<never, never>>(
  question: Question,
  // Both: the constraint alone does not tell a `check` its types within a form.
  options: O & TextOptions = {} as O,
): Field<Skipped<O, string>> {
  const { check } = options;
  const accepts = (value: unknown): boolean => isText(value, options);
  const read = field<string, O>(question, options, (ctx) => {
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

/** An e-mail address, in lower case. */
export function email<O extends FieldOptions = Record<never, never>>(
  question: Question,
  options: O = {} as O,
): Field<Skipped<O, string>> {
  const plain = field<string, O>(question, options, (ctx) => {
    const value = written(ctx)?.toLowerCase();
    return isEmail(value) ? value : undefined;
  });
  return { ...plain, accepts: isEmail };
}

/** A telephone number with its country: 7 to 15 digits. `"mine"` means the number that writes. */
export function phone<O extends FieldOptions & { mine?: string | readonly string[] } = Record<never, never>>(
  question: Question,
  options: O = {} as O,
): Field<Skipped<O, string>> {
  const mine = [options.mine ?? "mine"].flat().map((word) => normalise(word));
  const plain = field<string, O>(question, options, (ctx) => {
    const value = written(ctx) ?? "";
    if (ctx.from.number !== null && mine.includes(normalise(value))) return ctx.from.number;
    const digits = value.replace(/[\s+().-]/g, "").replace(/^00/, "");
    return /^[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
  });
  return { ...plain, accepts: isWritten };
}

/** What a number must be. */
export interface NumberOptions extends FieldOptions {
  min?: number;
  max?: number;
  /** Whole numbers only. Default false. */
  integer?: boolean;
}

/** A number; a comma is read as a decimal point. What may be meant as thousands ("1,000") is asked for again. */
export function number<O extends NumberOptions = Record<never, never>>(
  question: Question,
  options: O = {} as O,
): Field<Skipped<O, number>> {
  const accepts = (value: unknown): boolean => isNumber(value, options);
  const plain = field<number, O>(question, options, (ctx) => {
    const value = written(ctx) ?? "";
    // "1,000" is a thousand to some and one to others: asked again.
    if (/^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(value)) return undefined;
    if (!/^[+-]?\d{1,15}([.,]\d{1,10})?$/.test(value)) return undefined;
    const read = Number(value.replace(",", "."));
    return accepts(read) ? read : undefined;
  });
  return { ...plain, accepts };
}

/** What can be chosen: labels (texts, or keys of `locales/*.json`) by key, or a list of labels that are keys as well. */
export type Choices<Key extends string> = Readonly<Record<Key, string>> | readonly Key[];

/** The choices in their order. */
export const listOf = (choices: Choices<string>): Choice[] =>
  Array.isArray(choices)
    ? (choices as readonly string[]).map((key) => ({ key, label: key }))
    : Object.entries(choices).map(([key, label]) => ({ key, label }));

/** How the choices are shown. */
export interface ChoiceOptions extends FieldOptions {
  /** Default `text`. */
  render?: Rendering;
}

/**
 * One of several: by number, label, key, or vote. The value is the key.
 *
 * @param choices or a function that gives them each time the question is asked: what was shown then can be answered
 */
export function choice<const Key extends string, O extends ChoiceOptions = Record<never, never>>(
  question: Question,
  choices: Choices<Key> | ((ctx: AnyContext, answers: Answers) => Choices<Key> | Promise<Choices<Key>>),
  options: O = {} as O,
): Field<Skipped<O, Key>> {
  const list = typeof choices === "function" ? null : listOf(choices);
  if (list?.length === 0) throw new TypeError("choice() needs at least one thing to choose.");
  if (list !== null) refuseDoubles("choice()", list);
  if (list !== null && !Array.isArray(choices)) refuseNumbers("choice()", Object.keys(choices));
  const plain = field<Key, O>(
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
      if (now.length === 0) throw new TypeError("choice() needs at least one thing to choose.");
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

/** Words for yes and no instead of the usual ones, and what a no does. */
export interface ConfirmOptions extends FieldOptions {
  yes?: readonly string[];
  no?: readonly string[];
  /** What a "no" does: ends the form (default), begins it anew, or is an answer like others. */
  onNo?: "cancel" | "restart" | "go_on";
}

/** Yes or no; a thumbs-up is a yes. */
export function confirm<O extends ConfirmOptions = Record<never, never>>(
  question: Question,
  options: O = {} as O,
): Field<Skipped<O, boolean>> {
  const { onNo = "cancel" } = options;
  const isOneOf = (value: string, ctx: AnyContext, kind: "yes" | "no"): boolean =>
    (options[kind] ?? understoodIn(ctx.locale, kind)).some((word) => normalise(word) === value);
  const plain = field<boolean, O>(question, options, (ctx) => {
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

/** A file that came: what it is, and the id of its message. `ctx.file()` has its bytes in the turn in which it comes. */
export interface FileAnswer {
  messageId: string;
  kind: MediaKind;
  mimetype: string;
  fileName: string;
}

/** A picture, a document, a voice note, …: the kinds that are wanted, all of them by default. */
export function file<O extends FieldOptions & { kinds?: readonly MediaKind[] } = Record<never, never>>(
  question: Question,
  options: O = {} as O,
): Field<Skipped<O, FileAnswer>> {
  const plain = field<FileAnswer, O>(question, options, (ctx) => {
    const { media, id } = ctx.message;
    if (media === null || (options.kinds && !options.kinds.includes(media.kind))) return undefined;
    return { messageId: id, kind: media.kind, mimetype: media.mimetype, fileName: media.fileName };
  });
  return { ...plain, accepts: isThing, wants: "file" };
}

/** A place that the person shares. */
export function location<O extends FieldOptions = Record<never, never>>(
  question: Question,
  options: O = {} as O,
): Field<Skipped<O, { latitude: number; longitude: number; name: string | null; address: string | null }>> {
  const plain = field(question, options, (ctx) => ctx.message.location ?? undefined);
  return { ...plain, accepts: isThing, wants: "location" };
}
