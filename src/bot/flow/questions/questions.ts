import { goneFrom } from "../../dialogues/choices.ts";
import type { Field, Reading } from "../../dialogues/fields.ts";
import type { AnyContext } from "../../types/context.ts";
import { digestOf } from "../digest.ts";
import type { Progress } from "../progress.ts";
import type { Said } from "../said.ts";
import type { HeldAnswer, OpenQuestion } from "../state.ts";
import type { FlowEntry } from "../types.ts";
import { createWordings, itemOf, type Declared, type Wordings } from "./wording.ts";

/** A question that is asked, or takes an answer: its field is made. */
interface Asked<Value> {
  declared: Declared<Value>;
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

/** The questions of one run, with what they share. */
interface Run {
  progress: Progress;
  said: Said;
  wordings: Wordings;
  /** An answer that the code has not come to yet. */
  held: HeldAnswer | null;
}

/** What was answered is given again; the first question without an answer takes the message, or is asked. */
export function createQuestions(progress: Progress, said: Said): Questions {
  const { ctx, state, push } = progress;
  const run: Run = {
    progress,
    said,
    wordings: createWordings(ctx, push?.kind !== "foreseen"),
    held: state.held,
  };
  return { ask: (name, declared) => ask(run, name, declared), held: () => run.held };
}

function ask<Value>(run: Run, name: string, declared: Declared<Value>): Promise<unknown> {
  const { progress, wordings } = run;
  const { journal } = progress;
  progress.called("f.ask", name);
  const key = journal.keyOf(name);
  const isOvertaken = journal.isOvertaken(key, declared.was);
  const known = journal.find(key, ANSWER, declared.was);
  if (known === null) return askNew(run, key, declared, false);
  const holds = known.of === digestOf(declared.of) && wordings.holds(known, declared, isOvertaken);
  if (holds === true) return Promise.resolve(given(run, known, isOvertaken));
  return Promise.resolve(holds).then((does) => {
    if (does) return given(run, known, isOvertaken);
    journal.remove(key);
    return askNew(run, key, declared, true);
  });
}

/** An answer that holds, though something before it is newer, has been given to that. */
function given(run: Run, known: FlowEntry, isOvertaken: boolean): unknown {
  if (isOvertaken) run.progress.journal.add(known);
  return answered(run, known.value);
}

function answered({ progress, said }: Run, value: unknown): unknown {
  progress.hasAnswer();
  said.answered();
  return value;
}

async function askNew<Value>(
  run: Run,
  key: string,
  declared: Declared<Value>,
  wasAnswered: boolean,
): Promise<unknown> {
  const { progress, said, held } = run;
  const { state, mayAsk, ctx } = progress;
  const asked = { declared, field: declared.make() };
  if (!mayAsk)
    return progress.stop({ kind: "sleeping", sleep: { key, at: null, signal: null }, failedTries: 0 });
  if (progress.arrives(key) && state.open !== null) return takeAnswer(run, key, asked, state.open);
  if (held?.key === key) {
    const { text, ...open } = held;
    if (progress.push?.kind === "foreseen")
      return (await run.wordings.differs(open, declared))
        ? asking(run, asked, { key, tries: 0 }, "", true)
        : progress.stop({ kind: "arrived", gone: [] });
    run.held = null;
    const read = said.isAnything()
      ? null
      : await readAnswer(run, asked, open, writtenBefore(ctx, text), true);
    if (read !== null && "value" in read) return answered(run, read.value);
  }
  progress.beginNew();
  if (wasAnswered) said.again();
  return asking(run, asked, { key, tries: 0 }, `${key} asked`, wasAnswered);
}

async function takeAnswer<Value>(
  run: Run,
  key: string,
  asked: Asked<Value>,
  open: OpenQuestion,
): Promise<unknown> {
  const { progress } = run;
  const { push, ctx, journal } = progress;
  if (push?.kind === "foreseen") return lookAhead(run, asked, open);
  if (push?.kind !== "answer") return asking(run, asked, open, `${key} asked again`);
  const read = await readAnswer(run, asked, open, ctx, journal.isOvertaken(key));
  if ("value" in read) return answered(run, read.value);
  if ("changed" in read) return asking(run, asked, { ...open, tries: 0 }, `${key} asked anew`, true);
  const { field } = asked;
  const again = await wordingOf(run, asked, open);
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
function lookAhead<Value>(
  { progress, wordings }: Run,
  { declared }: Asked<Value>,
  open: OpenQuestion,
): Promise<never> {
  const { items } = open;
  const accepts = (key: string): boolean =>
    declared.accepts(
      declared.items === undefined || items === undefined ? key : itemOf(items, key),
      wordings.labelOf(open, key),
    );
  return progress.stop({ kind: "arrived", gone: goneFrom(open.shown, accepts) });
}

const asking = <Value>(
  run: Run,
  asked: Asked<Value>,
  open: Pick<OpenQuestion, "key" | "tries">,
  note: string,
  wasAnswered = false,
): Promise<never> =>
  run.progress.stop({
    kind: "asking",
    key: open.key,
    note,
    wasAnswered,
    word: () => wordingOf(run, asked, open),
    show: ({ shown }) => asked.field.ask(run.progress.ctx, shown),
  });

/** As the code words it now, with the list that it has now. */
async function wordingOf<Value>(
  { progress, wordings }: Run,
  { field, declared: { items, of, corrects } }: Asked<Value>,
  { key, tries, isReopened }: Pick<OpenQuestion, "key" | "tries" | "isReopened">,
): Promise<OpenQuestion> {
  const shown = await wordings.now(field);
  return {
    key,
    tries,
    shown,
    locale: progress.ctx.locale,
    ...(of !== undefined && { of: digestOf(of)! }),
    ...(items && { items: JSON.parse(JSON.stringify(items)) as unknown[] }),
    ...(corrects && { corrects }),
    ...(isReopened && { isReopened }),
  };
}

/** The message, or an answer that was given before it could be used: what is still one is kept. */
async function readAnswer<Value>(
  { progress, wordings }: Run,
  { declared, field }: Asked<Value>,
  open: Omit<OpenQuestion, "tries">,
  from: AnyContext,
  mustBeSame: boolean,
): Promise<Read<Value>> {
  const { items, confirms } = declared;
  // It was no list of run time when it was shown: nothing stands beside its options.
  if (items !== undefined && open.items === undefined) return { gone: open.key };
  const reading = await field.read(from, open.shown);
  if (!("value" in reading)) return reading;
  const read: unknown = reading.value;
  const hasChosen = items !== undefined && read !== null;
  const value = hasChosen ? itemOf(open.items!, String(read)) : read;
  const label = wordings.labelOf(open, read);
  if ((hasChosen || label !== undefined) && !declared.accepts(value, label))
    return { gone: label ?? open.key };
  const of = digestOf(declared.of);
  if (of !== open.of && open.locale !== undefined) return { changed: true };
  // A no to what was shown is a no.
  const isYes = confirms && read === true && wordings.isComparable(open);
  if ((mustBeSame || isYes) && (await wordings.differs(open, declared))) return { changed: true };
  const kept = value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
  const shown = wordings.kept(open, label);
  const message = from.message.id;
  progress.journal.add({ key: open.key, kind: "answer", value: kept, message, ...(of && { of }), shown });
  return { value: kept };
}

/** An earlier text of the same person, as if it came now. */
const writtenBefore = (ctx: AnyContext, text: string): AnyContext =>
  Object.create(ctx, {
    text: { value: text },
    message: { value: { ...ctx.message, type: "text", text } },
  }) as AnyContext;
