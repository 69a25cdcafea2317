import type { AnyContext, Dialogue } from "../types/context.ts";
import type { DialogueState, Foreseen, Turn } from "../types/dialogue.ts";
import type { Field, ValueOf } from "./fields.ts";
import { goneFrom, refuseNumbers, shownIn, type Shown } from "./choices.ts";
import { readPolicy, type DialogueOptions } from "./texts.ts";

/** The questions of a form by key, in the order they are asked. */
// oxlint-disable-next-line typescript/no-explicit-any -- fields of whatever value
export type Fields = Readonly<Record<string, Field<any>>>;
/** Messages that say nothing in writing, but what may stand below a picture. */
const UNWRITTEN = new Set(["image", "video", "audio", "voice", "document", "sticker", "location", "contact"]);
const WANTED = { text: "wantText", file: "wantFile", location: "wantLocation" } as const;

/** The answers that a form has collected. The `{}` makes editors show the answers instead of the questions. */
export type Values<F extends Fields> = { -readonly [K in keyof F]: ValueOf<F[K]> } & {};

/** Each question whose function uses answers that the form does not have is an error. */
export type WithItsAnswers<F extends Fields> = {
  // oxlint-disable-next-line typescript/no-explicit-any -- of whatever value
  readonly [K in keyof F]: F[K] extends Field<any, infer Answers>
    ? Values<F> extends Answers
      ? unknown
      : Field<ValueOf<F[K]>, Values<F>>
    : unknown;
};

/** A form that `ctx.start(form, known)` starts. It does not ask for values that are in `known`. */
export type Form<F extends Fields> = Dialogue<Partial<Values<F>> | undefined>;

/** Kept between two messages. By key, so that a question that is added, removed or moved disturbs no form under way. */
interface FormState extends DialogueState {
  answers: Record<string, unknown>;
  /** Key of the question that waits for its answer. */
  asked: string;
  tries: number;
  /** The question as it was asked. */
  shown?: Shown;
  /** What was known at the beginning: kept when the form is begun anew. */
  given?: Record<string, unknown>;
  /** The words to which a yes was said, by key. */
  agreed?: Record<string, string>;
}

type Kept = Pick<FormState, "given" | "agreed">;

/** A form as its author described it. */
interface FormCode {
  keys: readonly string[];
  fieldOf(key: string): Field<unknown>;
  policy: ReturnType<typeof readPolicy>;
  done(ctx: AnyContext, values: never): unknown;
}

/**
 * Asks several questions one after another, then calls `done` with the answers. Answers are stored by key. After a restart
 * with changed code, the form asks questions that are new and drops questions that were removed.
 *
 * @param id   unique within the bot
 * @param done runs once, in the turn of the last answer; its replies and changes are committed together with that answer
 */
export function form<F extends Fields, Ctx = AnyContext>(
  id: string,
  fields: F & WithItsAnswers<F>,
  done: (ctx: Ctx, values: Values<F>) => unknown,
  options: DialogueOptions = {},
): Form<F> {
  const name = `form(${JSON.stringify(id)})`;
  const keys = Object.keys(fields);
  refuseIncomplete(name, keys, done);
  const policy = readPolicy(name, options, "ask_again");
  const fieldOf = (key: string): Field<unknown> => (fields as F)[key]!;
  const code: FormCode = { keys, fieldOf, policy, done: done as FormCode["done"] };
  return {
    kind: "form",
    id,
    idle: policy.idle,
    was: policy.was,
    begin(ctx, input) {
      const known = Object.entries(input ?? {}).filter(
        ([key, value]) => keys.includes(key) && value !== undefined,
      );
      const given = Object.fromEntries(known);
      return goOn(code, ctx, given, "begun", { given });
    },
    take: (ctx, stored) => take(code, ctx, stored),
    async remind(ctx, stored) {
      const state = current(code, stored);
      if (policy.texts.reminder !== undefined) ctx.reply(ctx.t(policy.texts.reminder));
      return state === null ? stored : ask(code, ctx, state);
    },
    foresee: (_ctx, stored) => foresee(code, stored),
    expired(ctx) {
      if (policy.texts.expired !== undefined) ctx.reply(ctx.t(policy.texts.expired));
    },
  };
}

