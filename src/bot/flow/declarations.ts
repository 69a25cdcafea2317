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

/** Makes of what follows a question's key what a run has to know of it. */
type Declare = (ctx: AnyContext, of: readonly never[]) => Declared<unknown>;

/** What is the same for all questions of a kind. */
interface Kind {
  make(...of: never[]): Field<unknown>;
  accepts(value: unknown, ...of: never[]): boolean;
  confirms: boolean;
  /** What can be chosen. */
  offers(...of: never[]): Offered;
}

/**
 * One question of a run. A flow declares each that was answered at each of its turns, so this holds what the author has
 * written and nothing else: functions of its own would cost more than all else of an answer that stands.
 */
class DeclaredQuestion implements Declared<unknown> {
  readonly #ctx: AnyContext;
  readonly #kind: Kind;
  readonly #of: readonly never[];
  #offered: Offered | undefined;

  constructor(ctx: AnyContext, kind: Kind, of: readonly never[]) {
    this.#ctx = ctx;
    this.#kind = kind;
    this.#of = of;
  }

  get text(): Declared<unknown>["text"] {
    return this.#of[0]!;
  }
  get confirms(): boolean {
    return this.#kind.confirms;
  }
  get was(): AskOptions["was"] {
    return optionsAmong(this.#of).was;
  }
  get of(): unknown {
    return optionsAmong(this.#of).of;
  }
  maySkip(): boolean {
    return isSkipped(optionsAmong(this.#of));
  }
  choices(): Offered {
    return (this.#offered ??= this.#kind.offers(...(this.#of as never[])));
  }
  make(): Field<unknown> {
    return this.#kind.make(...(this.#of as never[]));
  }
  accepts(value: unknown, label?: string): boolean {
    return (
      this.#kind.accepts(value, ...(this.#of as never[])) && isUnder(this.#ctx, this.choices(), value, label)
    );
  }
}

function ofKind(
  make: unknown,
  accepts: Kind["accepts"],
  { confirms = false, offers = () => null }: Partial<Pick<Kind, "confirms" | "offers">> = {},
): Declare {
  const kind: Kind = { make: make as Kind["make"], accepts, confirms, offers };
  return (ctx, of) => new DeclaredQuestion(ctx, kind, of);
}

/** The kinds of questions by the name that they have in `f`. */
export const DECLARATIONS: readonly (readonly [name: string, declare: Declare])[] = Object.entries({
  text: ofKind(fields.text, (value, _text, options) => isText(value, options)),
  email: ofKind(fields.email, isEmail),
  phone: ofKind(fields.phone, isWritten),
  number: ofKind(fields.number, (value, _text, options) => isNumber(value, options)),
  choice: ofKind(fields.choice, (value, _text, choices) => isOffered(value, choices), { offers: offersOf }),
  confirm: ofKind(confirm, isYesOrNo, { confirms: true }),
  review: (ctx, of) => declareReview(ctx, ...(of as unknown as Rest<typeof declareReview>)),
  file: ofKind(fields.file, isThing),
  location: ofKind(fields.location, isThing),
  choose: (ctx, of) => declareList(ctx, ...(of as unknown as Rest<typeof declareList>)),
  ask: (ctx, of) => declareField(ctx, ...(of as unknown as Rest<typeof declareField>)),
} satisfies Record<string, Declare>);

/** What an author gives to one that takes the context first. */
type Rest<F extends (ctx: AnyContext, ...of: never[]) => unknown> = F extends (
  ctx: AnyContext,
  ...of: infer Of
) => unknown
  ? Of
  : never;

/** A field of the author's own making. */
function declareField(ctx: AnyContext, field: Field<unknown>, options: AskOptions = {}): Declared<unknown> {
  return {
    ...optionsIn(options),
    maySkip: () => field.skip.length > 0,
    text: field.question,
    choices: () => (field.options === undefined ? null : (field.list ?? "asked")),
    confirms: field.confirms === true,
    make: () => field,
    accepts: (value, label) =>
      field.accepts?.(value) !== false && isUnder(ctx, field.list ?? null, value, label),
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

function offersOf(_text: string, choices: Choices<string> | (() => unknown)): Offered {
  return typeof choices === "function" ? "asked" : listOf(choices);
}

/** A no is an answer as any. */
function confirm(text: string, options: object = {}): Field<unknown> {
  return fields.confirm(text, { ...options, onNo: "go_on" }) as Field<unknown>;
}

/** Whether what was chosen under a label has it today. */
const isUnder = (ctx: AnyContext, list: Offered, value: unknown, label: string | undefined): boolean =>
  label === undefined ||
  list === null ||
  list === "asked" ||
  list.some((choice) => choice.key === value && ctx.t(choice.label) === label);

type QuestionOptions = AskOptions & FieldOptions;
const NO_OPTIONS: QuestionOptions = {};

/** What every question takes, from its last argument. */
function optionsAmong(of: readonly unknown[]): QuestionOptions {
  const last = of.at(-1);
  return typeof last === "object" && last !== null ? last : NO_OPTIONS;
}

const isSkipped = ({ skip }: QuestionOptions): boolean => skip !== undefined && [skip].flat().length > 0;

function optionsIn(options: QuestionOptions): Pick<Declared<unknown>, "was" | "of" | "maySkip"> {
  const { was, of } = options;
  return { was, of, maySkip: () => isSkipped(options) };
}

/** Makes it when it is wanted, and once. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
