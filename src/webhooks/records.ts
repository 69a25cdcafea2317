import type { Row } from "@libsql/client";
import { GatewayError } from "../model/errors.ts";
import type { Store } from "../store/store.ts";
import { answerOf, replyOf, type DeliveryReply, type DeliveryState } from "./rows.ts";

/** A delivery as `GET /deliveries` shows it. Times are Unix milliseconds. */
export interface DeliveryRecord {
  /** The `webhook-id`. */
  id: string;
  /** Digits of the number. */
  device: string;
  /** The event's `id`. */
  messageId: string;
  type: string;
  url: string;
  state: DeliveryState;
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

export interface DeliveryFilter {
  /** Device records whose deliveries may be seen. */
  deviceIds: number[];
  state?: DeliveryState;
  limit: number;
  /** Id of a delivery, or an ISO time: only older ones. */
  before?: string;
}

export interface Deliveries {
  /**
   * Newest first. `total` counts what the filter matches, without `limit` and `before`.
   * @throws {GatewayError} INVALID_PARAMETERS when `before` is neither a delivery's id nor a time
   */
  list(filter: DeliveryFilter): Promise<{ total: number; deliveries: DeliveryRecord[] }>;
  find(accountId: string, id: string): Promise<DeliveryRecord | null>;
}

const SELECT = `select d.id, d.message_id, d.type, d.url, d.state, d.next_at, d.reply, v.number, v.id as device_id
  from deliveries d join devices v on v.id = d.device_id`;
const MATCHES = `d.device_id in (select value from json_each(?)) and (? is null or d.state = ?)`;
// The row id settles which of two in the same millisecond is the older one.
const NEWEST_FIRST = "order by d.created_at desc, d.rowid desc";

export function createDeliveries(store: Store): Deliveries {
  async function list(filter: DeliveryFilter): Promise<{ total: number; deliveries: DeliveryRecord[] }> {
    const { deviceIds, state = null, limit, before } = filter;
    const wanted = [JSON.stringify(deviceIds), state, state];
    const [count] = await store.rows(`select count(*) as n from deliveries d where ${MATCHES}`, wanted);
    const [at, rowid] =
      before === undefined ? [Number.MAX_SAFE_INTEGER, 0] : await positionOf(before, deviceIds);
    const rows = await store.rows(
      `${SELECT} where ${MATCHES} and (d.created_at, d.rowid) < (?, ?) ${NEWEST_FIRST} limit ?`,
      [...wanted, at, rowid, limit],
    );
    return { total: Number(count?.n ?? 0), deliveries: await withAttempts(rows) };
  }

  async function positionOf(before: string, deviceIds: number[]): Promise<[at: number, rowid: number]> {
    const sql = `select d.created_at, d.rowid as position from deliveries d
      where d.id = ? and d.device_id in (select value from json_each(?))`;
    const [row] = await store.rows(sql, [before, JSON.stringify(deviceIds)]);
    if (row) return [Number(row.created_at), Number(row.position)];
    const time = /^\d{4}-\d{2}-\d{2}/.test(before) ? Date.parse(before) : Number.NaN;
    if (!Number.isNaN(time)) return [time, 0];
    const fields = { before: ["Give the id of a delivery, or an ISO 8601 time."] };
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields });
  }

  async function rowOf(accountId: string, id: string): Promise<Row | null> {
    const [row] = await store.rows(`${SELECT} where d.id = ? and v.account_id = ?`, [id, accountId]);
    return row ?? null;
  }

  async function withAttempts(rows: Row[]): Promise<DeliveryRecord[]> {
    const ids = rows.map((row) => String(row.id));
    const attempts = await store.rows(
      `select * from delivery_attempts where delivery_id in (select value from json_each(?)) order by attempt`,
      [JSON.stringify(ids)],
    );
    return rows.map((row) =>
      recordOf(
        row,
        attempts.filter((attempt) => attempt.delivery_id === row.id),
      ),
    );
  }

  function recordOf(row: Row, attempts: Row[]): DeliveryRecord {
    const id = String(row.id);
    return {
      id,
      device: String(row.number),
      messageId: String(row.message_id),
      type: String(row.type),
      url: String(row.url),
      state: row.state as DeliveryState,
      attempts: attempts.map((attempt) => ({
        at: Number(attempt.at),
        statusCode: attempt.status_code === null ? null : Number(attempt.status_code),
        durationMs: Number(attempt.duration_ms),
        error: attempt.error === null ? null : String(attempt.error),
        answer: answerOf(store.box, id, Number(attempt.attempt), attempt.answer),
      })),
      nextAt: row.next_at === null ? null : Number(row.next_at),
      reply: replyOf(row.reply),
    };
  }

  async function find(accountId: string, id: string): Promise<DeliveryRecord | null> {
    const row = await rowOf(accountId, id);
    return row && ((await withAttempts([row]))[0] ?? null);
  }

  return { list, find };
}
