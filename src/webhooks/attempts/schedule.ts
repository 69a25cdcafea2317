const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pause before each attempt: the first is made at once, ten in about 76 hours. From Standard Webhooks. */
const PAUSES = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const JITTER = 0.2;
const LONGEST_RETRY_AFTER = 24 * HOUR;

/** A breaker's pauses: a tenth of the time that the endpoint has been failing for, within these. */
const SHORTEST_PAUSE = 10 * SECOND;
const LONGEST_GROWN_PAUSE = 5 * MINUTE;
/** What `Retry-After` may make of it. */
export const LONGEST_BREAKER_PAUSE = HOUR;

/**
 * How long to wait before the next attempt.
 *
 * @param made         attempts made so far, from 1
 * @param retryAfterMs the receiver's `Retry-After`; replaces the schedule when it is longer, at most 24 h
 * @param random       0 to 1
 * @returns milliseconds, or null when the delivery is given up
 */
export function nextPause(
  made: number,
  retryAfterMs: number | null,
  random: () => number = Math.random,
): number | null {
  const pause = PAUSES[made];
  if (pause === undefined) return null;
  return Math.max(jittered(pause, random), Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER));
}

/**
 * How long nothing is posted to an endpoint that keeps failing: 10 s at first, growing to 5 min, ± 20 %. In proportion
 * to the outage, so that whatever was down for ten minutes has its messages a minute after it is back.
 *
 * @param failingForMs since the first failed attempt
 * @param retryAfterMs the receiver's `Retry-After`; counts when it is longer, at most an hour
 * @param random       0 to 1
 * @returns milliseconds
 */
export function breakerPause(
  failingForMs: number,
  retryAfterMs: number | null,
  random: () => number,
): number {
  const grown = Math.min(Math.max(failingForMs / 10, SHORTEST_PAUSE), LONGEST_GROWN_PAUSE);
  return Math.max(jittered(grown, random), Math.min(retryAfterMs ?? 0, LONGEST_BREAKER_PAUSE));
}

function jittered(pause: number, random: () => number): number {
  return Math.round(pause * (1 - JITTER + 2 * JITTER * random()));
}

/** What an HTTP status means for a delivery. */
export type AttemptResult = "accepted" | "retry" | "refused" | "gone";

/** Redirects are not followed: they count like 5xx, since whoever set them up may take them back. */
export function resultOf(status: number): AttemptResult {
  if (status >= 200 && status < 300) return "accepted";
  if (status === 410) return "gone";
  if (status === 408 || status === 425 || status === 429) return "retry";
  return status >= 400 && status < 500 ? "refused" : "retry";
}

/**
 * @param header `Retry-After`: seconds, or an HTTP date
 * @param now    Unix milliseconds
 * @returns milliseconds from now, or null when there is none that can be understood
 */
export function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * SECOND;
  const date = /^[A-Za-z]{3}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
