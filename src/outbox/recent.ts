import type { Store } from "../store/store.ts";
import { BURST } from "./pace.ts";

/** Enough for the time of a burst, and read in milliseconds. */
const ROWS_LOOKED_AT = 20_000;
/** What may have been under way when the last run ended: it may have left, and nobody has written it down. */
const MOST_IN_FLIGHT = 8;

const LEFT = `SELECT o.device_id, min(h.at) AS at
FROM (SELECT outbox_id, state, at FROM outbox_history ORDER BY rowid DESC LIMIT ${ROWS_LOOKED_AT}) h
JOIN outbox o ON o.id = h.outbox_id
WHERE h.at > ? AND o.is_reply = 0 AND h.state <> 'expired' AND (h.state <> 'failed' OR o.attempts > 0)
GROUP BY o.id ORDER BY at`;
const WAITING = `SELECT device_id, count(*) AS waiting FROM outbox WHERE state = 'queued' AND is_reply = 0
GROUP BY device_id`;

/**
 * When messages that answer nobody left lately: without that, a gateway that restarts in a circle would send a burst each
 * time.
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
  const left = await store.rows(LEFT, [now - (BURST * 60_000) / perMinute]);
  for (const row of left) add(Number(row.device_id), Math.min(now, Number(row.at)));
  for (const row of await store.rows(WAITING, []))
    add(Number(row.device_id), ...Array(Math.min(MOST_IN_FLIGHT, Number(row.waiting))).fill(now));
  return times;
}
