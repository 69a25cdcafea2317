import { giveWay } from "../model/give-way.ts";
import { DAY_MS, MINUTE_MS } from "../model/time.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { createLru } from "../model/lru.ts";

/** How many sends by REST an account has made since midnight UTC. */
export interface SendCounts {
  /** Answers of bots and webhooks are not counted. */
  ofToday(accountId: string): Promise<number>;
  /** Those of them whose time is long past, so that no more come; `until` (Unix milliseconds) is where they end. */
  settled(accountId: string): Promise<{ sends: number; until: number }>;
}

/** A day may hold millions of sends: they are counted in slices, and each slice once. */
const SLICE_MS = 10 * MINUTE_MS;
/** A row may be stored a while after the time that it carries. */
const SETTLED_MS = MINUTE_MS;
/** The same where the clocks of nodes differ. */
export const SETTLED_BETWEEN_NODES_MS = 30 * MINUTE_MS;
const MAX_ACCOUNTS = 10_000;

const SENDS = defineQuery(
  `SELECT count(*) AS sends FROM devices d JOIN outbox o ON o.device_id = d.id
  WHERE d.account_id = ? AND o.origin = 'api' AND o.created_at >= ? AND o.created_at < ?`,
  { sends: integer() },
);

/** What has been counted: `sends` from the beginning of the day to `until`, both Unix milliseconds. */
interface Counted {
  day: number;
  until: number;
  sends: number;
}

/** Counts in the table; what is long past is remembered, so that asking again counts some minutes and no more. */
export function createSendCounts(store: Pick<Store, "readOne" | "now">, settledMs = SETTLED_MS): SendCounts {
  const counted = createLru<string, Counted>(MAX_ACCOUNTS);

  const between = async (accountId: string, from: number, to: number): Promise<number> =>
    (await store.readOne(SENDS, [accountId, from, to]))!.sends;

  async function settled(accountId: string): Promise<Counted> {
    const now = store.now();
    const day = startOfDay(now);
    const known = counted.get(accountId);
    // Also after the clock was set back.
    const isKnown = known?.day === day && known.until <= now;
    let { until, sends }: Counted = isKnown ? known : { day, until: day, sends: 0 };
    for (; until + SLICE_MS <= now - settledMs; until += SLICE_MS) {
      sends += await between(accountId, until, until + SLICE_MS);
      counted.set(accountId, { day, until: until + SLICE_MS, sends });
      await giveWay();
    }
    return { day, until, sends };
  }

  return {
    settled,
    async ofToday(accountId) {
      const { sends, until } = await settled(accountId);
      return sends + (await between(accountId, until, Number.MAX_SAFE_INTEGER));
    },
  };
}

/** Milliseconds: when the next day of UTC begins. */
export const endOfDay = (now: number): number => startOfDay(now) + DAY_MS;

const startOfDay = (now: number): number => now - (now % DAY_MS);
