import { decisions, deliveries, deliveryAttempts, inbox, outbox } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import type { ErrorCode } from "../model/errors/errors.ts";
import type { SentState } from "../model/messages.ts";
import { defineQuery, json, nullable, text } from "../store/query.ts";
import type { Reading } from "../store/store.ts";

/** Numbers that are asked for a message at once: one look into an index each. */
const NUMBERS_AT_ONCE = 500;
/** Replies of one message that are shown. */
const MOST_REPLIES = 50;
const MOST_ATTEMPTS = 30;

const CAME = defineQuery(
  `SELECT i.id, i.device_id, i.wa_id, i.chat, i.sender, i.from_me, i.type, i.state, i.timestamp, i.received_at
  FROM json_each(?1) n CROSS JOIN inbox i WHERE i.device_id = n.value AND i.wa_id = ?2
    AND i.type <> 'timer' AND i.chat <> 'status@broadcast' LIMIT 1`,
  {
    id: inbox.id,
    deviceId: inbox.deviceId,
    waId: inbox.waId,
    chat: inbox.chat,
    sender: inbox.sender,
    fromMe: inbox.fromMe,
    type: inbox.type,
    state: inbox.state,
    timestamp: inbox.timestamp,
    receivedAt: inbox.receivedAt,
  },
);

const SENT_COLUMNS = `o.id, o.device_id, o.wa_id, o.chat, o.number, o.kind, o.origin, o.inbox_id, o.state, o.error,
  o.created_at, o.sent_at, o.delivered_at, o.read_at, o.played_at, o.ended_at`;
const SENT_SHAPE = {
  id: outbox.id,
  deviceId: outbox.deviceId,
  waId: outbox.waId,
  chat: outbox.chat,
  number: outbox.number,
  kind: outbox.kind,
  origin: outbox.origin,
  inboxId: outbox.inboxId,
  state: text<SentState>(),
  error: nullable(json<{ code: ErrorCode; [extra: string]: unknown }>()),
  createdAt: outbox.createdAt,
  sentAt: outbox.sentAt,
  deliveredAt: outbox.deliveredAt,
  readAt: outbox.readAt,
  playedAt: outbox.playedAt,
  endedAt: outbox.endedAt,
};
const WENT = defineQuery(
  `SELECT ${SENT_COLUMNS} FROM json_each(?1) n CROSS JOIN outbox o
  WHERE o.device_id = n.value AND o.wa_id = ?2 LIMIT 1`,
  SENT_SHAPE,
);
const REPLIES = defineQuery(
  `SELECT ${SENT_COLUMNS} FROM json_each(?2) w CROSS JOIN outbox o
  WHERE o.device_id = ?1 AND o.wa_id = w.value ORDER BY o.id LIMIT ${MOST_REPLIES}`,
  SENT_SHAPE,
);
const DECISION = defineQuery(`SELECT "by", route, guard, trail, way, at FROM decisions WHERE inbox_id = ?`, {
  by: decisions.by,
  route: decisions.route,
  guard: decisions.guard,
  trail: decisions.trail,
  way: decisions.way,
  at: decisions.at,
});
const DELIVERY = defineQuery(
  "SELECT id, state, created_at, reply FROM deliveries WHERE id = ? AND device_id = ?",
  { id: deliveries.id, state: deliveries.state, createdAt: deliveries.createdAt, reply: deliveries.reply },
);
const ATTEMPTS = defineQuery(
  `SELECT attempt, at, status_code, duration_ms, error FROM delivery_attempts
  WHERE delivery_id = ? ORDER BY attempt DESC LIMIT ${MOST_ATTEMPTS}`,
  {
    attempt: deliveryAttempts.attempt,
    at: deliveryAttempts.at,
    statusCode: deliveryAttempts.statusCode,
    durationMs: deliveryAttempts.durationMs,
    error: deliveryAttempts.error,
  },
);
const ID_OF = defineQuery("SELECT wa_id FROM inbox WHERE id = ?", { waId: inbox.waId });

/** A message that came, as its row has it. */
export type CameRow = ReturnType<typeof CAME.decode>[number];
/** A message that the gateway sends. */
export type WentRow = ReturnType<typeof WENT.decode>[number];
/** What was decided about a message. */
export type DecisionRow = ReturnType<typeof DECISION.decode>[number];
/** What its webhook was told, with its last attempts, oldest first. */
export type DeliveryRow = ReturnType<typeof DELIVERY.decode>[number] & {
  tried: ReturnType<typeof ATTEMPTS.decode>;
};

/** What rows are named that belong to a message: derived by those who write them. */
export interface DerivedIds {
  /** @param ordinal place among the replies to the message, from 0 */
  replyId(deviceId: number, inboxId: number, ordinal: number): string;
  deliveryId(deviceId: number, inboxId: number): string;
}

/** Reads what is known of one message: a handful of rows, each found by its key. */
export function createTraceRows({ read, readOne }: Pick<Reading, "read" | "readOne">, ids: DerivedIds) {
  return {
    came: (deviceIds: number[], waId: string): Promise<CameRow | null> =>
      ofNumbers(deviceIds, (some) => readOne(CAME, [some, waId])),
    went: (deviceIds: number[], waId: string): Promise<WentRow | null> =>
      ofNumbers(deviceIds, (some) => readOne(WENT, [some, waId])),
    decision: (inboxId: number): Promise<DecisionRow | null> => readOne(DECISION, [inboxId]),
    idOf: async (inboxId: number): Promise<string | null> => (await readOne(ID_OF, [inboxId]))?.waId ?? null,

    async delivery({ deviceId, id }: CameRow): Promise<DeliveryRow | null> {
      const row = await readOne(DELIVERY, [ids.deliveryId(deviceId, id), deviceId]);
      if (row === null) return null;
      return { ...row, tried: (await read(ATTEMPTS, [row.id])).toReversed() };
    },

    /** @param named ids of replies that are known otherwise */
    async replies({ deviceId, id }: CameRow, named: readonly string[]): Promise<WentRow[]> {
      const derived = Array.from({ length: MOST_REPLIES }, (_, place) => ids.replyId(deviceId, id, place));
      return read(REPLIES, [deviceId, JSON.stringify([...new Set([...named, ...derived])])]);
    },
  };
}

/** What many numbers are asked is asked in turns. */
export function* inTurns<T>(numbers: readonly T[]): Generator<T[]> {
  for (let from = 0; from < numbers.length; from += NUMBERS_AT_ONCE)
    yield numbers.slice(from, from + NUMBERS_AT_ONCE);
}

/** The first that is found. */
async function ofNumbers<T>(deviceIds: number[], find: (some: string) => Promise<T | null>) {
  for (const some of inTurns(deviceIds)) {
    const found = await find(JSON.stringify(some));
    if (found !== null) return found;
    await giveWay();
  }
  return null;
}
