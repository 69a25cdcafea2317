import { GatewayError } from "../model/errors/errors.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../model/time.ts";
import type { Allowances } from "../store/allowances.ts";
import type { Store } from "../store/store.ts";

/**
 * What WhatsApp takes for the work of spammers when a number does it often, and how often it may be done within a time that
 * rolls on. Decision 134 has the reports that the figures come from.
 */
export const PACES = {
  checks: { most: 500, withinMs: HOUR_MS, words: "500 an hour" },
  groups: { most: 20, withinMs: DAY_MS, words: "20 in 24 hours" },
  members: { most: 50, withinMs: HOUR_MS, words: "50 an hour" },
  /** People change theirs a few times a year. A number that does so all the time is no person's. */
  profile: { most: 10, withinMs: HOUR_MS, words: "10 times an hour" },
  joins: { most: 10, withinMs: HOUR_MS, words: "10 an hour" },
} as const;

/** How often numbers may still do it. */
export interface Paces {
  /**
   * Takes as many of it, all or none.
   *
   * @returns 0 when they are taken; else how many milliseconds it is until there is room for all of them
   */
  take(deviceId: number, what: keyof typeof PACES, count: number): Promise<number>;
}

/** Kept in the database: a restart gives nothing back. */
export function createPaces(allowances: Allowances, store: Pick<Store, "now">): Paces {
  return {
    async take(deviceId, what, count) {
      const { most, withinMs } = PACES[what];
      const now = store.now();
      const allowance = { kind: what, most, since: now - withinMs };
      if (await allowances.take(deviceId, allowance, count)) return 0;
      const inTheWay = await allowances.inTheWay(deviceId, allowance, count);
      return Math.max(1, (inTheWay ?? now) + withinMs - now);
    },
  };
}

/** @param why a sentence for people, without the cure */
export function tooOften(why: string, waitMs: number): GatewayError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / SECOND_MS));
  return new GatewayError("RATE_LIMITED", `${why} Wait ${retryAfter} seconds.`, { retryAfter });
}
