import { giveWay } from "../model/give-way.ts";
import { boolean, defineQuery, integer, type Query } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";

/** Small enough that messages do not notice: the writer is everybody's. */
const ROWS_AT_ONCE = 200;
/** Of a table that is looked through from end to end, read at once. */
const ROWS_LOOKED_AT = 500;

/** One table whose rows end, in the order in which they came: what is younger is not read. */
export interface Ageing {
  table: string;
  /** Rises with age, so that the oldest rows are read and nothing of the others. */
  key: string;
  /** True for rows that nothing is owed to any more; `?1` is the time before which rows go. */
  ended: string;
  /** Only rows whose key is higher. Default: all. */
  after: number;
  /** Rows of other tables that go with it, before it; {@link KEYS} is the list of keys. */
  with?: string[];
  page: Query<{ key: number; old: boolean; ended: boolean }>;
}

const KEYS = "(select value from json_each(?2))";

/** Before every key. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER;

/** @param table `upTo`: only rows whose key is lower; default: all */
function ageing(
  table: Omit<Ageing, "page" | "after"> & { at: string; after?: number; upTo?: number },
): Ageing {
  const { at, key, ended, after = BEFORE_ALL, upTo } = table;
  const below = upTo === undefined ? "" : `and ${key} < ${upTo}`;
  const sql = `select ${key} as key, ${at} < ?1 as old, ${ended} as ended from ${table.table}
    where ${key} > ?2 ${below} order by ${key} limit ${ROWS_AT_ONCE}`;
  return { ...table, after, page: defineQuery(sql, { key: integer(), old: boolean(), ended: boolean() }) };
}

const INBOX = ageing({
  table: "inbox",
  key: "id",
  after: 0,
  at: "received_at",
  // A delivery that is tried again may still need the message's file. Index deliveries_owed.
  ended: `state = 'done' and not exists (select 1 from deliveries
    where deliveries.inbox_id = inbox.id and deliveries.state in ('pending', 'retrying'))`,
});

/** What was imported has ids of its own, below zero, which rise with age as well. */
const IMPORTED = ageing({ table: "inbox", key: "id", upTo: 0, at: "received_at", ended: "true" });

const DECISIONS = ageing({ table: "decisions", key: "inbox_id", at: "at", ended: "true" });

const DELIVERIES = ageing({
  table: "deliveries",
  key: "rowid",
  at: "created_at",
  ended: "state in ('delivered', 'dead', 'disabled')",
  with: [
    `delete from delivery_attempts where delivery_id in (select id from deliveries where rowid in ${KEYS})`,
  ],
});

const OUTBOX = ageing({
  table: "outbox",
  key: "id",
  // What waited for its time got another key when it was queued.
  at: "created_at",
  // Who asks for one that has waited until it expired reads for as long as anybody that it did.
  ended: "state not in ('queued', 'scheduled') and max(created_at, coalesce(ended_at, 0)) < ?1",
  with: [
    `delete from outbox_history where outbox_id in ${KEYS}`,
    `delete from poll_votes where (device_id, poll_id) in
      (select device_id, wa_id from outbox where id in ${KEYS} and kind = 'poll')`,
  ],
});

/** What the audit goes by. */
const CONNECTIONS = ageing({
  table: "connections",
  key: "id",
  at: "opened_at",
  // One may stay open for months. Index connections_device.
  ended: `exists (select 1 from connections newer
    where newer.device_id = connections.device_id and newer.opened_at > connections.opened_at)`,
});
const MISSING = ageing({ table: "missing_messages", key: "rowid", at: "noticed_at", ended: "true" });
const AUDIT_HOURS = ageing({ table: "audit_hours", key: "rowid", at: "hour", ended: "true" });

/** What WhatsApp has said of numbers, and how often it was asked: for a day. */
export const NUMBER_CHECKS = [
  ageing({ table: "number_checks", key: "rowid", at: "checked_at", ended: "true" }),
  ageing({ table: "allowance_uses", key: "id", at: "used_at", ended: "true" }),
];

/** What was changed by whom. */
export const AUDIT_LOG = ageing({ table: "audit_log", key: "id", at: "created_at", ended: "true" });

/** What everything that belongs to messages is kept for. */
export const MESSAGE_TABLES = [INBOX, IMPORTED, DECISIONS, DELIVERIES, CONNECTIONS, MISSING, AUDIT_HOURS];
/** Counts that charts are drawn of. */
export const TRAFFIC_TABLES = ["traffic_hours", "traffic_totals"].map((table) =>
  ageing({ table, key: "rowid", at: "hour", ended: "true" }),
);
/** Kept for a week at least: a phone that could not read a message asks for it again that long. */
export const SENT_TABLES = [OUTBOX];

/**
 * Deletes rows that ended before a time, oldest first, a few in each commit.
 *
 * @param before Unix milliseconds
 * @returns how many
 */
