const UNITS = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `"90s"`, `"10m"`, `"12h"`, `"30d"`, `"1.5s"`, `"500ms"`, or a number of milliseconds. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "min" | "h" | "d"}`;

const FORM = /^(-?\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)$/;

/**
 * @param what names the setting in the error
 * @returns milliseconds
 * @throws {TypeError} when it is no duration
 */
export function milliseconds(duration: unknown, what: string): number {
  const ms = fromNow(duration, what);
  if (ms >= 0) return ms;
  throw noDuration(duration, what);
}

/**
 * As {@link milliseconds}, for a time counted from another one: it may lie before that, as when an author subtracts.
 *
 * @throws {TypeError} when it is no duration
 */
export function fromNow(duration: unknown, what: string): number {
  if (typeof duration === "number" && Number.isFinite(duration)) return Math.round(duration);
  const found = typeof duration === "string" ? FORM.exec(duration.trim()) : null;
  if (found === null) throw noDuration(duration, what);
  return Math.round(Number(found[1]) * UNITS[found[2] as keyof typeof UNITS]);
}

const noDuration = (given: unknown, what: string): TypeError =>
  new TypeError(
    `${what}: ${typeof given === "number" ? given : JSON.stringify(given)} is not a duration. Write "90s", "10m", "12h", "30d" or milliseconds.`,
  );

/** @returns `"20/min"`, `"5/10s"` as a count and milliseconds. @throws {TypeError} */
export function rate(text: unknown, what: string): { count: number; ms: number } {
  const found =
    typeof text === "string" ? /^(\d+)\s*\/\s*(\d*(?:\.\d+)?(?:ms|s|min|m|h|d))$/.exec(text.trim()) : null;
  const count = Number(found?.[1]);
  if (found === null || count < 1)
    throw new TypeError(`${what}: ${JSON.stringify(text)} is not a rate. Write "20/min" or "5/10s".`);
  const per = found[2]!;
  return { count, ms: milliseconds(/^\d/.test(per) ? per : `1${per}`, what) };
}
