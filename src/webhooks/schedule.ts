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
  const jittered = Math.round(pause * (1 - JITTER + 2 * JITTER * random()));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER));
}

/** What an HTTP status means for a delivery. */
export type Verdict = "accepted" | "retry" | "refused" | "gone";

/** Redirects are not followed: they count like 5xx, since whoever set them up may take them back. */
export function verdictOf(status: number): Verdict {
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
