import { giveWay } from "../../model/give-way.ts";
import { milliseconds } from "../duration.ts";
import type { AnyContext } from "../types/context.ts";
import { FlowMistake } from "./errors.ts";
import type { Journal } from "./journal.ts";
import { notAwaited, openProgress, type Progress, type Push, type Stop } from "./progress.ts";
import { createQuestions, type Questions } from "./questions.ts";
import type { FlowState, HeldAnswer, Signal, Sleep } from "./state.ts";
import { createSteps, type RunStep } from "./steps.ts";
import type { Until, Woken } from "./types.ts";

/** What functions of `f` are made of, for one run of the code. */
export interface FlowTurn {
  readonly ctx: AnyContext;
  readonly journal: Journal;
  ask: Questions["ask"];
  step: RunStep;
  until(what: Until): Promise<Woken>;
  /** A value that is the same whenever the code runs again. */
  value(name: string, make: () => unknown): unknown;
  /** Done once, when the code is new: kept until the code stands still. */
  later(effect: () => void): void;
  stop(stop: Stop): Promise<never>;
}

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
}

/**
 * Runs the code of a flow from the top until it stands still: at a question without an answer, in a sleep, or at its end. What
 * the journal has is given again; what lies behind is done and added.
 */
export async function runTurn(
  body: (turn: FlowTurn) => unknown,
  ctx: AnyContext,
  state: FlowState,
  how: { push: Push | null; mayAsk: boolean },
): Promise<Ran> {
  const progress = openProgress(ctx, state, how);
  const { journal } = progress;
  const questions = createQuestions(progress);
  const waiting = createWaiting(progress);
  const effects: (() => void)[] = [];
  const turn: FlowTurn = {
    ctx,
    journal,
    ask: questions.ask,
    step: createSteps(progress),
    until: waiting.until,
    value(name, make) {
      progress.called(`f.${name}()`);
      const key = journal.keyOf(name);
      const known = journal.find(key, ["value"]);
      if (known !== null) return known.value;
      const value = make();
      journal.add({ key, kind: "value", value });
      return value;
    },
    later(effect) {
      progress.called("f.say()");
      if (progress.isNew()) effects.push(effect);
    },
    stop: progress.stop,
  };

  let end: Stop | null = null;
  const code = Promise.resolve()
    .then(() => body(turn))
    .then(
      () => (end = { kind: "ended" }),
      (error: unknown) => (end = { kind: "threw", error }),
    );
  await Promise.race([code, progress.standsStill]);
  // Code that does not await what it asked goes on: that is noticed here.
  if (progress.stopped() !== null) await giveWay();
  const stop = outcome(progress, end);
  return { stop, journal, held: questions.held(), signals: waiting.signals(), effects };
}

/** @param ended how the code came to its end; null: it did not */
function outcome({ stepsUnderWay, stopped, isNew, resumeAt }: Progress, ended: Stop | null): Stop {
  const stood = stopped();
  if (ended?.kind === "threw") return ended;
  const [running] = stepsUnderWay;
  if (ended !== null && running !== undefined)
    return { kind: "threw", error: notAwaited(`f.step(${JSON.stringify(running)})`) };
  if (stood !== null) return ended === null ? stood : unawaited(stood);
  // The code is shorter than it was: it never came to where it stood still.
  return isNew() ? { kind: "ended" } : { kind: "changed", key: resumeAt! };
}

/** The code has come to its end although something it asked for is open. */
function unawaited(stop: Stop): Stop {
  if (stop.kind === "asking")
    return { kind: "threw", error: notAwaited(`the question ${JSON.stringify(stop.key)}`) };
  return stop.kind === "sleeping" ? { kind: "threw", error: notAwaited("f.until()") } : stop;
}

/** `f.until` of one run, and the signals that nobody has waited for yet. */
function createWaiting(progress: Progress): { until(what: Until): Promise<Woken>; signals(): Signal[] } {
  const { ctx, state, journal } = progress;
  const signals = [...state.signals];

  async function until(what: Until): Promise<Woken> {
    progress.called("f.until()");
    const key = journal.keyOf("until");
    const known = journal.find(key, ["value"]);
    if (known !== null) return known.value as Woken;
    const sleep = progress.arrives(key) && state.sleep !== null ? state.sleep : sleepOf(key, what, ctx.now());
    progress.beginNew();
    const sent = sleep.signal === null ? -1 : signals.findIndex(({ signal }) => signal === sleep.signal);
    const isDue = sleep.at !== null && sleep.at <= ctx.now();
    if (sent === -1 && !isDue) return progress.stop({ kind: "sleeping", sleep, failedTries: 0 });
    const woken: Woken = sent === -1 ? { signal: null } : signals.splice(sent, 1)[0]!;
    journal.add({ key, kind: "value", value: woken });
    return woken;
  }

  return { until, signals: () => signals };
}

/** @throws {FlowMistake} when there is nothing to wait for */
function sleepOf(key: string, what: Until, now: number): Sleep {
  const isWhole = typeof what === "object" && !(what instanceof Date);
  const { at, signal = null } = isWhole ? what : { at: what };
  if (at === undefined && signal === null)
    throw new FlowMistake(
      'f.until() takes a time or a signal: f.until("24h"), f.until({ signal: "moved" }).',
    );
  if (at === undefined) return { key, at: null, signal };
  const due = at instanceof Date ? at.getTime() : now + milliseconds(at, "f.until()");
  if (!Number.isFinite(due)) throw new FlowMistake("f.until() was given a date that is none.");
  return { key, at: due, signal };
}
