import type { Row } from "@libsql/client";
import type { Store } from "../store/store.ts";
import type { OpenBreakers } from "./breaker.ts";
import type { Delivery } from "./rows.ts";

/** What must not be begun now. */
export interface Busy {
  /** Chats with an attempt under way, as `chatId` names them: the next of a chat comes after it. */
  chats: string[];
  /** Numbers with no slot left. */
  full: number[];
  open: OpenBreakers;
}

// Conditions in the order of their cost. All but the last are answered by the index `deliveries_due` alone, so that
// thousands of rows that wait cost little; the last one matters for a minute after a breaker has opened.
const MAY_GO = `state in ('pending', 'retrying')
  and +device_id not in (select value from json_each(?)) and +device_id not in (select value from json_each(?))
  and device_id || ':' || chat not in (select value from json_each(?))
  and (device_id not in (select cast(key as integer) from json_each(?))
    or (attempts = 1 and next_at <= (select value from json_each(?) where cast(key as integer) = device_id)))`;
const DUE = `select * from deliveries where rowid in
  (select rowid from deliveries where ${MAY_GO} and next_at <= ? order by next_at limit ?) order by next_at, rowid`;
const NEXT = `select min(next_at) as at from deliveries where ${MAY_GO}`;
const FIRST_OF_NUMBER = `select * from deliveries where rowid =
  (select rowid from deliveries where state in ('pending', 'retrying') and +device_id = ? order by next_at limit 1)`;
const ANOTHER_WAITS = `select 1 from deliveries
  where state in ('pending', 'retrying') and next_at <= ? and +device_id = ? and chat = ? and id <> ? limit 1`;
const NUMBERS_DUE = `select distinct device_id from deliveries
  where state in ('pending', 'retrying') and next_at <= ? and +device_id in (select value from json_each(?))`;

export const chatId = (deviceId: number, chat: string): string => `${deviceId}:${chat}`;

/** Looks into the table for deliveries that wait. Never more rows than were asked for are in memory. */
export interface DueRows {
  /** The oldest that may go now, at most `most`. */
  due(busy: Busy, most: number): Promise<Row[]>;
  /** When the next one may go, Unix milliseconds; null when none waits. */
  nextAt(busy: Busy): Promise<number | null>;
  /** What a closed breaker would let go first. */
  firstOf(deviceId: number): Promise<Row | null>;
  /** Whether something else of its chat is to go out before it. */
  anotherWaits(delivery: Pick<Delivery, "id" | "deviceId" | "chat" | "createdAt">): Promise<boolean>;
  /** Which of these numbers have something that may go now. */
  numbersDue(deviceIds: number[]): Promise<number[]>;
}

export function createDueRows({ rows, now }: Pick<Store, "rows" | "now">): DueRows {
  return {
    due: (busy, most) => rows(DUE, [...argsOf(busy), now(), most]),
    async nextAt(busy) {
      const [next] = await rows(NEXT, argsOf(busy));
      return next?.at === null || next?.at === undefined ? null : Number(next.at);
    },
    firstOf: async (deviceId) => (await rows(FIRST_OF_NUMBER, [deviceId]))[0] ?? null,
    anotherWaits: async ({ id, deviceId, chat, createdAt }) =>
      (await rows(ANOTHER_WAITS, [createdAt, deviceId, chat, id])).length > 0,
    async numbersDue(deviceIds) {
      const found = await rows(NUMBERS_DUE, [now(), JSON.stringify(deviceIds)]);
      return found.map((row) => Number(row.device_id));
    },
  };
}

/** Of `MAY_GO`. */
function argsOf({ chats, full, open }: Busy): string[] {
  const { paused, firstRetries } = open;
  return [full, paused, chats, firstRetries, firstRetries].map((value) => JSON.stringify(value));
}
