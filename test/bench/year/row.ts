import type { Cost } from "./gateway.ts";

/** What a run must keep to, on a machine that does nothing else. */
export const LIMITS = {
  /** The event loop's own computing between two looks; what other processes take does not count. */
  computingMs: 50,
  firstAnswerMs: 3_000,
  pageMs: 20,
  /** Above a gateway that has no data. */
  memoryMb: 300,
};

const ms = (value: number): string => `${value.toFixed(0)} ms`.padStart(9);

/** One row a step. */
export function row({ what, stallMs, computingMs, cpuMs, tookMs, peakMb, answerMs, pageMs }: Cost): string {
  const answers = answerMs === null ? "" : `; answers within${ms(answerMs)}`;
  const page = pageMs === null ? "" : `; a page${ms(pageMs)}`;
  return `${what.padEnd(72)} stall${ms(stallMs)}, computing${ms(computingMs)}; CPU${ms(cpuMs)}, took${ms(tookMs)}; ${peakMb.toFixed(0)} MB${answers}${page}`;
}

/**
 * What of a run is over its limits, in one line each.
 *
 * @param emptyMb memory of a gateway without data
 */
export function overLimits(costs: readonly Cost[], emptyMb: number): string[] {
  return costs.flatMap(({ what, computingMs, firstAnswer, tookMs, pageMs, peakMb }) => [
    ...over(what, "computing", computingMs, LIMITS.computingMs),
    ...(firstAnswer ? over(what, "first answer", tookMs, LIMITS.firstAnswerMs) : []),
    ...over(what, "a page", pageMs ?? 0, LIMITS.pageMs),
    ...over(what, "memory above an empty gateway", peakMb - emptyMb, LIMITS.memoryMb),
  ]);
}

function over(what: string, measured: string, value: number, limit: number): string[] {
  return value > limit ? [`over its limit: ${what}: ${measured} ${value.toFixed(0)}, at most ${limit}`] : [];
}
