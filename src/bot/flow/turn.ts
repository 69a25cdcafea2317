import { UNDER_NAMES, type SendsUnderNames } from "../handlers/sending.ts";
import type { AnyContext } from "../types/context.ts";
import type { BotStore } from "../types/store.ts";
import type { Journal } from "./journal.ts";
import {
  notAwaited,
  openProgress,
  stepNotAwaited,
  type Progress,
  type RunOptions,
  type Stop,
} from "./progress.ts";
import { createQuestions, type Questions } from "./questions/questions.ts";
import { createSaid, type Said } from "./said.ts";
import { createFlowSession, type FlowSession } from "./session.ts";
import type { FlowState, HeldAnswer, Signal } from "./state.ts";
import { createSteps, type RunStep } from "./steps.ts";
import { createFlowStore } from "./store.ts";
import { createWaiting } from "./waiting.ts";
import type { FlowEntry, Until, Woken } from "./types.ts";

/** What functions of `f` are made of, for one run of the code. */
export interface FlowTurn {
  readonly ctx: AnyContext;
  readonly journal: Journal;
  /** The same for as long as the flow lives. */
  readonly seed: string;
  ask: Questions["ask"];
  step: RunStep;
  until(what: Until): Promise<Woken>;
  /** A value that is the same whenever the code runs again. */
  value(name: string, make: () => unknown): unknown;
  store: BotStore;
  /** See `FlowContext.session`. */
  session(): unknown;
  /** Whether a step is under way. */
  isInStep(): boolean;
  /** Said once in the same words, when the code is new or asks anew: kept until the code stands still. */
  say(effect: () => void): void;
  /** Done once, when the code is new: kept until the code stands still. */
  later(effect: () => void, call: string): void;
  /** Done once and at once, when the code is new. */
  once(effect: () => void, call: string): void;
  /** Begins the flow anew. */
  again(input: unknown): Promise<never>;
  fetch: AnyContext["fetch"];
}

const VALUE: readonly FlowEntry["kind"][] = ["value"];

/** What a run has come to. */
export interface Ran {
  stop: Stop;
  journal: Journal;
  /** An answer that the code has not come to yet. */
  held: HeldAnswer | null;
  /** What nobody has waited for yet. */
  signals: Signal[];
  /** What the code wanted done; nothing of it has happened. */
  effects: (() => void)[];
  /** The same for the bot's session; null: nothing has changed in it. */
  changeSession: (() => void) | null;
  /** See {@link Progress.stoppedAt}. */
  stoppedAt: Error | null;
}

/**
 * Runs the code of a flow from the top until it stands still: at a question without an answer, in a sleep, or at its end. What
 * the journal has is given again; what lies behind is done and added.
 */
export async function runTurn(
  body: (turn: FlowTurn) => unknown,
  ctx: AnyContext,
  state: FlowState,
  how: RunOptions,
): Promise<Ran> {
  const progress = openProgress(ctx, state, how);
  const { journal } = progress;
  const effects: (() => void)[] = [];
  const said = createSaid(effects);
  const questions = createQuestions(progress, said);
  const waiting = createWaiting(progress);
  const session = createFlowSession(progress);
  const turn = flowTurn(how, progress, { effects, said, questions, waiting, session });
  let end: Stop | null = null;
  const code = Promise.resolve()
    .then(() => {
      (ctx as AnyContext & SendsUnderNames)[UNDER_NAMES].begins();
      return body(turn);
    })
    .then(
      () => (end = { kind: "ended" }),
      (error: unknown) => (end = { kind: "threw", error }),
    );
  await Promise.race([code, progress.standsStill]);
  // Code that does not await what it asked goes on: that is noticed here.
  if (progress.stopped() !== null) await untilCodeRests();
  const place =
    isUnawaited(progress, end) && !how.notesPlace ? await placeOfStop(body, ctx, state, journal) : null;
  const stop = outcome(progress, end, place);
  const stoppedAt = progress.stoppedAt();
  return {
    stop,
    journal,
    held: questions.held(),
    signals: waiting.signals(),
    effects,
    changeSession: session.changes(),
    stoppedAt,
  };
}

