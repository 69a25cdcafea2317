import {
  isEmail,
  isNumber,
  isOffered,
  isText,
  isThing,
  isWritten,
  isYesOrNo,
} from "../dialogues/accepted.ts";
import type { Choice } from "../dialogues/choices.ts";
import * as fields from "../dialogues/fields.ts";
import {
  listOf,
  type ChoiceOptions,
  type Choices,
  type Field,
  type FieldOptions,
} from "../dialogues/fields.ts";
import type { AnyContext } from "../types/context.ts";
import { FlowMistake } from "./errors.ts";
import { reviewOf } from "./questions/review.ts";
import type { AskOptions, ReviewOptions } from "./types.ts";
import { itemKey, type Declared } from "./questions/wording.ts";

type Offered = readonly Choice[] | null | "asked";

/** A kind of question: makes of what follows its key what a run has to know of it. */
type Declare = (...of: never[]) => Declared<unknown>;

/** The kinds of questions by the name that they have in `f`. */
export function declarations(ctx: AnyContext): Record<string, Declare> {
  const isUnder = underLabels(ctx);

  /** @param offers what can be chosen; left out: nothing */
  const kind =
    (
      make: (...of: never[]) => Field<unknown>,
      accepts: (value: unknown, ...of: never[]) => boolean,
      { confirms = false, offers = (() => null) as (...of: never[]) => Offered } = {},
    ): Declare =>
    (...of) => {
      const choices = once(() => offers(...of));
      return {
        ...optionsIn(of.at(-1)),
        text: of[0] as unknown as string,
        choices,
        confirms,
        make: () => make(...of),
        accepts: (value, label) => accepts(value, ...of) && isUnder(choices(), value, label),
      };
    };

  return {
    text: kind(fields.text as never, (value, _text, options) => isText(value, options)),
    email: kind(fields.email as never, isEmail),
    phone: kind(fields.phone as never, isWritten),
    number: kind(fields.number as never, (value, _text, options) => isNumber(value, options)),
    choice: kind(fields.choice as never, (value, _text, choices) => isOffered(value, choices), {
      offers: offersOf,
    }),
    confirm: kind(confirm, isYesOrNo, { confirms: true }),
    review: (
      question: string,
      answers: Readonly<Record<string, unknown>>,
      options?: ReviewOptions & AskOptions,
    ) => declareReview(ctx, question, answers, options),
    file: kind(fields.file as never, isThing),
    location: kind(fields.location as never, isThing),
    choose: (
      text: string,
      items: readonly unknown[],
      label: (item: unknown) => string,
      options?: ChoiceOptions,
    ) => declareList(ctx, text, items, label, options),
    ask: ((field: Field<unknown>, options: AskOptions = {}) => ({
      ...optionsIn(options),
      maySkip: () => field.skip.length > 0,
      text: field.question,
      choices: () => (field.options === undefined ? null : (field.list ?? "asked")),
      confirms: field.confirms === true,
      make: () => field,
      accepts: (value, label) =>
        field.accepts?.(value) !== false && isUnder(field.list ?? null, value, label),
    })) satisfies Declare,
  };
}

/** A summary, to which a yes is a yes to what it shows. */
function declareReview(
  ctx: AnyContext,
  question: string,
  answers: Readonly<Record<string, unknown>>,
  options: ReviewOptions & AskOptions = {},
): Declared<unknown> {
  const { text, corrects } = reviewOf(ctx, question, answers, options);
  return {
    ...optionsIn(options),
    text,
    choices: () => null,
    confirms: true,
    make: () => confirm(text, options),
    accepts: isYesOrNo,
    corrects,
  };
}

/** A list that is known at run time. */
function declareList<Item>(
  ctx: AnyContext,
  text: string,
  items: readonly Item[],
  label: (item: Item) => string,
  options: ChoiceOptions & AskOptions = {},
): Declared<unknown> {
  if (!Array.isArray(items) || items.length === 0)
    throw new FlowMistake(
      `f.choose(…, ${JSON.stringify(text)}) has no options. Check the list first: \`if (list.length === 0) …\`.`,
    );
  const list = once(() => items.map((item, index) => ({ key: itemKey(index), label: label(item) })));
  return {
    ...optionsIn(options),
    text,
    choices: list,
    confirms: false,
    make() {
      const choices = Object.fromEntries(list().map((choice) => [choice.key, choice.label]));
      return fields.choice(text, () => choices, options) as Field<unknown>;
    },
    // By what the person has read: an item may hold more today than it did then. Where its words are not known, it must not.
    accepts: (value, shown) =>
      shown === undefined
        ? items.some((item) => JSON.stringify(item ?? null) === JSON.stringify(value))
        : list().some((choice) => ctx.t(choice.label) === shown),
    items,
  };
}

const offersOf = (_text: string, choices: Choices<string> | (() => unknown)): Offered =>
  typeof choices === "function" ? "asked" : listOf(choices);

/** A no is an answer as any. */
const confirm = (text: string, options: object = {}): Field<unknown> =>
  fields.confirm(text, { ...options, onNo: "go_on" }) as Field<unknown>;

/** Whether what was chosen under a label has it today. */
const underLabels =
  (ctx: AnyContext) =>
  (list: Offered, value: unknown, label: string | undefined): boolean =>
    label === undefined ||
    list === null ||
    list === "asked" ||
    list.some((choice) => choice.key === value && ctx.t(choice.label) === label);

/** What every question takes, from its last argument. */
function optionsIn(last: unknown): Pick<Declared<unknown>, "was" | "of" | "maySkip"> {
  const options = (typeof last === "object" && last !== null ? last : {}) as AskOptions & FieldOptions;
  const { was, of } = options;
  return { was, of, maySkip: () => options.skip !== undefined && [options.skip].flat().length > 0 };
}

/** Makes it when it is wanted, and once. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
