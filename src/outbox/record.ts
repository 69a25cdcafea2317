import { devices, outbox, outboxHistory } from "../../drizzle/schema.ts";
import { ENDED_STATES, SENT_STATES, type SentState } from "../model/messages.ts";
import { defineQuery, json, nullable, text } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { SendError } from "./rows.ts";

/** A sent message as `GET /messages/{id}` tells of it. Times are milliseconds. */
export interface MessageRecord {
  id: string;
  /** Number that sends it, digits. */
  sender: string;
  /** Destination as `results[].number` showed it. */
  number: string;
  kind: string;
  /** What made it: `api`, `bot:<id>` or `webhook`. */
  origin: string;
  state: SentState;
  history: { state: SentState; at: number }[];
  /** When it is, or was, to be queued; null: at once. */
  sendAt: number | null;
  error: SendError | null;
}

const FIND = defineQuery(
  `SELECT o.id AS rowId, o.wa_id AS id, o.number, o.kind, o.origin, o.state, o.error, d.number AS sender,
o.created_at, o.sent_at, o.delivered_at, o.read_at, o.played_at, o.ended_at, o.send_at, o.scheduled_at
FROM devices d JOIN outbox o ON o.device_id = d.id AND o.wa_id = ? WHERE d.account_id = ? LIMIT 1`,
  {
    rowId: outbox.id,
    id: outbox.waId,
    sender: devices.number,
    number: outbox.number,
    kind: outbox.kind,
    origin: outbox.origin,
    state: text<SentState>(),
    error: nullable(json<SendError>()),
    createdAt: outbox.createdAt,
    sentAt: outbox.sentAt,
    deliveredAt: outbox.deliveredAt,
    readAt: outbox.readAt,
    playedAt: outbox.playedAt,
    endedAt: outbox.endedAt,
    sendAt: outbox.sendAt,
    scheduledAt: outbox.scheduledAt,
  },
);
/** What version 0.1 wrote down, at most one row for each state. */
const OLD_HISTORY = defineQuery("SELECT state, at FROM outbox_history WHERE outbox_id = ?", {
  state: outboxHistory.state,
  at: outboxHistory.at,
});

/** @returns null when the account has no message of this id */
export async function findMessage(
  store: Store,
  accountId: string,
  waId: string,
): Promise<MessageRecord | null> {
  const row = await store.readOne(FIND, [waId, accountId]);
  if (row === null) return null;
  const { id, sender, number, kind, origin, state, sendAt, error } = row;
  const old = await store.read(OLD_HISTORY, [row.rowId]);
  return { id, sender, number, kind, origin, state, history: historyOf(row, old), sendAt, error };
}

/** When a message reached each of its states; null when it never did, or when only the old table knows. */
interface Times {
  state: SentState;
  createdAt: number;
  /** Of one that has waited for its time, and has been queued. */
  scheduledAt: number | null;
  sendAt: number | null;
  sentAt: number | null;
  deliveredAt: number | null;
  readAt: number | null;
  playedAt: number | null;
  endedAt: number | null;
}

/** In the order in which states follow each other; two clocks may have written them, so times only ever go on. */
function historyOf(row: Times, old: { state: string; at: number }[]): MessageRecord["history"] {
  const oldTimes = new Map(old.map(({ state, at }) => [state, at]));
  const { state, sentAt, deliveredAt, readAt, playedAt, endedAt } = row;
  const times: Partial<Record<SentState, number | null>> = {
    sent: sentAt,
    delivered: deliveredAt,
    read: readAt,
    played: playedAt,
    failed: endedAt,
    expired: endedAt,
    cancelled: endedAt,
  };
  const ended = ENDED_STATES.filter((one) => one === state);
  const history = beginningOf(row);
  let latest = history.at(-1)!.at;
  for (const reached of [...SENT_STATES.slice(1), ...ended]) {
    const at = times[reached] ?? oldTimes.get(reached);
    if (at === undefined) continue;
    latest = Math.max(latest, at);
    history.push({ state: reached, at: latest });
  }
  return history;
}

/** It was queued at once, waits for its time, or has waited for it. */
function beginningOf({ scheduledAt, createdAt, sendAt }: Times): MessageRecord["history"] {
  if (sendAt !== null && scheduledAt === null) return [{ state: "scheduled", at: createdAt }];
  const queued = { state: "queued" as const, at: createdAt };
  return scheduledAt === null ? [queued] : [{ state: "scheduled", at: scheduledAt }, queued];
}
