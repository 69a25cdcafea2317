import { outbox } from "../../../drizzle/schema.ts";
import { defineQuery, integer } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { BURST } from "./holdups/pace.ts";

/** What may have been in flight when the last run ended: it may have left, and nobody has written it down. */
const MOST_IN_FLIGHT = 8;
/** Enough of a queue to find those among them. */
const ROWS_LOOKED_AT = 500;

const ATTEMPT = { deviceId: outbox.deviceId, at: integer() };
/** Of the last seconds: the index by time finds those of all numbers, and they are few. */
const LEFT_OF = defineQuery(
  "SELECT device_id, sent_at AS at FROM outbox WHERE is_reply = 0 AND sent_at > ? AND +device_id = ? LIMIT 1000",
  ATTEMPT,
);
const WAITING_OF = defineQuery(
  `SELECT coalesce(sum(is_reply = 0), 0) AS waiting FROM (
SELECT is_reply FROM outbox WHERE device_id = ? AND state = 'queued' ORDER BY id LIMIT ${ROWS_LOOKED_AT})`,
  { waiting: integer() },
);
const LEFT = defineQuery(
  "SELECT device_id, sent_at AS at FROM outbox WHERE is_reply = 0 AND sent_at > ? LIMIT 20000",
  ATTEMPT,
);
const REFUSED = defineQuery(
  `SELECT device_id, ended_at AS at FROM outbox
WHERE is_reply = 0 AND attempts > 0 AND state = 'failed' AND ended_at > ? LIMIT 20000`,
  ATTEMPT,
);
/** A row for each number, of which there are few. */
const WAITING = defineQuery(
  `SELECT d.id AS device_id, (SELECT coalesce(sum(is_reply = 0), 0) FROM (
SELECT is_reply FROM outbox WHERE device_id = d.id AND state = 'queued' ORDER BY id LIMIT ${ROWS_LOOKED_AT})) AS waiting
FROM devices d`,
  { deviceId: outbox.deviceId, waiting: integer() },
);

/**
 * When proactive messages left lately: without that, a gateway that restarts in a circle would send a burst each time.
 *
 * @returns times per number, oldest first, as `createPace` takes them
 */
export async function recentlyLeft(
  store: Pick<Store, "read" | "now">,
  perMinute: number,
): Promise<Map<number, number[]>> {
  const times = new Map<number, number[]>();
  if (perMinute === 0) return times;
  const now = store.now();
  const add = (deviceId: number, ...at: number[]): void =>
    void times.set(deviceId, [...(times.get(deviceId) ?? []), ...at]);
  // What a full bucket takes to fill: the pace itself keeps these few.
  const since = now - (BURST * 60_000) / perMinute;
  const left = [...(await store.read(LEFT, [since])), ...(await store.read(REFUSED, [since]))];
  for (const { deviceId, at } of left.toSorted((a, b) => a.at - b.at)) add(deviceId, Math.min(now, at));
  for (const { deviceId, waiting } of await store.read(WAITING))
    add(deviceId, ...Array(Math.min(MOST_IN_FLIGHT, waiting)).fill(now));
  return times;
}

/** The same of one number that another process had: whatever that one has begun may have left. */
export async function recentlyLeftBy(
  store: Pick<Store, "read" | "readOne" | "now">,
  perMinute: number,
  deviceId: number,
): Promise<number[]> {
  if (perMinute === 0) return [];
  const now = store.now();
  const left = await store.read(LEFT_OF, [now - (BURST * 60_000) / perMinute, deviceId]);
  const { waiting } = (await store.readOne(WAITING_OF, [deviceId]))!;
  const times = left.map(({ at }) => Math.min(now, at)).toSorted((a, b) => a - b);
  return [...times, ...Array<number>(Math.min(MOST_IN_FLIGHT, waiting)).fill(now)];
}