async function take(code: FormCode, ctx: AnyContext, stored: DialogueState): Promise<Turn> {
  const { policy, fieldOf } = code;
  if (!policy.isAnswer(ctx)) return { kind: "pass" };
  if (policy.isCancel(ctx)) return cancel(code, ctx);
  const state = current(code, stored);
  if (state === null) return goOn(code, ctx, answersOf(code, stored), "the question is gone", keptIn(stored));
  const shown = state.shown ?? (await wording(code, ctx, state));
  const reading = await fieldOf(state.asked).read(ctx, shown);
  if ("value" in reading) return answer(code, ctx, { ...state, shown }, reading.value);
  if ("gone" in reading) return gone(code, ctx, state, reading.gone);
  if (UNWRITTEN.has(ctx.message.type) && !policy.routesMayAnswer)
    return unwanted(code, ctx, { ...state, shown });
  if (ctx.message.type === "poll_vote" || policy.routesMayAnswer) return { kind: "pass" };
  return misunderstood(code, ctx, state, reading.problem);
}

/** The question as the code words it now. */
async function wording(
  { fieldOf }: FormCode,
  ctx: AnyContext,
  { asked, answers }: FormState,
): Promise<Shown> {
  const options = await fieldOf(asked).options?.(ctx, answers);
  return { text: await questionOf(ctx, fieldOf(asked), answers), options: options ?? null };
}

/** Asks, and keeps what was shown for the answer. */
async function ask(code: FormCode, ctx: AnyContext, state: FormState): Promise<FormState> {
  const shown = await wording(code, ctx, state);
  code.fieldOf(state.asked).ask(ctx, shown);
  return { ...state, shown };
}

/** Without a yes that was said to other words than are asked now. */
async function agreedTo(
  { keys, fieldOf }: FormCode,
  ctx: AnyContext,
  answers: FormState["answers"],
  { agreed = {} }: Kept,
): Promise<FormState["answers"]> {
  const standing = { ...answers };
  for (const [key, words] of Object.entries(agreed))
    if (
      keys.includes(key) &&
      standing[key] === true &&
      (await questionOf(ctx, fieldOf(key), standing)) !== words
    )
      delete standing[key];
  return standing;
}

const firstOpen = ({ keys }: FormCode, answers: FormState["answers"]): string | undefined =>
  keys.find((key) => !Object.hasOwn(answers, key));

/** Asks what is still open; without anything open it is done. */
async function goOn(
  code: FormCode,
  ctx: AnyContext,
  known: FormState["answers"],
  note: string,
  kept: Kept,
): Promise<Turn> {
  const answers = await agreedTo(code, ctx, known, kept);
  const asked = firstOpen(code, answers);
  if (asked !== undefined)
    return { kind: "continue", state: await ask(code, ctx, { answers, asked, tries: 0, ...kept }), note };
  const values = Object.fromEntries(code.keys.map((key) => [key, answers[key]]));
  await code.done(ctx, values as never);
  return { kind: "end", note: `${note}; complete` };
}

async function misunderstood(
  code: FormCode,
  ctx: AnyContext,
  state: FormState,
  problem: string | null,
): Promise<Turn> {
  const { policy, fieldOf } = code;
  const tries = state.tries + 1;
  if (tries >= (fieldOf(state.asked).tries ?? policy.tries)) {
    ctx.reply(policy.say(ctx, "givenUp"));
    return { kind: "end", note: `${state.asked} given up` };
  }
  ctx.reply(problem === null ? policy.say(ctx, "retry") : ctx.t(problem));
  const next = await ask(code, ctx, { ...state, tries });
  return { kind: "continue", state: next, note: `${state.asked} not understood` };
}

