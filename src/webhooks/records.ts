import { deliveries, deliveryAttempts, devices } from "../../drizzle/schema.ts";
import { MOST_COUNTED, nextOf, noPlace, readPlace, TOP, totalOf, type Place } from "../model/page.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { answerOf, deliveryUrl, type DeliveryReply, type DeliveryState } from "./rows.ts";

/** A delivery as `GET /deliveries` shows it. Times are Unix milliseconds. */
export interface DeliveryRecord {
  /** The `webhook-id`. */
  id: string;
  /** Digits of the number. */
  device: string;
  /** Id of the listener that it is for; null: the webhook. */
  listener: string | null;
  /** The event's `id`. */
  messageId: string;
  type: string;
  url: string;
  state: DeliveryState;
  /** The last of them, oldest first. */
  attempts: {
    at: number;
    statusCode: number | null;
    durationMs: number;
    error: string | null;
    /** At most 4 KiB. */
    answer: string | null;
  }[];
  nextAt: number | null;
  reply: DeliveryReply | null;
}

/** Which deliveries are wanted; those newest first. */
export interface DeliveryFilter {
  /** Device records whose deliveries may be seen. */
  deviceIds: number[];
  state?: DeliveryState;
  /** The event's `id`. */
  messageId?: string;
  limit: number;
  /** `next` of the page before, id of a delivery, or an ISO time: only older ones. */
  before?: string;
}

/** One page of deliveries. */
export interface DeliveryPage {
  /** What the filter matches, without `limit` and `before`; null when it is more than is worth counting. */
  total: number | null;
  /** `before` of the next page; null at the end. */
  next: string | null;
  /** Newest first. */
  deliveries: DeliveryRecord[];
}

/** What was posted where, and what came of it. */
export interface Deliveries {
  /** @throws {GatewayError} INVALID_PARAMETERS when `before` is none of what it may be */
  list(filter: DeliveryFilter): Promise<DeliveryPage>;
  /** Null when the account has no such delivery. */
  find(accountId: string, id: string): Promise<DeliveryRecord | null>;
}

/** The schedule has ten; whoever asks for replays without end is told of the last, all the same for each delivery of a page. */
export const ATTEMPTS_SHOWN = 20;

type Row = Omit<DeliveryRecord, "attempts" | "url" | "listener"> & { url: Buffer | string; listener: string };

const PLACE = { at: deliveries.createdAt, row: integer() };
const NEWEST_FIRST = "ORDER BY d.created_at DESC, d.rowid DESC";

/** Where the rows of a page stand, and how many there are. */
// A message has a few deliveries: by its index alone they are found, whatever their state.
const FILTERS = {
  all: filter("", 2),
  state: filter("AND state = ?2", 3),
  message: filter("AND message_id = ?2", 3),
  messageInState: filter("AND message_id = ?2 AND +state = ?3", 4),
};

const SELECT = `SELECT d.id, v.number AS device, d.listener, d.message_id, d.type, d.url, d.state, d.next_at, d.reply
  FROM deliveries d JOIN devices v ON v.id = d.device_id`;
const SHAPE = {
  id: deliveries.id,
  device: devices.number,
  listener: deliveries.listener,
  messageId: deliveries.messageId,
  type: deliveries.type,
  url: deliveries.url,
  state: deliveries.state,
  nextAt: deliveries.nextAt,
  reply: deliveries.reply,
};
const ROWS = defineQuery(
  `${SELECT} WHERE d.rowid IN (SELECT value FROM json_each(?)) ${NEWEST_FIRST}`,
  SHAPE,
);
const FIND = defineQuery(`${SELECT} WHERE d.id = ? AND v.account_id = ?`, SHAPE);
const PLACE_OF = defineQuery(
  `SELECT d.created_at AS at, d.rowid AS row FROM deliveries d
    WHERE d.id = ? AND d.device_id IN (SELECT value FROM json_each(?))`,
  PLACE,
);
const ATTEMPTS = defineQuery(
  `SELECT a.delivery_id, a.attempt, a.at, a.status_code, a.duration_ms, a.error, a.answer
    FROM json_each(?) n CROSS JOIN delivery_attempts a WHERE a.delivery_id = n.value AND a.attempt >
      (SELECT max(attempt) FROM delivery_attempts WHERE delivery_id = n.value) - ${ATTEMPTS_SHOWN}
    ORDER BY a.delivery_id, a.attempt`,
  {
    deliveryId: deliveryAttempts.deliveryId,
    attempt: deliveryAttempts.attempt,
    at: deliveryAttempts.at,
    statusCode: deliveryAttempts.statusCode,
    durationMs: deliveryAttempts.durationMs,
    error: deliveryAttempts.error,
    answer: deliveryAttempts.answer,
  },
);

