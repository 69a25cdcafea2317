import { goneFrom } from "../dialogues/choices.ts";
import type { Field, Reading } from "../dialogues/fields.ts";
import type { AnyContext } from "../types/context.ts";
import { digestOf } from "./digest.ts";
import type { Progress } from "./progress.ts";
import type { Said } from "./said.ts";
import type { HeldAnswer, OpenQuestion } from "./state.ts";
import type { FlowEntry } from "./types.ts";
import { createWordings, itemOf, type Declared } from "./wording.ts";

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

/** What a message means for the question as it was shown. `changed`: that is another one by now. */
type Read<Value> = { value: unknown } | { changed: true } | Exclude<Reading<Value>, { value: Value }>;

const ANSWER: readonly FlowEntry["kind"][] = ["answer"];

/** What was answered is given again; the first question without an answer takes the message, or is asked. */
export function createQuestions(progress: Progress, said: Said): Questions {
  const { ctx, state, journal, push, mayAsk } = progress;
  const wordings = createWordings(ctx, push?.kind !== "foreseen");
  let { held } = state;

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
    { field, items, of, corrects }: Asked<Value>,
    { key, tries, isReopened }: Pick<OpenQuestion, "key" | "tries" | "isReopened">,
  ): Promise<OpenQuestion> {
    const shown = await wordings.now(field);
    return {
      key,
      tries,
      shown,
      locale: ctx.locale,
      ...(of !== undefined && { of: digestOf(of)! }),
      ...(items && { items: JSON.parse(JSON.stringify(items)) as unknown[] }),
      ...(corrects && { corrects }),
      ...(isReopened && { isReopened }),
    };
  }

  /** The message, or an answer that was given before it could be used: what is still one is kept. */
  async function readAnswer<Value>(
    asked: Asked<Value>,
    open: Omit<OpenQuestion, "tries">,
    from: AnyContext,
    mustBeSame: boolean,
  ): Promise<Read<Value>> {
    const { field, items, confirms } = asked;
    // It was no list of run time when it was shown: nothing stands beside its options.
    if (items !== undefined && open.items === undefined) return { gone: open.key };
    const reading = await field.read(from, open.shown);
    if (!("value" in reading)) return reading;
    const read: unknown = reading.value;
    const hasChosen = items !== undefined && read !== null;
    const value = hasChosen ? itemOf(open.items!, String(read)) : read;
    const label = wordings.labelOf(open, read);
    if ((hasChosen || label !== undefined) && !asked.accepts(value, label))
      return { gone: label ?? open.key };
    if (digestOf(asked.of) !== open.of && open.locale !== undefined) return { changed: true };
    // A no to what was shown is a no.
    const isYes = confirms && read === true && wordings.isComparable(open);
    if ((mustBeSame || isYes) && (await wordings.differs(open, asked))) return { changed: true };
    return { value: await keep(asked, open, { value, label, message: from.message.id }) };
  }

  async function keep<Value>(
    asked: Asked<Value>,
    open: Omit<OpenQuestion, "tries">,
    { value, label, message }: { value: unknown; label: string | undefined; message: string },
  ): Promise<unknown> {
    const kept = value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
    const of = digestOf(asked.of);
    const shown = wordings.kept(open, label);
    journal.add({ key: open.key, kind: "answer", value: kept, message, ...(of && { of }), shown });
    return kept;
  }

  function ask<Value>(name: string, declared: Declared<Value>): Promise<unknown> {
    progress.called("f.ask", name);
    const key = journal.keyOf(name);
    const isOvertaken = journal.isOvertaken(key, declared.was);
    const known = journal.find(key, ANSWER, declared.was);
    if (known === null) return askNew(key, declared, false);
    const holds = known.of === digestOf(declared.of) && wordings.holds(known, declared, isOvertaken);
    if (holds === true) return Promise.resolve(given(known, isOvertaken));
    return Promise.resolve(holds).then((does) => {
      if (does) return given(known, isOvertaken);
      journal.remove(key);
      return askNew(key, declared, true);
    });
  }

  /** An answer that holds, though something before it is newer, has been given to that. */
  function given(known: FlowEntry, isOvertaken: boolean): unknown {
    if (isOvertaken) journal.add(known);
    progress.hasAnswer();
    said.answered();
    return known.value;
  }

  async function askNew<Value>(
    key: string,
    declared: Declared<Value>,
    wasAnswered: boolean,
  ): Promise<unknown> {
    const asked = { ...declared, field: declared.make() };
    if (!mayAsk)
      return progress.stop({ kind: "sleeping", sleep: { key, at: null, signal: null }, failedTries: 0 });
    if (progress.arrives(key) && state.open !== null) return takeAnswer(key, asked, state.open);
    if (held?.key === key) {
      const { text, ...open } = held;
      if (push?.kind === "foreseen")
        return (await wordings.differs(open, asked))
          ? asking(asked, { key, tries: 0 }, "", true)
          : progress.stop({ kind: "arrived", gone: [] });
      held = null;
      const read = said.isAnything() ? null : await readAnswer(asked, open, writtenBefore(ctx, text), true);
      if (read !== null && "value" in read) return answered(read.value);
    }
    progress.beginNew();
    if (wasAnswered) said.again();
    return asking(asked, { key, tries: 0 }, `${key} asked`, wasAnswered);
  }

  async function takeAnswer<Value>(key: string, asked: Asked<Value>, open: OpenQuestion): Promise<unknown> {
    if (push?.kind === "foreseen") return lookAhead(asked, open);
    if (push?.kind !== "answer") return asking(asked, open, `${key} asked again`);
    const read = await readAnswer(asked, open, ctx, journal.isOvertaken(key));
    if ("value" in read) return answered(read.value);
    if ("changed" in read) return asking(asked, { ...open, tries: 0 }, `${key} asked anew`, true);
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

  /** What of the options that are shown can be had no more. Words that are others are shown again: no answer is lost by that. */
  function lookAhead<Value>(asked: Asked<Value>, open: OpenQuestion): Promise<never> {
    const { items } = open;
    const accepts = (key: string): boolean =>
      asked.accepts(
        asked.items === undefined || items === undefined ? key : itemOf(items, key),
        wordings.labelOf(open, key),
      );
    return progress.stop({ kind: "arrived", gone: goneFrom(open.shown, accepts) });
  }

  function answered(value: unknown): unknown {
    progress.hasAnswer();
    said.answered();
    return value;
  }

  return { ask, held: () => held };
}

/** An earlier text of the same person, as if it came now. */
const writtenBefore = (ctx: AnyContext, text: string): AnyContext =>
  Object.create(ctx, {
    text: { value: text },
    message: { value: { ...ctx.message, type: "text", text } },
  }) as AnyContext;
