import { milliseconds } from "../duration.ts";
import { OutboundError } from "../../net/errors.ts";
import { abortsWith, unlessAborted } from "../../model/shared-abort.ts";
import { describeError } from "../handlers/run.ts";
import { UNDER_NAMES, type SendsUnderNames } from "../handlers/sending.ts";
import type { AnyContext } from "../types/context.ts";
import { digest, digestOf } from "./digest.ts";
import { FlowMistake, StepFailedError } from "./errors.ts";
import type { Progress } from "./progress.ts";
import type { FlowEntry, StepOptions } from "./types.ts";

/** What a step does. */
export type StepWork = (signal: AbortSignal, idempotencyKey: string) => unknown;

/** `f.step` of one run. */
export type RunStep = (name: string, work: StepWork, options: StepOptions) => Promise<unknown>;

/** Between two tries: the flow sleeps, and may be killed meanwhile. */
const BACKOFF = ["2s", "10s", "1m", "5m", "15m"] as const;

const STEP: readonly FlowEntry["kind"][] = ["step", "failed"];

/** What was done is not done again; what fails is tried again later, under the same key for the other side. */
export function createSteps(progress: Progress): RunStep {
  const { ctx, state, journal, stepsUnderWay } = progress;
  const limits = (ctx as AnyContext & SendsUnderNames)[UNDER_NAMES];

  function step(name: string, work: StepWork, options: StepOptions): Promise<unknown> {
    // At the call, awaited or not: a loop ends there.
    progress.called("f.step", name);
    return take(journal.keyOf(name), work, options);
  }

  async function take(key: string, work: StepWork, options: StepOptions): Promise<unknown> {
    const of = digestOf(options.of);
    const known = journal.find(key, STEP, options.was);
    if (known !== null && known.of === of) {
      if (known.kind === "failed") throw new StepFailedError(key, String(known.value));
      return known.value;
    }
    const isHere = progress.arrives(key);
    if (!progress.isNew() && journal.stepInPlace() !== null) return progress.stop({ kind: "changed", key });
    if (progress.push?.kind === "foreseen")
      return progress.stop(isHere ? { kind: "arrived", gone: [] } : { kind: "ahead", will: "does", key });
    progress.beginNew();
    stepsUnderWay.set(key, new Error("here"));
    try {
      return await tryStep(key, work, options, { of, failed: isHere ? state.failedTries : 0 });
    } finally {
      stepsUnderWay.delete(key);
    }
  }

  async function tryStep(
    key: string,
    work: StepWork,
    { tries = 1, timeout, newer }: StepOptions,
    { of, failed }: { of: string | undefined; failed: number },
  ): Promise<unknown> {
    const made = of === undefined ? key : `${key}:${of}`;
    const add = (entry: FlowEntry): void => journal.add(of === undefined ? entry : { ...entry, of });
    const idempotencyKey = digest(`${state.seed}:${made}`);
    try {
      const value = await ctx.step(
        `${state.seed.slice(0, 8)}:${made}:${failed}`,
        (signal) => inTime(limits, work, signal, { timeout, idempotencyKey }),
        newer === undefined ? {} : { newer },
      );
      add({ key, kind: "step", value: value ?? null });
      return value;
    } catch (error) {
      if (error instanceof FlowMistake) throw error;
      ctx.log.warn(
        { err: describeError(error, ctx.text), step: key, failedTries: failed + 1 },
        "a step of a flow failed",
      );
      if (failed + 1 < tries && mayGetBetter(error)) {
        const pause = milliseconds(BACKOFF[Math.min(failed, BACKOFF.length - 1)], "pause");
        const sleep = { key, at: ctx.now() + pause, signal: null };
        return progress.stop({ kind: "sleeping", sleep, failedTries: failed + 1 });
      }
      const why = error instanceof Error ? error.message : String(error);
      add({ key, kind: "failed", value: why });
      throw new StepFailedError(key, why);
    }
  }

  return step;
}

/** Answers that may be others a moment later: the request came too late, too early, or too often. */
const BETTER_LATER = new Set([408, 425, 429]);

/** What will fail every time is not tried again: an address that may not be asked, a request that the other side refuses. */
function mayGetBetter(error: unknown): boolean {
  if (error instanceof OutboundError && error.problem === "not_allowed") return false;
  const status = statusOf(error);
  return status === null || status < 400 || status > 499 || BETTER_LATER.has(status);
}

/** As errors of `f.call`, `ofetch`, axios and others have it. */
function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null) return null;
  const { status, statusCode, response } = error as Record<string, unknown>;
  const within = (response as { status?: unknown } | null | undefined)?.status;
  return [status, statusCode, within].find((one): one is number => typeof one === "number") ?? null;
}

/** @throws when the work takes longer, whether or not it listens to its signal */
function inTime(
  { after }: SendsUnderNames[typeof UNDER_NAMES],
  work: StepWork,
  signal: AbortSignal,
  { timeout, idempotencyKey }: { timeout: StepOptions["timeout"]; idempotencyKey: string },
): unknown {
  if (timeout === undefined) return work(signal, idempotencyKey);
  const late = new AbortController();
  const both = abortsWith([signal, late.signal]);
  const ms = milliseconds(timeout, "f.step({ timeout })");
  const cancel = after(ms, () =>
    late.abort(new DOMException(`It took longer than ${timeout}.`, "TimeoutError")),
  );
  const made = (async () => work(both.signal, idempotencyKey))();
  return unlessAborted(both.signal, made).finally(() => {
    cancel();
    both.release();
  });
}