export async function expireRows(
  { read, writer }: Pick<Store, "read" | "writer">,
  { table, key, ended, page, after, with: others = [] }: Ageing,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (let from = after; !signal.aborted; await giveWay()) {
    const old = (await read(page, [before, from])).filter((row) => row.old);
    // Behind a whole page of younger rows there are no older ones.
    if (old.length === 0) break;
    from = old.at(-1)!.key;
    const keys = JSON.stringify(old.filter((row) => row.ended).map((row) => row.key));
    if (keys === "[]") continue;
    // The condition once more: a replay may have begun meanwhile.
    const still = `select ${key} from ${table} where ${key} in ${KEYS} and ${ended}`;
    const statements: Statement[] = [
      ...others.map((sql) => ({ sql: sql.replace(KEYS, `(${still})`), args: [before, keys] })),
      { sql: `delete from ${table} where ${key} in ${KEYS} and ${ended}`, args: [before, keys] },
    ];
    const results = await writer.commit(statements, { owning: null });
    deleted += results.at(-1)!.rowsAffected;
  }
  return deleted;
}

/** A table whose rows end in no order: all of it is looked through, a page at a time. */
interface LookedThrough {
  table: string;
  /** `?1` is a time, Unix milliseconds; uses indexes of other tables only. */
  ended: string;
  page: Query<{ place: number; ended: boolean }>;
}

function lookedThrough(table: string, ended: string): LookedThrough {
  const sql = `select rowid as place, ${ended} as ended from ${table}
    where rowid > ?2 order by rowid limit ${ROWS_LOOKED_AT}`;
  return { table, ended, page: defineQuery(sql, { place: integer(), ended: boolean() }) };
}

/** Votes in polls that are not in the outbox (any more). */
export const POLL_VOTES = lookedThrough(
  "poll_votes",
  `voted_at < ?1 and not exists (select 1 from outbox
    where outbox.device_id = poll_votes.device_id and outbox.wa_id = poll_votes.poll_id)`,
);
/** Results of steps whose message was decided, or given up, without taking them along. */
export const BOT_STEPS = lookedThrough(
  "bot_steps",
  "?1 > 0 and not exists (select 1 from inbox where inbox.id = bot_steps.inbox_id and inbox.state = 'pending')",
);
/** Sessions that nobody can use any more. One that was not used for long ends by itself, and lies here until then. */
export const SESSIONS = lookedThrough("sessions", "ends_at < ?1");
export const LINKS = lookedThrough("links", "expires_at < ?1");
/** Chats that were shown in some way once and are not any more. */
export const CHAT_SETTINGS = lookedThrough(
  "chat_settings",
  "updated_at < ?1 and not archived and not pinned and not unread and coalesce(muted_until, 0) between 0 and ?1",
);
/** People of whom nothing has come for long. */
export const CONTACTS = lookedThrough("contacts", "seen_at < ?1");
/** Chats in which nobody has written for long, or read, and nothing is held, muted or taken over. */
export const CHAT_STATE = lookedThrough(
  "chat_state",
  `max(coalesce(last_incoming_at, 0), coalesce(takeover_until, 0), coalesce(muted_until, 0),
    coalesce(held_until, 0), coalesce(read_at, 0)) < ?1`,
);

/**
 * Deletes what ended before a time, wherever it lies in its table.
 *
 * @returns how many
 */
export async function lookThrough(
  { read, writer }: Pick<Store, "read" | "writer">,
  { table, ended, page }: LookedThrough,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  const sql = `delete from ${table} where rowid in (select value from json_each(?2)) and ${ended}`;
  let deleted = 0;
  for (let from = Number.MIN_SAFE_INTEGER; !signal.aborted; await giveWay()) {
    const rows = await read(page, [before, from]);
    if (rows.length === 0) break;
    from = rows.at(-1)!.place;
    const places = rows.filter((row) => row.ended).map(({ place }) => place);
    for (let at = 0; at < places.length; at += ROWS_AT_ONCE) {
      const some = JSON.stringify(places.slice(at, at + ROWS_AT_ONCE));
      const [result] = await writer.commit([{ sql, args: [before, some] }], { owning: null });
      deleted += result!.rowsAffected;
    }
  }
  return deleted;
}

const ANSWERS = `delete from idempotency where rowid in
  (select rowid from idempotency where created_at < ? limit ${ROWS_AT_ONCE})`;

/**
 * Deletes answers to sends with a key of their own that were given before a time.
 *
 * @returns how many
 */
export async function expireAnswers(
  { writer }: Pick<Store, "writer">,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  for (let deleted = 0; ; await giveWay()) {
    const [result] = await writer.commit([{ sql: ANSWERS, args: [before] }], { owning: null });
    deleted += result?.rowsAffected ?? 0;
    if (signal.aborted || (result?.rowsAffected ?? 0) < ROWS_AT_ONCE) return deleted;
  }
}
