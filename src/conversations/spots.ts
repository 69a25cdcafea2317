import { inbox, outbox } from "../../drizzle/schema.ts";
import { newestFirst, type Place } from "../model/page.ts";
import { defineQuery, integer, text, type Query } from "../store/query.ts";
import type { Arguments, Reading } from "../store/store.ts";

/** Where messages come from: others, the owner's phone, and this gateway. */
export const STREAMS = ["in", "typed", "sent"] as const;
/** One of them. */
export type Stream = (typeof STREAMS)[number];

/** Where one message stands in the list of all of them. */
export interface Spot extends Place {
  stream: Stream;
  /** Of the row in its own table; `row` is its number among both tables. */
  id: number;
  deviceId: number;
  /** Canonical key of the chat, as it was when the message was stored. */
  chat: string;
  waId: string;
  /** Of a message that the gateway sends, else "". */
  state: string;
}

/** Which messages are looked through. */
export interface Wanted {
  deviceIds: number[];
  streams: readonly Stream[];
  /** Keys of chats; null: all. */
  chats: string[] | null;
  /** Of sent messages; null: all. */
  state: string | null;
  /** Unix milliseconds; 0: all. */
  since: number;
}

const SHAPE = {
  id: integer(),
  at: integer(),
  deviceId: inbox.deviceId,
  chat: inbox.chat,
  waId: inbox.waId,
  state: text(),
};

// The condition of the partial indexes, word for word: timers of bots and status broadcasts are in no list.
const LISTED = "type <> 'timer' AND chat <> 'status@broadcast'";
/** Each number, and each chat, by itself: to sort the rows of several, all that they have would be read. */
const EACH = { all: "json_each(?1) n", chats: "json_each(?1) n CROSS JOIN json_each(?7) c" };

function received(fromMe: 0 | 1, each: keyof typeof EACH): Query<Omit<Spot, "row" | "stream">> {
  const inChat = each === "chats" ? "AND chat = c.value" : "";
  return defineQuery(
    `SELECT i.id, i.received_at AS at, i.device_id, i.chat, i.wa_id, '' AS state
    FROM ${EACH[each]} CROSS JOIN inbox i WHERE i.id IN (SELECT id FROM inbox
      WHERE device_id = n.value ${inChat} AND from_me = ${fromMe} AND ${LISTED}
      AND received_at >= ?2 AND (received_at, id) < (?3, ?4) ORDER BY received_at DESC, id DESC LIMIT ?5)
    ORDER BY i.received_at DESC, i.id DESC LIMIT ?6`,
    SHAPE,
  );
}

function sent(each: keyof typeof EACH, only: string, from = "outbox", order = "created_at DESC, id DESC") {
  const inChat = each === "chats" ? "AND chat = c.value" : "";
  return defineQuery(
    `SELECT o.id, o.created_at AS at, o.device_id, o.chat, o.wa_id, o.state
    FROM ${EACH[each]} CROSS JOIN outbox o WHERE o.id IN (SELECT id FROM ${from}
      WHERE device_id = n.value ${inChat} ${only}
      AND created_at >= ?2 AND (created_at, id) < (?3, ?4) ORDER BY ${order} LIMIT ?5)
    ORDER BY o.created_at DESC, o.id DESC LIMIT ?6`,
    { ...SHAPE, state: outbox.state },
  );
}

/** A text for each kind of filter, since each has its index. */
const QUERIES = {
  in: { all: received(0, "all"), chats: received(0, "chats") },
  typed: { all: received(1, "all"), chats: received(1, "chats") },
  sent: { all: sent("all", ""), chats: sent("chats", "") },
};
const IN_STATE = sent("all", "AND state = ?7 AND state <> 'queued'");
// By its own index, in the order of which it was queued: there is none by time.
const QUEUED = sent("all", "AND state = 'queued' AND id < ?7", "outbox INDEXED BY outbox_waiting", "id DESC");

/** Rows of the outbox are counted from here on; no table has as many. */
const SENT_FROM = 2 ** 52;

/** Numbers of rows among both tables: of the same millisecond, what was sent is an answer to what came, and newer. */
export const rowOf = (stream: Stream, id: number): number => (stream === "sent" ? SENT_FROM + id : id);

/** @returns the id from which on the rows of a table come no more before that place */
const idBefore = (stream: Stream, row: number): number =>
  stream === "sent" ? Math.max(0, row - SENT_FROM) : Math.min(row, SENT_FROM);

/** What was read of one table and is not taken yet. */
interface Head {
  stream: Stream;
  /** Where the next read goes on. */
  from: Place;
  rows: Spot[];
  ended: boolean;
}

/**
 * The newest messages before a place, merged from their tables, some at a time: each call of what it returns has the next
 * ones, fewer than asked for at the end. One index look-up for each number, chat and table, and as many rows as are
 * missing: what was read of a table and comes later is kept, and no row is read twice.
 */
export function spotsBefore(
  store: Pick<Reading, "read">,
  wanted: Wanted,
  from: Place,
): (count: number) => Promise<Spot[]> {
  const heads: Head[] = wanted.streams.map((stream) => ({ stream, from, rows: [], ended: false }));
  return async (count) => {
    for (const head of heads) await fill(store, wanted, head, count);
    const found = heads
      .flatMap(({ rows }) => rows)
      .toSorted(newestFirst)
      .slice(0, count);
    for (const head of heads)
      head.rows.splice(0, found.filter(({ stream }) => stream === head.stream).length);
    return found;
  };
}

async function fill(store: Pick<Reading, "read">, wanted: Wanted, head: Head, count: number): Promise<void> {
  const missing = count - head.rows.length;
  if (missing <= 0 || head.ended) return;
  const rows = await ofStream(store, wanted, head.stream, head.from, missing);
  head.ended = rows.length < missing;
  head.from = rows.at(-1) ?? head.from;
  head.rows.push(...rows);
}

async function ofStream(
  store: Pick<Reading, "read">,
  wanted: Wanted,
  stream: Stream,
  from: Place,
  count: number,
): Promise<Spot[]> {
  const { deviceIds, since } = wanted;
  const { query, last } = queryFor(wanted, stream, from);
  const read = async (ids: number[], each: number): Promise<Spot[]> => {
    const place = [since, from.at, idBefore(stream, from.row), each, count];
    const args: Arguments = [JSON.stringify(ids), ...place, ...last];
    const rows = await store.read(query, args);
    return rows.map((row) => ({ ...row, stream, row: rowOf(stream, row.id) }));
  };
  // Of many numbers, only those whose newest message is among the newest of all can have one on the page.
  const ids =
    deviceIds.length <= count ? deviceIds : [...new Set((await read(deviceIds, 1)).map((s) => s.deviceId))];
  return read(ids, count);
}

/** The statement for a filter, and what stands behind its first six arguments. */
function queryFor({ chats, state }: Wanted, stream: Stream, from: Place) {
  if (chats !== null) return { query: QUERIES[stream].chats, last: [JSON.stringify(chats)] };
  if (stream !== "sent" || state === null) return { query: QUERIES[stream].all, last: [] };
  if (state !== "queued") return { query: IN_STATE, last: [state] };
  const upTo = from.row <= 0 ? Number.MAX_SAFE_INTEGER : idBefore("sent", from.row);
  return { query: QUEUED, last: [upTo] };
}