/** The record of what was delivered, for `GET /deliveries`. */
export function createDeliveries(store: Pick<Store, "read" | "readOne" | "box">): Deliveries {
  async function placeOf(before: string | undefined, deviceIds: string): Promise<Place> {
    if (before === undefined) return TOP;
    const place = (await store.readOne(PLACE_OF, [before, deviceIds])) ?? readPlace(before);
    if (place !== null) return place;
    throw noPlace();
  }

  async function withAttempts(rows: Row[]): Promise<DeliveryRecord[]> {
    const found = await store.read(ATTEMPTS, [JSON.stringify(rows.map(({ id }) => id))]);
    const attemptsOf = (id: string): DeliveryRecord["attempts"] =>
      found
        .filter(({ deliveryId }) => deliveryId === id)
        .map(({ deliveryId, attempt, answer, ...made }) => ({
          ...made,
          answer: answer && answerOf(store.box, deliveryId, attempt, answer),
        }));
    return rows.map((row) => ({
      ...row,
      listener: row.listener || null,
      url: deliveryUrl(store.box, row.id, row.url),
      attempts: attemptsOf(row.id),
    }));
  }

  return {
    async list({ deviceIds, state, messageId, limit, before }) {
      const seen = JSON.stringify(deviceIds);
      const args = [
        seen,
        ...(messageId === undefined ? [] : [messageId]),
        ...(state === undefined ? [] : [state]),
      ];
      const ofAll = state === undefined ? FILTERS.all : FILTERS.state;
      const ofMessage = state === undefined ? FILTERS.message : FILTERS.messageInState;
      const { places, count } = messageId === undefined ? ofAll : ofMessage;
      const from = await placeOf(before, seen);
      const found = await store.read(places, [...args, from.at, from.row, limit + 1]);
      const rows = await store.read(ROWS, [JSON.stringify(found.slice(0, limit).map(({ row }) => row))]);
      const counted = await store.readOne(count, args);
      return {
        total: totalOf(counted!.n),
        next: nextOf(found, limit),
        deliveries: await withAttempts(rows),
      };
    },

    async find(accountId, id) {
      const [record] = await withAttempts(await store.read(FIND, [id, accountId]));
      return record ?? null;
    },
  };
}

/**
 * Each number by itself: to sort the rows of several, all that they have would be read.
 *
 * @param page number of the argument from which on it is said what the rows are older than, and how many are wanted
 */
function filter(matching: string, page: number) {
  const each = `FROM json_each(?1) n CROSS JOIN deliveries d WHERE`;
  const places = `SELECT d.created_at AS at, d.rowid AS row ${each} d.rowid IN (SELECT rowid FROM deliveries
    WHERE device_id = n.value ${matching} AND (created_at, rowid) < (?${page}, ?${page + 1})
    ORDER BY created_at DESC, rowid DESC LIMIT ?${page + 2}) ${NEWEST_FIRST} LIMIT ?${page + 2}`;
  const counted = `SELECT count(*) AS n FROM
    (SELECT 1 ${each} d.device_id = n.value ${matching} LIMIT ${MOST_COUNTED + 1})`;
  return { places: defineQuery(places, PLACE), count: defineQuery(counted, { n: integer() }) };
}
