import { fromNow } from "../duration.ts";
import { FlowMistake } from "./errors.ts";
import type { Progress } from "./progress.ts";
import type { Signal, Sleep } from "./state.ts";
import type { FlowEntry, Until, Woken } from "./types.ts";

const VALUE: readonly FlowEntry["kind"][] = ["value"];

/** `f.until` of one run, and the signals that nobody has waited for yet. */
export function createWaiting(progress: Progress): {
  until(what: Until): Promise<Woken>;
  signals(): Signal[];
} {
  const { ctx, state, journal } = progress;
  const signals = [...state.signals];

  function until(what: Until): Promise<Woken> {
    // At the call, awaited or not: a loop ends there.
    progress.called("f.until");
    return wait(journal.keyOf("until"), what);
  }

  async function wait(key: string, what: Until): Promise<Woken> {
    const known = journal.find(key, VALUE);
    if (known !== null) {
      progress.hasAnswer();
      return known.value as Woken;
    }
    const isHere = progress.arrives(key);
    if (progress.push?.kind === "foreseen")
      return progress.stop(isHere ? { kind: "arrived", gone: [] } : { kind: "ahead", will: "waits", key });
    const sleep = isHere && state.sleep !== null ? state.sleep : sleepOf(key, what, ctx.now());
    progress.beginNew();
    const sent = sleep.signal === null ? -1 : signals.findIndex(({ signal }) => signal === sleep.signal);
    const isDue = sleep.at !== null && sleep.at <= ctx.now();
    if (sent === -1 && !isDue) return progress.stop({ kind: "sleeping", sleep, failedTries: 0 });
    const woken: Woken =
      sent === -1
        ? { signal: null, late: isLate(what, sleep, ctx.now()) }
        : { ...signals.splice(sent, 1)[0]!, late: false };
    journal.add({ key, kind: "value", value: woken });
    progress.hasAnswer();
    return woken;
  }

  return { until, signals: () => signals };
}

function isLate(what: Until, { at }: Sleep, now: number): boolean {
  const expire = typeof what === "object" && !(what instanceof Date) ? what.expire : undefined;
  return expire !== undefined && at !== null && now > at + fromNow(expire, "f.until({ expire })");
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
  const due = at instanceof Date ? at.getTime() : now + fromNow(at, "f.until()");
  if (!Number.isFinite(due)) throw new FlowMistake("f.until() got an invalid date.");
  return { key, at: due, signal };
}
