import type { Time } from "../model/time.ts";

/**
 * So many bytes at least must come in each such time, of which only that counts in which they are waited for. The end of a
 * file may be shorter.
 */
export interface LeastRate {
  bytes: number;
  withinMs: number;
}

/** What limits take. */
export type Timers = Pick<Time, "after" | "monotonic">;

/** Watches how fast a body comes once it has begun. */
export interface Pace {
  /** The time that this takes counts. */
  whileWaiting<T>(chunk: Promise<T>): Promise<T>;
  came(bytes: number): void;
}

/** @param late called each time that too little has come */
export function createPace(time: Timers, least: LeastRate, late: () => void): Pace {
  let left = least.withinMs;
  let came: number | null = null;

  function look(): void {
    if (came !== null && came < least.bytes) late();
    left = least.withinMs;
    came = 0;
  }

  return {
    async whileWaiting(chunk) {
      if (came === null) return chunk;
      let begun = time.monotonic();
      let cancel = time.after(left, function over() {
        look();
        begun = time.monotonic();
        cancel = time.after(left, over);
      });
      try {
        return await chunk;
      } finally {
        cancel();
        left -= time.monotonic() - begun;
      }
    },
    came(bytes) {
      came = (came ?? 0) + bytes;
      if (left <= 0) look();
    },
  };
}
