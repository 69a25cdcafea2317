import { inLanguage, type Choice, type Shown } from "../../dialogues/choices.ts";
import type { Field, Question } from "../../dialogues/fields.ts";
import type { AnyContext } from "../../types/context.ts";
import { digest } from "../digest.ts";
import type { Correctable } from "./review.ts";
import type { AnsweredAs, AskOptions, FlowEntry } from "../types.ts";

/** One question, with what `choose` adds. Of thirty that are answered, no field is made. */
export interface Declared<Value> extends Pick<AskOptions, "was" | "of"> {
  text: Question;
  /** What can be chosen, with labels as they are written; null: nothing; `"asked"`: known only when it is asked. */
  choices(): readonly Choice[] | null | "asked";
  /** A yes to it is a yes to its words, and to no others. */
  confirms: boolean;
  /** Whether it may be left unanswered. */
  maySkip(): boolean;
  /** Called once, and not when there is an answer that still is one. */
  make(): Field<Value>;
  /**
   * Whether an answer is still one today.
   *
   * @param label under which it was chosen; left out: it was not chosen, or was shown in another language
   */
  accepts(value: unknown, label?: string): boolean;
  /** What stands beside each option. */
  items?: readonly unknown[];
  /** Answers that may be corrected by their names while it is open. */
  corrects?: readonly Correctable[];
}

/** What `choose` shows at each place. A letter before the number: keys that are numbers would be answers as well, counted from 0. */
export const itemKey = (index: number): string => `item-${index}`;

/** What stands beside an option of `choose`. */
export const itemOf = (items: readonly unknown[], key: string): unknown =>
  items[Number(key.slice("item-".length))];

/** A question as it was shown, in which language, and what it depended on then. */
export interface ShownAs {
  shown: Shown;
  locale?: string;
  of?: string;
}

/** Stands for what only a message tells, where none has come: a text with it is not compared. */
export const UNTOLD = "\u{FFFC}";

const isUntold = (text: string): boolean => text.includes(UNTOLD);

/** Compares questions of today with what a person has seen. */
export interface Wordings {
  /** As a field words its question now. */
  now<Value>(field: Field<Value>): Promise<Shown>;
  /** What is kept of a question beside its answer. */
  kept(asked: ShownAs, label: string | undefined): AnsweredAs;
  /**
   * Whether the answer to a question still answers today's.
   *
   * @param isOvertaken something before it has been answered or done since: it must not differ in a word
   */
  holds<Value>(known: FlowEntry, declared: Declared<Value>, isOvertaken: boolean): boolean | Promise<boolean>;
  /** Whether the question as it was shown is another one today. */
  differs<Value>(shown: ShownAs, declared: Declared<Value>): boolean | Promise<boolean>;
  /** Whether it was shown in today's language. */
  isComparable(shown: Pick<ShownAs, "locale">): boolean;
  /** The label under which it was shown, unless that was in another language. */
  labelOf(asked: ShownAs, key: unknown): string | undefined;
}

/** @param mayMake false: what is made when it is asked is not made to be compared */
export function createWordings(ctx: AnyContext, mayMake: boolean): Wordings {
  async function now<Value>(field: Field<Value>): Promise<Shown> {
    const { question } = field;
    const text = typeof question === "string" ? ctx.t(question) : await question(ctx, {});
    return { text, options: (await field.options?.(ctx, {})) ?? null };
  }

  /** Null: it takes the field to tell. */
  function declaredNow<Value>(declared: Declared<Value>): Shown | null {
    const { text } = declared;
    const list = declared.choices();
    if (typeof text !== "string" || list === "asked") return null;
    return { text: ctx.t(text), options: list === null ? null : inLanguage(ctx, list) };
  }

  /** Null: nothing may be made. */
  const today = <Value>(declared: Declared<Value>): Shown | null | Promise<Shown> =>
    declaredNow(declared) ?? (mayMake ? now(declared.make()) : null);

  const isInLanguage = ({ locale }: Pick<ShownAs, "locale">): boolean => locale === ctx.locale;

  function isSame<Value>(declared: Declared<Value>, was: AnsweredAs): boolean | Promise<boolean> {
    const compare = (is: Shown | null): boolean =>
      is === null ||
      (!mayMake && isUntold(is.text)) ||
      (was.text === textOf(is) && (was.options ?? NO_OPTIONS) === (optionsOf(is) ?? NO_OPTIONS));
    const shown = today(declared);
    return shown instanceof Promise ? shown.then(compare) : compare(shown);
  }

  return {
    now,
    kept: ({ shown, locale = ctx.locale }, label) => ({
      locale,
      text: textOf(shown),
      ...optionsIn(shown),
      ...(label !== undefined && { label }),
    }),
    holds({ value, shown }, declared, isOvertaken) {
      const isComparable = shown !== undefined && isInLanguage(shown);
      const isOne = declared.accepts(value, isComparable ? shown.label : undefined);
      if (!isOne && !(value === null && declared.maySkip())) return false;
      // Kept by an earlier version, which did not say what was shown.
      if (shown === undefined) return true;
      if (isOvertaken) return isComparable && isSame(declared, shown);
      return !declared.confirms || value !== true || !isComparable || isSame(declared, shown);
    },
    differs(was, declared) {
      if (!isInLanguage(was)) return true;
      const same = isSame(declared, {
        locale: ctx.locale,
        text: textOf(was.shown),
        ...optionsIn(was.shown),
      });
      return same instanceof Promise ? same.then((is) => !is) : !same;
    },
    isComparable: isInLanguage,
    labelOf: (asked, key) =>
      isInLanguage(asked) ? asked.shown.options?.find((option) => option.key === key)?.label : undefined,
  };
}

const textOf = ({ text }: Pick<Shown, "text">): string => digest(text);

/** Undefined: the question had none. Most have none, and what is kept of thirty answers is read and written at each of them. */
const optionsOf = ({ options }: Shown): string | undefined =>
  options === null ? undefined : digest(JSON.stringify(options.map(({ key, label }) => [key, label])));

function optionsIn(shown: Shown): Pick<AnsweredAs, "options"> {
  const options = optionsOf(shown);
  return options === undefined ? {} : { options };
}

/** Earlier versions kept this for a question without options. */
const NO_OPTIONS = digest("null");