/** Parts of one run. */
interface TurnParts {
  effects: (() => void)[];
  said: Said;
  questions: Questions;
  waiting: ReturnType<typeof createWaiting>;
  session: FlowSession;
}

/** What functions of `f` call. */
function flowTurn(
  how: RunOptions,
  progress: Progress,
  { effects, said, questions, waiting, session }: TurnParts,
): FlowTurn {
  const { ctx, journal } = progress;
  return {
    ctx,
    journal,
    seed: progress.state.seed,
    ask: questions.ask,
    step: createSteps(progress),
    until: waiting.until,
    value(name, make) {
      progress.called(`f.${name}`);
      const key = journal.keyOf(name);
      const known = journal.find(key, VALUE);
      if (known !== null) return known.value;
      const value = make();
      journal.add({ key, kind: "value", value });
      return value;
    },
    session: session.read,
    store: createFlowStore(progress, (effect) => effects.push(effect)),
    isInStep: () => progress.stepsUnderWay.size > 0,
    say(effect) {
      progress.called("f.say");
      said.say(effect, progress.isNew());
    },
    later(effect, call) {
      progress.called(call);
      if (progress.isNew()) effects.push(effect);
    },
    once(effect, call) {
      progress.called(call);
      if (progress.isNew()) effect();
    },
    again(input) {
      progress.called("f.again");
      return progress.stop({ kind: "again", input });
    },
    // Code of a flow asks elsewhere in its steps; what does so beside them is not asked either when nothing may be done.
    fetch(address, options) {
      progress.counts();
      return how.push?.kind === "foreseen"
        ? progress.stop({ kind: "ahead", will: "does", key: "fetch" })
        : ctx.fetch(address, options);
    },
  };
}

/**
 * Resolves when code that need not wait for anything has gone as far as it goes. Ticks come when all promises that are settled
 * have had their turn; to wait for the event loop instead would take each turn out of the commit that others share.
 */
const untilCodeRests = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** The code has come to its end although it was told to stand still. */
const isUnawaited = (progress: Progress, end: Stop | null): boolean =>
  end?.kind === "ended" && (progress.stopped()?.kind === "asking" || progress.stopped()?.kind === "sleeping");

/** Runs the code once more, so that nothing is done, to note where it asks for what it does not wait for. */
async function placeOfStop(
  body: (turn: FlowTurn) => unknown,
  ctx: AnyContext,
  state: FlowState,
  journal: Journal,
): Promise<Error | null> {
  const again = { ...state, entries: journal.entries(), open: null, sleep: null, held: null };
  const how: RunOptions = { push: { kind: "foreseen" }, mayAsk: true, notesPlace: true };
  return (await runTurn(body, ctx, again, how)).stoppedAt;
}

/**
 * @param ended how the code came to its end; null: it did not
 * @param place where it asked for what it did not wait for; null: not known
 */
function outcome(progress: Progress, ended: Stop | null, place: Error | null): Stop {
  const { stepsUnderWay, stopped, isNew, resumeAt } = progress;
  const stood = stopped();
  // Code that reads what is not there when nothing may be done is stopped by throwing.
  if (ended?.kind === "threw" && stood?.kind !== "ahead") return ended;
  const [running] = stepsUnderWay;
  if (ended !== null && running !== undefined) return { kind: "threw", error: stepNotAwaited(running) };
  if (stood !== null) return ended === null ? stood : unawaited(stood, place);
  // The code is shorter than it was: it never came to where it stood still.
  return isNew() ? { kind: "ended" } : { kind: "changed", key: resumeAt! };
}

/** The code has come to its end although something it asked for is open. */
function unawaited(stop: Stop, at: Error | null): Stop {
  if (stop.kind === "asking")
    return { kind: "threw", error: notAwaited(`the question ${JSON.stringify(stop.key)}`, at) };
  return stop.kind === "sleeping" ? { kind: "threw", error: notAwaited("f.until()", at) } : stop;
}
