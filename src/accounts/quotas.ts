import type { Config } from "../config.ts";
import { counted } from "../model/errors/error-sentences.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Statement, Store } from "../store/store.ts";
import { dailyLimit } from "./plans.ts";
import { endOfDay, type SendCounts } from "./send-counts.ts";

/** Sends taken out of the plan of the day. */
export interface SendShare {
  /** Null: the plan has none, and what is sent is counted for the case that it gets one. */
  limit: number | null;
  /** What is left now. */
  remaining(): number | Promise<number>;
  /** So many were not stored after all. */
  giveBack(count: number): void;
  /** For the commit that stores so many, which fails as a whole when the plan does not allow them any more. */
  storing(count: number): Statement[];
  /** For the commit that deletes what had been stored, directly behind the statement that does. */
  takingBack(): Statement[];
  /** What is to be said of an error of that commit. */
  explain(error: unknown): Promise<unknown>;
}

/** Sends per day, counted for each account. */
export interface Quotas {
  /**
   * Takes so many sends out of what the plan allows today. Two requests at once never both get the last one.
   *
   * @returns null when the plan does not limit sends
   * @throws QUOTA_EXCEEDED with `Retry-After` and the quota's headers: nothing is taken
   */
  take(accountId: string, wanted: number): Promise<SendShare | null>;
}

interface Counter {
  used: number;
  /** Milliseconds: the count starts anew. */
  resetsAt: number;
}

/**
 * The sends of today per account. They are counted in the table once and then in memory: between counting there and
 * storing, another request would find the same room.
 */
export function createQuotas(store: Store, config: Pick<Config, "plans">, counts: SendCounts): Quotas {
  const counters = new Map<string, Counter>();

  async function counterOf(accountId: string): Promise<Counter> {
    const known = counters.get(accountId);
    if (known !== undefined && known.resetsAt > store.now()) return known;
    const counted = { used: await counts.ofToday(accountId), resetsAt: endOfDay(store.now()) };
    // Somebody may have counted at the same time, and taken something since.
    const meanwhile = counters.get(accountId);
    if (meanwhile !== undefined && meanwhile.resetsAt > store.now()) return meanwhile;
    counters.set(accountId, counted);
    return counted;
  }

  return {
    async take(accountId, wanted) {
      const limit = await dailyLimit(store, config, accountId);
      if (limit === null) {
        // What is sent without a limit is not counted here: a limit that comes back counts in the table again.
        counters.delete(accountId);
        return null;
      }
      const counter = await counterOf(accountId);
      const remaining = (): number => Math.max(0, limit - counter.used);
      if (wanted > remaining()) throw exceeded(limit, remaining(), counter.resetsAt - store.now());
      counter.used += wanted;
      return {
        limit,
        remaining,
        giveBack(count) {
          counter.used -= count;
        },
        // It is taken already.
        storing: () => [],
        takingBack: () => [],
        explain: async (error) => error,
      };
    },
  };
}

/** The refusal of so many sends. @param left of the day's */
export function exceeded(limit: number, left: number, resetsInMs: number): GatewayError {
  return new GatewayError(
    "QUOTA_EXCEEDED",
    `The plan allows ${counted(limit, "message")} a day; ${left} ${left === 1 ? "is" : "are"} left.`,
    {
      retryAfter: resetsInMs / 1000,
      headers: { "x-quota-limit": String(limit), "x-quota-remaining": String(left) },
    },
  );
}
