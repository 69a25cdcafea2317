import type { Store } from "../store/store.ts";
import { BURST } from "./pace.ts";

/** What may have been in flight when the last run ended: it may have left, and nobody has written it down. */
const MOST_IN_FLIGHT = 8;
/** Enough of a queue to find those among them. */
const ROWS_LOOKED_AT = 500;

const LEFT = "SELECT device_id, sent_at AS at FROM outbox WHERE is_reply = 0 AND sent_at > ? LIMIT 20000";
const REFUSED = `SELECT device_id, ended_at AS at FROM outbox
WHERE is_reply = 0 AND attempts > 0 AND state = 'failed' AND ended_at > ? LIMIT 20000`;
/** A row for each number, of which there are few. */
const WAITING = `SELECT d.id AS device_id, (SELECT coalesce(sum(is_reply = 0), 0) FROM (
SELECT is_reply FROM outbox WHERE device_id = d.id AND state = 'queued' ORDER BY id LIMIT ${ROWS_LOOKED_AT})) AS waiting
FROM devices d`;

/**
 * When proactive messages left lately: without that, a gateway that restarts in a circle would send a burst each time.
 *
 * @returns times per number, oldest first, as `createPace` takes them
 */
export async function recentlyLeft(
  store: Pick<Store, "rows" | "now">,
  perMinute: number,
): Promise<Map<number, number[]>> {
  const times = new Map<number, number[]>();
  if (perMinute === 0) return times;
  const now = store.now();
  const add = (deviceId: number, ...at: number[]): void =>
    void times.set(deviceId, [...(times.get(deviceId) ?? []), ...at]);
  // What a full bucket takes to fill: the pace itself keeps these few.
  const since = now - (BURST * 60_000) / perMinute;
  const left = [...(await store.rows(LEFT, [since])), ...(await store.rows(REFUSED, [since]))];
  for (const row of left.toSorted((a, b) => Number(a.at) - Number(b.at)))
    add(Number(row.device_id), Math.min(now, Number(row.at)));
  for (const row of await store.rows(WAITING, []))
    add(Number(row.device_id), ...Array(Math.min(MOST_IN_FLIGHT, Number(row.waiting))).fill(now));
  return times;
}
