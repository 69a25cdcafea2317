import { giveWay } from "../model/give-way.ts";
import { HOUR_MS } from "../model/time.ts";
import { inbox, meta } from "../../drizzle/schema.ts";
import { boolean, defineQuery, integer, nullable } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** Messages of others that a number got in some time. */
interface InboxCounts {
  received: number;
  /** Those of them that a bot answered, or that the webhook was given. */
  answeredOrForwarded: number;
  /** Those of them that wait for a decision. */
  pending: number;
}

/** Counts of messages per hour, so that a report over a month reads hundreds of rows and not a million. */
export interface HourBook {
  /**
   * Counts what was decided since the last time. Each message is read once, in small steps; several callers share one run.
   */
  catchUp(): Promise<void>;
  /** @param since Unix milliseconds. What came since and no `catchUp` has counted is read here, row by row. */
  countSince(deviceId: number, since: number): Promise<InboxCounts>;
}

/** Under a few milliseconds of reading. */
const ROWS_AT_ONCE = 250;
const PLACE = "audit_hours";

// What a decision says of a message. The trail is JSON, and most of it is short.
const HANDLED = `exists (select 1 from decisions d where d.inbox_id = i.id and (d."by" is not null or exists (
  select 1 from json_each(d.trail) t where t.value ->> 'by' = 'webhook')))`;

const COUNTED_UP_TO = defineQuery(`select value from meta where key = '${PLACE}'`, { value: meta.value });
/** Ids of a page, and where everything is decided: what comes behind the oldest that waits is counted later. */
const NEXT_PAGE = defineQuery(
  `select max(id) as last, count(*) as n from (select id from inbox where id > ? and id <
    coalesce((select id from inbox indexed by inbox_pending where state = 'pending' order by id limit 1), 9007199254740991) order by id limit ${ROWS_AT_ONCE})`,
  { last: nullable(inbox.id), n: integer() },
);
const BEGIN = `insert into meta (key, value) values ('${PLACE}', '0') on conflict (key) do nothing`;
// Both say where they begin: a commit whose outcome was not known, made again, counts nothing twice.
const ADD = `insert into audit_hours (device_id, hour, received, handled)
  select i.device_id, i.received_at - i.received_at % ${HOUR_MS}, count(*), sum(${HANDLED})
  from inbox i where i.id > ?1 and i.id <= ?2 and i.from_me = 0 and +i.device_id in (select id from devices)
    and (select cast(value as integer) from meta where key = '${PLACE}') = ?1
  group by 1, 2
  on conflict (device_id, hour) do update set received = received + excluded.received, handled = handled + excluded.handled`;
const ADVANCE = `update meta set value = cast(cast(?2 as integer) as text)
  where key = '${PLACE}' and cast(value as integer) = ?1`;

// With the place to which they go, of the same moment: somebody may be counting.
const SUM = defineQuery(
  `select coalesce(sum(received), 0) as received, coalesce(sum(handled), 0) as handled,
    coalesce((select cast(value as integer) from meta where key = '${PLACE}'), 0) as up_to
    from audit_hours where device_id = ? and hour >= ?`,
  { received: integer(), handled: integer(), up_to: integer() },
);
const NEXT_FROM = defineQuery("select id, received_at from inbox where id >= ? order by id limit 1", {
  id: inbox.id,
  receivedAt: inbox.receivedAt,
});
const NEWEST = defineQuery("select max(id) as id from inbox", { id: nullable(inbox.id) });
/** Rows that are not in the counts, of every number: those of one have no order of their own. */
const ROWS = defineQuery(
  `select i.id, i.device_id = ?1 and i.from_me = 0 as counts, i.state = 'pending' as waits, i.received_at,
    case when i.device_id = ?1 and i.from_me = 0 then ${HANDLED} else 0 end as handled
  from inbox i where i.id > ?2 order by i.id limit ?3`,
  { id: inbox.id, counts: boolean(), waits: boolean(), receivedAt: inbox.receivedAt, handled: boolean() },
);

/** The counts lie in `audit_hours`; up to which message they go stands in `meta`. */
export function createHourBook({ readOne, pages, writer }: Store): HourBook {
  let running: Promise<void> | null = null;

  const countedUpTo = async (): Promise<number> => Number((await readOne(COUNTED_UP_TO))?.value ?? 0);

  async function countNew(): Promise<void> {
    await writer.commit([{ sql: BEGIN, args: [] }]);
    for (let from = await countedUpTo(); ; await giveWay()) {
      const page = await readOne(NEXT_PAGE, [from]);
      if (page === null || page.last === null) return;
      const place = [from, page.last];
      await writer.commit([
        { sql: ADD, args: place },
        { sql: ADVANCE, args: place },
      ]);
      if (page.n < ROWS_AT_ONCE) return;
      from = page.last;
    }
  }

  /** Those of the rows behind an id that came in a time; ends with the first page that lies behind all of it. */
  async function countRows(deviceId: number, after: number, upTo: number, since: number, before: number) {
    const counted: InboxCounts = { received: 0, answeredOrForwarded: 0, pending: 0 };
    const args = (last: { id: number } | null): number[] => [deviceId, last?.id ?? after];
    for await (const page of pages(ROWS, args, ROWS_AT_ONCE)) {
      for (const { id, counts, waits, receivedAt, handled } of page) {
        if (!counts || id > upTo || receivedAt < since || receivedAt >= before) continue;
        counted.received++;
        if (handled) counted.answeredOrForwarded++;
        if (waits) counted.pending++;
      }
      if (page.at(-1)!.id >= upTo || page.every(({ receivedAt }) => receivedAt >= before)) break;
    }
    return counted;
  }

  /** Ids rise with time: an id below all that came since. */
  async function idBefore(since: number): Promise<number> {
    let low = 0;
    let high = (await readOne(NEWEST))?.id ?? 0;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const next = await readOne(NEXT_FROM, [middle]);
      if (next !== null && next.receivedAt < since) low = Math.max(middle, next.id);
      else high = middle;
    }
    // The host's clock may have been set back in between.
    return Math.max(0, low - ROWS_AT_ONCE);
  }

  return {
    catchUp() {
      running ??= countNew().finally(() => (running = null));
      return running;
    },

    async countSince(deviceId, since) {
      const firstHour = Math.ceil(since / HOUR_MS) * HOUR_MS;
      const hours = await readOne(SUM, [deviceId, firstHour]);
      const upTo = hours!.up_to;
      const first = await idBefore(since);
      const before = await countRows(deviceId, first, upTo, since, firstHour);
      const after = await countRows(deviceId, Math.max(first, upTo), Infinity, since, Infinity);
      return {
        received: hours!.received + before.received + after.received,
        answeredOrForwarded: hours!.handled + before.answeredOrForwarded + after.answeredOrForwarded,
        pending: before.pending + after.pending,
      };
    },
  };
}
