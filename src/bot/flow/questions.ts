import type { Shown } from "../dialogues/choices.ts";
import type { Field, Reading } from "../dialogues/fields.ts";
import type { AnyContext } from "../types/context.ts";
import type { Progress } from "./progress.ts";
import type { HeldAnswer, OpenQuestion } from "./state.ts";
import type { AskOptions } from "./types.ts";

/** One question, with what `choose` adds. */
export interface Asked<Value> extends AskOptions {
  field: Field<Value>;
  /** What stands beside each option. */
  items?: readonly unknown[];
  /** Makes the value of what was read, from what was shown. */
  value?(read: Value, open: Pick<OpenQuestion, "items" | "shown">): unknown;
}

/** The questions of one run. */
export interface Questions {
  ask<Value>(name: string, asked: Asked<Value>): Promise<unknown>;
  /** An answer that the code has not come to yet. */
  held(): HeldAnswer | null;
}

/** What was answered is given again; the first question without an answer takes the message, or is asked. */
export function createQuestions(progress: Progress): Questions {
  const { ctx, state, journal, push, mayAsk } = progress;
  let { held } = state;

  async function wording<Value>(field: Field<Value>): Promise<Shown> {
    const { question } = field;
    const text = typeof question === "string" ? ctx.t(question) : await question(ctx, {});
    return { text, options: (await field.options?.(ctx, {})) ?? null };
  }

  const asking = <Value>(
    asked: Asked<Value>,
    open: Pick<OpenQuestion, "key" | "tries">,
    note: string,
  ): Promise<never> =>
    progress.stop({
      kind: "asking",
      key: open.key,
      note,
      word: () => wordingOf(asked, open),
      show: ({ shown }) => asked.field.ask(ctx, shown),
    });

  /** As the code words it now, with the list that it has now. */
  async function wordingOf<Value>(
    { field, items }: Asked<Value>,
    open: Pick<OpenQuestion, "key" | "tries">,
  ): Promise<OpenQuestion> {
    const kept = items && { items: JSON.parse(JSON.stringify(items)) as unknown[] };
    return { ...open, shown: await wording(field), ...kept };
  }

  const answered = (key: string, value: unknown): unknown => {
    const kept = value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
    journal.add({ key, kind: "answer", value: kept });
    return kept;
  };

  /** The message, or an answer that was given before it could be used. */
  async function readAnswer<Value>(
    key: string,
    { field, value }: Asked<Value>,
    open: OpenQuestion,
    from: AnyContext,
  ): Promise<{ value: unknown } | Exclude<Reading<Value>, { value: Value }>> {
    const reading = await field.read(from, open.shown);
    if (!("value" in reading)) return reading;
    const { value: read } = reading;
    return { value: answered(key, value === undefined || read === null ? read : value(read, open)) };
  }

  async function ask<Value>(name: string, asked: Asked<Value>): Promise<unknown> {
    progress.called(`f.ask(${JSON.stringify(name)})`);
    const key = journal.keyOf(name);
    const known = journal.find(key, ["answer"], asked.was);
    if (
      known !== null &&
      (known.value === null || asked.field.accepts?.(known.value) !== false || asked.value)
    )
      return known.value;
    if (known !== null) journal.remove(key);
    if (!mayAsk)
      return progress.stop({ kind: "sleeping", sleep: { key, at: null, signal: null }, failedTries: 0 });
    if (progress.arrives(key) && state.open !== null) return takeAnswer(key, asked, state.open);
    if (held?.key === key) {
      const { shown, text } = held;
      held = null;
      const read = await readAnswer(key, asked, { key, shown, tries: 0 }, writtenBefore(ctx, text));
      if ("value" in read) return read.value;
    }
    progress.beginNew();
    return asking(asked, { key, tries: 0 }, `${key} asked`);
  }

  async function takeAnswer<Value>(key: string, asked: Asked<Value>, open: OpenQuestion): Promise<unknown> {
    if (push?.kind !== "answer") return asking(asked, open, `${key} asked again`);
    const read = await readAnswer(key, asked, open, ctx);
    if ("value" in read) return read.value;
    const { field } = asked;
    const again = await wordingOf(asked, open);
    const shows = { open: again, show: () => field.ask(ctx, again.shown) };
    if ("gone" in read) return progress.stop({ kind: "gone", what: read.gone, ...shows });
    return progress.stop({
      kind: "misunderstood",
      ...shows,
      problem: read.problem,
      tries: field.tries,
      wants: field.wants ?? "text",
    });
  }

  return { ask, held: () => held };
}

/** An earlier text of the same person, as if it came now. */
const writtenBefore = (ctx: AnyContext, text: string): AnyContext =>
  Object.create(ctx, {
    text: { value: text },
    message: { value: { ...ctx.message, type: "text", text } },
  }) as AnyContext;
