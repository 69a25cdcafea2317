import { goneFrom, type Shown } from "../dialogues/choices.ts";
import type { Field, Reading } from "../dialogues/fields.ts";
import type { AnyContext } from "../types/context.ts";
import type { Progress } from "./progress.ts";
import type { HeldAnswer, OpenQuestion } from "./state.ts";
import type { AskOptions, FlowEntry } from "./types.ts";

/** One question, with what `choose` adds. Of thirty that are answered, none is made. */
export interface Declared<Value> {
  was: AskOptions["was"] | undefined;
  /** Called once, and not when there is an answer that still is one. */
  make(): Field<Value>;
  /** Whether a stored answer is still one today. */
  accepts(value: unknown): boolean;
  /** What stands beside each option. */
  items?: readonly unknown[];
  /** Makes the value of what was read, from what was shown. */
  value?(read: Value, open: Pick<OpenQuestion, "items" | "shown">): unknown;
}

interface Asked<Value> extends Declared<Value> {
  field: Field<Value>;
}

/** The questions of one run. */
export interface Questions {
  /** @throws {FlowMistake} at once, when nothing may be asked here */
  ask<Value>(name: string, declared: Declared<Value>): Promise<unknown>;
  /** An answer that the code has not come to yet. */
  held(): HeldAnswer | null;
}

const ANSWER: readonly FlowEntry["kind"][] = ["answer"];

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
    wasAnswered = false,
  ): Promise<never> =>
    progress.stop({
      kind: "asking",
      key: open.key,
      note,
      wasAnswered,
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

  const answered = (key: string, value: unknown, message: string): unknown => {
    const kept = value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
    journal.add({ key, kind: "answer", value: kept, message });
    return kept;
  };

  /** The message, or an answer that was given before it could be used. */
  async function readAnswer<Value>(
    key: string,
    { field, value, items }: Asked<Value>,
    open: OpenQuestion,
    from: AnyContext,
  ): Promise<{ value: unknown } | Exclude<Reading<Value>, { value: Value }>> {
    // It was no list of run time when it was shown: nothing stands beside its options.
    if (items !== undefined && open.items === undefined) return { gone: key };
    const reading = await field.read(from, open.shown);
    if (!("value" in reading)) return reading;
    const { value: read } = reading;
    return {
      value: answered(key, value === undefined || read === null ? read : value(read, open), from.message.id),
    };
  }

  function ask<Value>(name: string, declared: Declared<Value>): Promise<unknown> {
    progress.called("f.ask", name);
    const key = journal.keyOf(name);
    const known = journal.find(key, ANSWER, declared.was);
    if (known !== null && (known.value === null || declared.accepts(known.value)))
      return Promise.resolve(known.value);
    if (known !== null) journal.remove(key);
    return askNew(key, { ...declared, field: declared.make() }, known !== null);
  }

  async function askNew<Value>(key: string, asked: Asked<Value>, wasAnswered: boolean): Promise<unknown> {
    if (!mayAsk)
      return progress.stop({ kind: "sleeping", sleep: { key, at: null, signal: null }, failedTries: 0 });
    if (progress.arrives(key) && state.open !== null) return takeAnswer(key, asked, state.open);
    if (held?.key === key && push?.kind === "foreseen") return progress.stop({ kind: "arrived", gone: [] });
    if (held?.key === key) {
      const { text, ...open } = held;
      held = null;
      const read = await readAnswer(key, asked, { ...open, tries: 0 }, writtenBefore(ctx, text));
      if ("value" in read) return read.value;
    }
    progress.beginNew();
    return asking(asked, { key, tries: 0 }, `${key} asked`, wasAnswered);
  }

  async function takeAnswer<Value>(key: string, asked: Asked<Value>, open: OpenQuestion): Promise<unknown> {
    if (push?.kind === "foreseen") {
      const gone = goneFrom(open.shown, asked.accepts);
      return progress.stop({ kind: "arrived", gone });
    }
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
