import type { Time } from "../../time.ts";

/** A version that is higher than the last one, in microseconds. */
export function nextVersion({ time }: { time: Time }, last: number): number {
  return Math.max(time.now() * 1000, last + 1);
}