/** Nobody did anything wrong: no try is used up. */
async function gone(code: FormCode, ctx: AnyContext, state: FormState, what: string): Promise<Turn> {
  ctx.reply(code.policy.say(ctx, "gone"));
  return { kind: "continue", state: await ask(code, ctx, state), note: `${what} is gone` };
}

/** A picture where a name is wanted: what is wanted is said, and no try is used up. */
function unwanted({ policy, fieldOf }: FormCode, ctx: AnyContext, state: FormState): Turn {
  const { wants = "text", ask: askAgain } = fieldOf(state.asked);
  ctx.reply(policy.say(ctx, WANTED[wants]));
  askAgain(ctx, state.shown!);
  return { kind: "continue", state, note: `${state.asked} is wanted as ${wants}` };
}

async function answer(code: FormCode, ctx: AnyContext, state: FormState, value: unknown): Promise<Turn> {
  const answers = { ...state.answers, [state.asked]: value };
  const { outcome, confirms } = code.fieldOf(state.asked);
  const next = outcome?.(value) ?? "go_on";
  const { given = {}, agreed = {} } = state;
  if (next === "cancel") return cancel(code, ctx);
  if (next === "restart") return goOn(code, ctx, { ...given }, "begun anew", { given });
  const more = confirms && value === true ? { [state.asked]: state.shown!.text } : {};
  return goOn(code, ctx, answers, `${state.asked} answered`, { given, agreed: { ...agreed, ...more } });
}

function cancel({ policy }: FormCode, ctx: AnyContext): Turn {
  ctx.reply(policy.say(ctx, "cancelled"));
  return { kind: "end", note: "cancelled" };
}

/** What was answered and is still an answer to one of today's questions. */
function answersOf({ keys, fieldOf }: FormCode, stored: DialogueState): FormState["answers"] {
  const isStillOne = ([key, value]: [string, unknown]): boolean =>
    keys.includes(key) && (value === null || fieldOf(key).accepts?.(value) !== false);
  return Object.fromEntries(Object.entries((stored as Partial<FormState>).answers ?? {}).filter(isStillOne));
}

/** Answers of today's questions; the question that was asked may be gone. */
function current(code: FormCode, stored: DialogueState): FormState | null {
  const { asked = "", tries = 0 } = stored as Partial<FormState>;
  const answers = answersOf(code, stored);
  const shown = shownIn(stored);
  return code.keys.includes(asked)
    ? { answers, asked, tries, ...keptIn(stored), ...(shown && { shown }) }
    : null;
}

function foresee(code: FormCode, stored: DialogueState): Foreseen {
  const answers = answersOf(code, stored);
  const state = current(code, stored);
  const wasAnswered = (key: string): boolean => Object.hasOwn(Object(stored.answers), key);
  const refused = code.keys.find((key) => wasAnswered(key) && !Object.hasOwn(answers, key));
  if (state === null) {
    const asked = firstOpen(code, answers);
    if (asked === undefined) return { kind: "completes" };
    return { kind: wasAnswered(asked) ? "asked_again" : "asked_new", key: asked };
  }
  const { accepts } = code.fieldOf(state.asked);
  const noMore = goneFrom(shownIn(stored), (key) => accepts?.(key) !== false);
  return refused === undefined
    ? { kind: "goes_on", gone: noMore }
    : { kind: "asked_again", key: refused, gone: noMore };
}

const questionOf = (
  ctx: AnyContext,
  { question }: Field<unknown>,
  answers: FormState["answers"],
): string | Promise<string> => (typeof question === "string" ? ctx.t(question) : question(ctx, answers));

function keptIn(stored: DialogueState): Kept {
  const { given = {}, agreed = {} } = stored as Partial<FormState>;
  return { given, agreed };
}

function refuseIncomplete(name: string, keys: string[], done: unknown): void {
  if (keys.length === 0) throw new TypeError(`${name} needs at least one question.`);
  if (typeof done !== "function") throw new TypeError(`${name} needs a function that gets the answers.`);
  refuseNumbers(name, keys);
}
