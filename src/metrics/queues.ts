import { inbox, outbox } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import { defineQuery, integer, nullable } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** How many messages wait, and since when the oldest of them; Unix milliseconds, null when none waits. */
interface Queue {
  count: number;
  oldest: number | null;
}

/** Entries of an index that are counted at once: under a millisecond. */
const COUNTED_AT_ONCE = 5_000;

const OLDEST_INCOMING = defineQuery(
  "select received_at from inbox indexed by inbox_pending where state = 'pending' order by id limit 1",
  { receivedAt: inbox.receivedAt },
);
const INCOMING = defineQuery(
  `select count(*) as n, max(id) as last from (select id from inbox indexed by inbox_pending
    where state = 'pending' and id > ? order by id limit ${COUNTED_AT_ONCE})`,
  { n: integer(), last: nullable(inbox.id) },
);
const NEXT_SENDER = defineQuery(
  `select device_id, created_at from outbox indexed by outbox_waiting
    where state = 'queued' and device_id > ? order by device_id, id limit 1`,
  { deviceId: outbox.deviceId, createdAt: outbox.createdAt },
);
const OUTGOING = defineQuery(
  `select count(*) as n, max(id) as last from (select id from outbox indexed by outbox_waiting
    where state = 'queued' and device_id = ? and id > ? order by id limit ${COUNTED_AT_ONCE})`,
  { n: integer(), last: nullable(outbox.id) },
);

/** Messages that are waiting for a decision. Counted in an index that holds nothing else, with others' turns in between. */
export async function readIncoming({ readOne }: Pick<Store, "readOne">): Promise<Queue> {
  const oldest = await readOne(OLDEST_INCOMING);
  const count = await countAll(async (after) => (await readOne(INCOMING, [after]))!);
  return { count, oldest: oldest?.receivedAt ?? null };
}

/** Messages that wait to be sent, of all numbers. */
export async function readOutgoing({ readOne }: Pick<Store, "readOne">): Promise<Queue> {
  const queue: Queue = { count: 0, oldest: null };
  for (let deviceId = 0; ; await giveWay()) {
    const next = await readOne(NEXT_SENDER, [deviceId]);
    if (next === null) return queue;
    const sender = next.deviceId;
    queue.count += await countAll(async (after) => (await readOne(OUTGOING, [sender, after]))!);
    queue.oldest = Math.min(queue.oldest ?? Infinity, next.createdAt);
    deviceId = sender;
  }
}

async function countAll(
  page: (after: number) => Promise<{ n: number; last: number | null }>,
): Promise<number> {
  let count = 0;
  for (let after = 0; ; await giveWay()) {
    const { n, last } = await page(after);
    count += n;
    if (n < COUNTED_AT_ONCE || last === null) return count;
    after = last;
  }
}
