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
  const fieldOf = (key: string): Field<unknown> => fields[key]!;

  /** The question as the code words it now. */
  async function wording(ctx: AnyContext, { asked, answers }: FormState): Promise<Shown> {
    const options = await fieldOf(asked).options?.(ctx, answers as Readonly<Record<string, never>>);
    return { text: await questionOf(ctx, fieldOf(asked), answers), options: options ?? null };
  }

  /** Asks, and keeps what was shown for the answer. */
  async function ask(ctx: AnyContext, state: FormState): Promise<FormState> {
    const shown = await wording(ctx, state);
    fieldOf(state.asked).ask(ctx, shown);
    return { ...state, shown };
  }

  /** Whether what was answered is an answer to today's question. */
  const isStillOne = (key: string, value: unknown): boolean =>
    keys.includes(key) && (value === null || fieldOf(key).accepts?.(value) !== false);

  /** Without a yes that was said to other words than are asked now. */
  async function agreedTo(ctx: AnyContext, answers: FormState["answers"], { agreed = {} }: Kept) {
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

  const firstOpen = (answers: FormState["answers"]): string | undefined =>
    keys.find((key) => !Object.hasOwn(answers, key));

  /** Asks what is still open; without anything open it is done. */
  async function goOn(ctx: AnyContext, known: FormState["answers"], note: string, kept: Kept): Promise<Turn> {
    const answers = await agreedTo(ctx, known, kept);
    const asked = firstOpen(answers);
    if (asked !== undefined) {
      return { kind: "continue", state: await ask(ctx, { answers, asked, tries: 0, ...kept }), note };
    }
    const values = Object.fromEntries(keys.map((key) => [key, answers[key]])) as Values<F>;
    await done(ctx as Ctx, values);
    return { kind: "end", note: `${note}; complete` };
  }

  async function misunderstood(ctx: AnyContext, state: FormState, problem: string | null): Promise<Turn> {
    const tries = state.tries + 1;
    if (tries >= (fieldOf(state.asked).tries ?? policy.tries)) {
      ctx.reply(policy.say(ctx, "givenUp"));
      return { kind: "end", note: `${state.asked} given up` };
    }
    ctx.reply(problem === null ? policy.say(ctx, "retry") : ctx.t(problem));
    const next = await ask(ctx, { ...state, tries });
    return { kind: "continue", state: next, note: `${state.asked} not understood` };
  }

  /** Nobody did anything wrong: no try is used up. */
  async function gone(ctx: AnyContext, state: FormState, what: string): Promise<Turn> {
    ctx.reply(policy.say(ctx, "gone"));
    return { kind: "continue", state: await ask(ctx, state), note: `${what} is gone` };
  }

  const answersOf = (stored: DialogueState): FormState["answers"] =>
    Object.fromEntries(
      Object.entries((stored as Partial<FormState>).answers ?? {}).filter(([key, value]) =>
        isStillOne(key, value),
      ),
    );

  /** Answers of today's questions; the question that was asked may be gone. */
  function current(stored: DialogueState): FormState | null {
    const { asked = "", tries = 0 } = stored as Partial<FormState>;
    const answers = answersOf(stored);
    const shown = shownIn(stored);
    return keys.includes(asked)
      ? { answers, asked, tries, ...keptIn(stored), ...(shown && { shown }) }
      : null;
  }

  function foresee(stored: DialogueState): Foreseen {
    const answers = answersOf(stored);
    const state = current(stored);
    const wasAnswered = (key: string): boolean => Object.hasOwn(Object(stored.answers), key);
    const refused = keys.find((key) => wasAnswered(key) && !Object.hasOwn(answers, key));
    if (state === null) {
      const asked = firstOpen(answers);
      if (asked === undefined) return { kind: "completes" };
      return { kind: wasAnswered(asked) ? "asked_again" : "asked_new", key: asked };
    }
    const { accepts } = fieldOf(state.asked);
    const gone = goneFrom(shownIn(stored), (key) => accepts?.(key) !== false);
    return refused === undefined ? { kind: "goes_on", gone } : { kind: "asked_again", key: refused, gone };
  }

  /** A picture where a name is wanted: what is wanted is said, and no try is used up. */
  function unwanted(ctx: AnyContext, state: FormState): Turn {
    const { wants = "text", ask: askAgain } = fieldOf(state.asked);
    ctx.reply(policy.say(ctx, WANTED[wants]));
    askAgain(ctx, state.shown!);
    return { kind: "continue", state, note: `${state.asked} is wanted as ${wants}` };
  }

  async function answer(ctx: AnyContext, state: FormState, value: unknown): Promise<Turn> {
    const answers = { ...state.answers, [state.asked]: value };
    const { outcome, confirms } = fieldOf(state.asked);
    const next = outcome?.(value) ?? "go_on";
    const { given = {}, agreed = {} } = state;
    if (next === "cancel") return cancel(ctx);
    if (next === "restart") return goOn(ctx, { ...given }, "begun anew", { given });
    const more = confirms && value === true ? { [state.asked]: state.shown!.text } : {};
    return goOn(ctx, answers, `${state.asked} answered`, { given, agreed: { ...agreed, ...more } });
  }

  function cancel(ctx: AnyContext): Turn {
    ctx.reply(policy.say(ctx, "cancelled"));
    return { kind: "end", note: "cancelled" };
  }

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
      return goOn(ctx, given, "begun", { given });
    },
    async take(ctx, stored) {
      if (!policy.isAnswer(ctx)) return { kind: "pass" };
      if (policy.isCancel(ctx)) return cancel(ctx);
      const state = current(stored);
      if (state === null) return goOn(ctx, answersOf(stored), "the question is gone", keptIn(stored));
      const shown = state.shown ?? (await wording(ctx, state));
      const reading = await fieldOf(state.asked).read(ctx, shown);
      if ("value" in reading) return answer(ctx, { ...state, shown }, reading.value);
      if ("gone" in reading) return gone(ctx, state, reading.gone);
      if (UNWRITTEN.has(ctx.message.type) && !policy.routesMayAnswer)
        return unwanted(ctx, { ...state, shown });
      if (ctx.message.type === "poll_vote" || policy.routesMayAnswer) return { kind: "pass" };
      return misunderstood(ctx, state, reading.problem);
    },
    async remind(ctx, stored) {
      const state = current(stored);
      if (policy.texts.reminder !== undefined) ctx.reply(ctx.t(policy.texts.reminder));
      return state === null ? stored : ask(ctx, state);
    },
    foresee: (_ctx, stored) => foresee(stored),
    expired(ctx) {
      if (policy.texts.expired !== undefined) ctx.reply(ctx.t(policy.texts.expired));
    },
  };
}

const questionOf = (
  ctx: AnyContext,
  { question }: Field<unknown>,
  answers: FormState["answers"],
): string | Promise<string> =>
  typeof question === "string" ? ctx.t(question) : question(ctx, answers as Readonly<Record<string, never>>);

function keptIn(stored: DialogueState): Kept {
  const { given = {}, agreed = {} } = stored as Partial<FormState>;
  return { given, agreed };
}

function refuseIncomplete(name: string, keys: string[], done: unknown): void {
  if (keys.length === 0) throw new TypeError(`${name} needs at least one question.`);
  if (typeof done !== "function") throw new TypeError(`${name} needs a function that gets the answers.`);
  refuseNumbers(name, keys);
}
