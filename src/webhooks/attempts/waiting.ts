import { giveWay } from "../../model/give-way.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { Target } from "../receiver.ts";

/** Deliveries that wait for an attempt. As the partial indexes of the table say it. */
export const WAITING = "state in ('pending', 'retrying')";
/** The second attempt comes this much after the first at the latest, Retry-After aside: 5 s + 20 %. */
const LATEST_SECOND_ATTEMPT_MS = 6_000;
/** Waiting rows of a chat that are looked at, the newest: what has waited behind so many keeps times of its own. */
const LOOKED_AT = 100;

/**
 * SQL: whether an event is to wait for another one of its chat, for the same receiver. It waits for one that is held, whose time has come, or whose first
 * attempt got no answer, so that the second follows at once. It does not wait for one that was refused, which keeps its own times,
 * nor for what tells of states (those have no inbox row).
 *
 * @param own places of the event's values in the arguments, such as `?1`; `now` in Unix milliseconds
 */
export const isBehindOthers = (
  own: Record<"id" | "deviceId" | "listener" | "chat" | "now", string>,
): string =>
  `exists (select 1 from deliveries older where older.rowid in
    (select rowid from deliveries indexed by deliveries_waiting_chat
      where device_id = ${own.deviceId} and listener = ${own.listener} and chat = ${own.chat} and ${WAITING} order by created_at desc limit ${LOOKED_AT})
    and older.id <> ${own.id} and older.inbox_id > 0 and (older.next_at is null or older.next_at <= ${own.now}
      or (older.attempts = 1 and older.next_at <= ${own.now} + ${LATEST_SECOND_ATTEMPT_MS} and exists (select 1
        from delivery_attempts a where a.delivery_id = older.id and a.attempt = 1 and a.status_code is null))))`;

/** Attempts that are kept for their own times: a webhook that comes and goes must not use them all up at once. */
export const ATTEMPTS_BEFORE_TIME = 5;
/** Rows that one commit changes: messages do not wait for it. */
const ROWS_AT_ONCE = 200;
/** Given to the writer together, which makes them one wait for the disk. */
const STEPS_AT_ONCE = 5;

const RELEASE = `update deliveries set next_at = min(created_at, ?1) where rowid = (select rowid from deliveries
  where device_id = ?2 and listener = ?3 and chat = ?4 and ${WAITING} and next_at is null
  order by created_at, rowid limit 1)`;

/** The oldest of a chat that is held may go: the one before it has ended, or goes its own way. */
export function releaseNext({ deviceId, listener, chat }: Target & { chat: string }, now: number): Statement {
  return { sql: RELEASE, args: [now, deviceId, listener, chat] };
}

/** Whether an attempt that failed lets the next of its chat go: who keeps its own times holds nobody up. */
export const mayBeOvertaken = (attempts: number): boolean => attempts > ATTEMPTS_BEFORE_TIME;

const END_WAITING = `update deliveries set state = 'disabled', next_at = null where rowid in (select rowid from deliveries
  where device_id = ? and listener = ? and ${WAITING} and created_at <= ? limit ${ROWS_AT_ONCE})`;

/**
 * Ends what waits for a further attempt, `ROWS_AT_ONCE` of it: the receiver was deleted or switched off.
 *
 * @param until Unix milliseconds: what came later is not meant
 */
export function endWaiting({ deviceId, listener }: Target, until: number): Statement {
  return { sql: END_WAITING, args: [deviceId, listener, until] };
}

/** What has had its time for no longer may not have been begun yet: whoever looks at a number comes a little later. */
const UNBEGUN_MS = 10_000;
const CATCH_UP = `update deliveries set next_at = min(created_at, ?1) where rowid in (select rowid from deliveries
  where device_id = ?2 and listener = ?3 and ${WAITING} and next_at > ?1 - ${UNBEGUN_MS} and next_at > created_at
    and attempts <= ${ATTEMPTS_BEFORE_TIME} limit ${ROWS_AT_ONCE})`;

/**
 * What waits for a later time of its own goes out now, in the order in which it came, `ROWS_AT_ONCE` of it: its receiver is
 * back.
 *
 * @param now Unix milliseconds
 */
export function catchUp({ deviceId, listener }: Target, now: number): Statement {
  return { sql: CATCH_UP, args: [now, deviceId, listener] };
}

/**
 * Runs a statement that changes `ROWS_AT_ONCE` rows until it finds no more, and lets everybody else in between.
 *
 * @throws StorageUnavailable; done again, it goes on where it was
 */
export async function inSteps({ writer }: Pick<Store, "writer">, step: () => Statement): Promise<void> {
  for (let steps = 1; ; steps = STEPS_AT_ONCE) {
    const made = await Promise.all(Array.from({ length: steps }, () => writer.commit([step()])));
    if (made.some(([result]) => (result?.rowsAffected ?? 0) < ROWS_AT_ONCE)) return;
    await giveWay();
  }
}
