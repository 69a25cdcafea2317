import type { Statement, Store } from "../store/store.ts";

/** Small enough that messages do not notice: the writer is everybody's. */
const ROWS_AT_ONCE = 200;

/** One table whose rows end. */
export interface Ageing {
  table: string;
  /** Rises with age, so that the oldest rows are read and nothing of the others. */
  key: string;
  /** When it came, Unix milliseconds. */
  at: string;
  /** True for rows that nothing is owed to any more. */
  ended: string;
  /** Rows of other tables that go with it, before it; `?` is the list of keys. */
  with?: string[];
}

const KEYS = "(select value from json_each(?))";

const INBOX: Ageing = {
  table: "inbox",
  key: "id",
  at: "received_at",
  // A delivery that is tried again may still need the message's file.
  ended: `state = 'done' and not exists (select 1 from deliveries
    where deliveries.inbox_id = inbox.id and deliveries.state in ('pending', 'retrying'))`,
};

const DECISIONS: Ageing = { table: "decisions", key: "inbox_id", at: "at", ended: "true" };

const DELIVERIES: Ageing = {
  table: "deliveries",
  key: "rowid",
  at: "created_at",
  ended: "state in ('delivered', 'dead', 'disabled')",
  with: [
    `delete from delivery_attempts where delivery_id in (select id from deliveries where rowid in ${KEYS})`,
  ],
};

const OUTBOX: Ageing = {
  table: "outbox",
  key: "id",
  at: "created_at",
  ended: "state <> 'queued'",
  with: [
    `delete from outbox_history where outbox_id in ${KEYS}`,
    `delete from poll_votes where (device_id, poll_id) in
      (select device_id, wa_id from outbox where id in ${KEYS} and kind = 'poll')`,
  ],
};

/** What the audit goes by. */
const CONNECTIONS: Ageing = {
  table: "connections",
  key: "id",
  at: "opened_at",
  // One may stay open for months.
  ended: "id <> (select max(id) from connections newest where newest.device_id = connections.device_id)",
};
const AUDIT_HOURS: Ageing = { table: "audit_hours", key: "rowid", at: "hour", ended: "true" };
const MISSING: Ageing = { table: "missing_messages", key: "rowid", at: "noticed_at", ended: "true" };

/** What everything that belongs to messages is kept for. */
export const MESSAGE_TABLES = [INBOX, DECISIONS, DELIVERIES, CONNECTIONS, MISSING, AUDIT_HOURS];
/** Kept for a week at least: a phone that could not read a message asks for it again that long. */
export const SENT_TABLES = [OUTBOX];

/**
 * Deletes rows that ended before a time, oldest first, a few in each commit.
 *
 * @returns how many
 */
export async function expireRows(
  { rows, writer }: Pick<Store, "rows" | "writer">,
  { table, key, at, ended, with: others = [] }: Ageing,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  const select = `select ${key} as key, ${at} < ? as old, ${ended} as ended from ${table}
    where ${key} > ? order by ${key} limit ${ROWS_AT_ONCE}`;
  let deleted = 0;
  for (let from = Number.MIN_SAFE_INTEGER; !signal.aborted;) {
    const found = await rows(select, [before, from]);
    const old = found.filter((row) => row.old);
    // Behind a whole page of younger rows there are no older ones.
    if (old.length === 0) break;
    from = Number(found.at(-1)!.key);
    const keys = JSON.stringify(old.filter((row) => row.ended).map((row) => Number(row.key)));
    if (keys === "[]") continue;
    // The condition once more: a replay may have begun meanwhile.
    const still = `select ${key} from ${table} where ${key} in ${KEYS} and ${ended}`;
    const statements: Statement[] = [
      ...others.map((sql) => ({ sql: sql.replace(KEYS, `(${still})`), args: [keys] })),
      { sql: `delete from ${table} where ${key} in ${KEYS} and ${ended}`, args: [keys] },
    ];
    const results = await writer.commit(statements);
    deleted += results.at(-1)!.rowsAffected;
  }
  return deleted;
}

/** Votes in polls that are not in the outbox (any more), and answers to sends with a key of their own. */
const LEFT_OVERS = {
  poll_votes: `delete from poll_votes where rowid in (select v.rowid from poll_votes v
    left join outbox o on o.device_id = v.device_id and o.wa_id = v.poll_id
    where o.id is null and v.voted_at < ? limit ${ROWS_AT_ONCE})`,
  idempotency: `delete from idempotency where rowid in
    (select rowid from idempotency where created_at < ? limit ${ROWS_AT_ONCE})`,
};

/** @returns how many */
export async function deleteLeftOvers(
  { writer }: Pick<Store, "writer">,
  table: keyof typeof LEFT_OVERS,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  for (let deleted = 0; ;) {
    const [result] = await writer.commit([{ sql: LEFT_OVERS[table], args: [before] }]);
    deleted += result?.rowsAffected ?? 0;
    if (signal.aborted || (result?.rowsAffected ?? 0) < ROWS_AT_ONCE) return deleted;
  }
}
