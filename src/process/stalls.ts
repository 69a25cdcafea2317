import { performance } from "node:perf_hooks";
import type { Logger } from "../log.ts";

const TICK_MS = 500;
/** Shorter ones are the ordinary life of a busy machine. */
const STALL_MS = 2_000;
const REMEMBERED_MS = 5 * 60_000;

/** Most stalls that are remembered to be shown. */
const MOST_SHOWN = 50;

/** One time in which nothing else could run. */
export interface Stall {
  /** When it was noticed, Unix milliseconds. */
  at: number;
  ms: number;
  /** Bots that ran meanwhile. */
  bots: string[];
}

interface Stalls {
  /** Longest time of the last five minutes in which nothing else could run; 0 when none was worth naming. */
  longestMs(): number;
  /** The last of them since the start, newest first. */
  latest(): readonly Stall[];
  stop(): void;
}

/**
 * Notices that the event loop stood still: nothing was received, sent or answered meanwhile.
 *
 * @param during who has run since the last look, for the log
 */
export function watchStalls(log: Logger, during: () => string[]): Stalls {
  let stalls: { at: number; ms: number }[] = [];
  const latest: Stall[] = [];
  let expected = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    const stalledMs = Math.round(now - expected);
    const ran = during();
    expected = now + TICK_MS;
    if (stalledMs < STALL_MS) return;
    stalls = [...recent(stalls), { at: now, ms: stalledMs }];
    latest.unshift({ at: Date.now(), ms: stalledMs, bots: ran });
    latest.splice(MOST_SHOWN);
    log.warn(
      { stalledMs, bots: ran },
      "the event loop was blocked: nothing could be received or sent during that time",
    );
  }, TICK_MS);
  timer.unref();
  return {
    longestMs: () => Math.max(0, ...recent(stalls).map(({ ms }) => ms)),
    latest: () => latest,
    stop: () => clearInterval(timer),
  };
}

function recent(stalls: { at: number; ms: number }[]): { at: number; ms: number }[] {
  return stalls.filter(({ at }) => at > performance.now() - REMEMBERED_MS);
}
