import { performance } from "node:perf_hooks";
import type { Logger } from "../log.ts";

const TICK_MS = 500;
/** Shorter ones are the ordinary life of a busy machine. */
const STALL_MS = 2_000;
const REMEMBERED_MS = 5 * 60_000;

interface Stalls {
  /** Longest time of the last five minutes in which nothing else could run; 0 when none was worth naming. */
  longestMs(): number;
  stop(): void;
}

/**
 * Notices that the event loop stood still: nothing was received, sent or answered meanwhile.
 *
 * @param during who has run since the last look, for the log
 */
export function watchStalls(log: Logger, during: () => string[]): Stalls {
  let stalls: { at: number; ms: number }[] = [];
  let expected = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    const stalledMs = Math.round(now - expected);
    const ran = during();
    expected = now + TICK_MS;
    if (stalledMs < STALL_MS) return;
    stalls = [...recent(stalls), { at: now, ms: stalledMs }];
    log.warn(
      { stalledMs, bots: ran },
      "the event loop stood still: nothing could be received or sent meanwhile",
    );
  }, TICK_MS);
  timer.unref();
  return {
    longestMs: () => Math.max(0, ...recent(stalls).map(({ ms }) => ms)),
    stop: () => clearInterval(timer),
  };
}

function recent(stalls: { at: number; ms: number }[]): { at: number; ms: number }[] {
  return stalls.filter(({ at }) => at > performance.now() - REMEMBERED_MS);
}
