import { deliveries } from "../../../drizzle/schema.ts";
import { boolean, defineQuery, integer, text } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { Target } from "../receiver.ts";
import { DELIVERY_COLUMNS, type Delivery, type DeliveryRow } from "../rows.ts";
import { isBehindOthers, WAITING } from "./waiting.ts";

// All of it is answered by the indexes `deliveries_waiting` and `deliveries_waiting_chat`: what is held behind another of
// its chat has no time, so that thousands of rows that wait are a few that may go.
const COLUMNS =
  "id, device_id, listener, inbox_id, message_id, chat, type, attempts, may_reply, created_at, next_at, reply, body";
const OF_TARGET = `device_id = ?1 and listener = ?2 and ${WAITING}`;
/** Rows that a look goes through: what lies behind so many that cannot go yet comes after them. */
const WINDOW = 500;
/** The oldest of each chat that is not busy: of those with one time, as when many are replayed at once, the one stored first. */
const due = (tried: string) =>
  defineQuery(
    `select ${COLUMNS} from deliveries where rowid in (select cast(substr(first, 18) as integer) from
      (select min(printf('%016d %016d', next_at, row)) as first from
        (select rowid as row, chat, next_at from deliveries
          where ${OF_TARGET} and next_at <= ?4 ${tried} order by next_at limit ${WINDOW})
        where chat not in (select value from json_each(?3)) group by chat)
      order by first limit ?5) order by next_at, rowid`,
    DELIVERY_COLUMNS,
  );
const DUE = due("");
const FIRST_RETRIES = due("and attempts = 1");
const NEXT = defineQuery(
  `select next_at as at from deliveries where ${OF_TARGET} and next_at > ?3 order by next_at limit 1`,
  { at: integer() },
);
// Of the chat whose turn would be first, the oldest: those that were tried have times of their own, in no order.
const FIRST = defineQuery(
  `select ${COLUMNS} from deliveries indexed by deliveries_waiting_chat
    where ${OF_TARGET} and chat = (select chat from deliveries indexed by deliveries_waiting
      where ${OF_TARGET} and next_at > 0 order by next_at limit 1)
    and next_at is not null order by created_at limit 1`,
  DELIVERY_COLUMNS,
);
const ANOTHER_WAITS = defineQuery(
  `select ${isBehindOthers({ id: "?4", deviceId: "?1", listener: "?2", chat: "?3", now: "?5" })} as found`,
  { found: boolean() },
);
// Those that are held come first.
const BEHIND = defineQuery(`select next_at from deliveries where ${OF_TARGET} order by next_at limit 1`, {
  nextAt: deliveries.nextAt,
});
// The index is named: the planner would rather read all that waits.
const NEXT_NUMBER = `select device_id from deliveries indexed by deliveries_waiting where ${WAITING}`;
const NUMBERS = defineQuery(
  `with recursive numbers (id) as (select (${NEXT_NUMBER} and device_id > 0 order by device_id limit 1)
    union all select (${NEXT_NUMBER} and device_id > numbers.id order by device_id limit 1)
      from numbers where numbers.id is not null)
    select id from numbers where id is not null`,
  { id: integer() },
);

const NEXT_LISTENER = defineQuery(
  `select listener as id from deliveries indexed by deliveries_waiting
    where device_id = ?1 and listener > ?2 and ${WAITING} order by listener limit 1`,
  { id: text() },
);

/** Looks into the table for deliveries that wait. Never more rows than were asked for are in memory. */
export interface DueRows {
  /**
   * The oldest of each chat that may go by a time, at most `most`.
   *
   * @param busy  chats with an attempt in flight: the next of a chat comes after it
   * @param until Unix milliseconds
   * @param which `first-retries`: only what was tried once
   */
  due(
    target: Target,
    busy: string[],
    until: number,
    most: number,
    which: "all" | "first-retries",
  ): Promise<DeliveryRow[]>;
  /** When the next one may go that may not go yet, Unix milliseconds; null when there is none. */
  nextAt(target: Target, now: number): Promise<number | null>;
  /** What a closed breaker would let go first. */
  firstOf(target: Target): Promise<DeliveryRow | null>;
  /** Whether an event of a message of its chat is to go out before it. The table is asked: no memory knows what other runs left. */
  anotherWaits(
    delivery: Pick<Delivery, "id" | "deviceId" | "listener" | "chat" | "createdAt">,
  ): Promise<boolean>;
  /** Whether something is held, or may go now. */
  isBehind(target: Target, now: number): Promise<boolean>;
  /** Listeners of a number for which anything waits, those that were deleted among them. */
  listeners(deviceId: number): Promise<string[]>;
  /** Numbers for which anything waits. */
  numbers(): Promise<number[]>;
}

/** Reads the table each time: nothing of what waits is kept in memory. */
export function createDueRows({ read, readOne }: Pick<Store, "read" | "readOne">): DueRows {
  return {
    due: ({ deviceId, listener }, busy, until, most, which) =>
      read(which === "all" ? DUE : FIRST_RETRIES, [deviceId, listener, JSON.stringify(busy), until, most]),
    nextAt: async ({ deviceId, listener }, now) =>
      (await readOne(NEXT, [deviceId, listener, now]))?.at ?? null,
    firstOf: ({ deviceId, listener }) => readOne(FIRST, [deviceId, listener]),
    anotherWaits: async ({ id, deviceId, listener, chat, createdAt }) =>
      (await readOne(ANOTHER_WAITS, [deviceId, listener, chat, id, createdAt]))!.found,
    async listeners(deviceId) {
      const found: string[] = [];
      for (let after = ""; ;) {
        const next = await readOne(NEXT_LISTENER, [deviceId, after]);
        if (next === null) return found;
        found.push((after = next.id));
      }
    },
    async isBehind({ deviceId, listener }, now) {
      const first = await readOne(BEHIND, [deviceId, listener]);
      return first !== null && (first.nextAt === null || first.nextAt <= now);
    },
    numbers: async () => (await read(NUMBERS)).map(({ id }) => id),
  };
}
