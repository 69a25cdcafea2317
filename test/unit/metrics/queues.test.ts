import { expect, it } from "vitest";
import { readDeliveries } from "../../../src/metrics/delivery-queue.ts";
import { readIncoming, readOutgoing } from "../../../src/metrics/queues.ts";
import { planOf, watchStatements } from "../store/query-plan.ts";
import { temporaryStore } from "../store/temporary.ts";

it("queues are counted over several pages, of all numbers, in an index that holds nothing else", async () => {
  const { store, seen } = watchStatements(await temporaryStore());
  expect(await readIncoming(store)).toEqual({ count: 0, oldest: null });
  expect(await readOutgoing(store)).toEqual({ count: 0, oldest: null });
  const many = (count: number) => JSON.stringify(Array.from({ length: count }, (_, n) => n));
  await store.writer.commit([
    {
      sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
        SELECT 1, 'c', 's', value, 0, 'text', iif(value % 2, 'done', 'pending'), 0, 1000 + value, x'00' FROM json_each(?)`,
      args: [many(10_100)],
    },
    {
      sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, state, body, created_at)
        SELECT 1 + value % 3, value, 'c', 'j', 'n', 'text', 'api', 0, iif(value % 2, 'sent', 'queued'), x'00', 1000 + value FROM json_each(?)`,
      args: [many(40)],
    },
  ]);
  seen.length = 0;

  expect(await readIncoming(store)).toEqual({ count: 5_050, oldest: 1_000 });
  expect(await readOutgoing(store)).toEqual({ count: 20, oldest: 1_000 });

  const made = [...seen];
  expect(made.length).toBeGreaterThan(5);
  for (const statement of made)
    expect((await planOf(store, statement)).join("; ")).toMatch(/INDEX (inbox_pending|outbox_waiting)/);
});

it("deliveries are counted by state, of the numbers that have any", async () => {
  const { store, seen } = watchStatements(await temporaryStore());
  await store.writer.commit([
    {
      sql: `INSERT INTO deliveries (id, device_id, message_id, chat, type, url, state, body, may_reply, created_at)
        SELECT value, 1 + value % 2, 'm', 'c', 'text', '', iif(value < 3, 'dead', iif(value < 7, 'retrying', 'delivered')), x'00', 0, value
        FROM json_each(?)`,
      args: [JSON.stringify(Array.from({ length: 20 }, (_, n) => n))],
    },
  ]);
  seen.length = 0;

  expect(await readDeliveries(store, [1, 2, 3])).toEqual({ pending: 0, retrying: 4, dead: 3 });
  expect(await readDeliveries(store, [2])).toEqual({ pending: 0, retrying: 2, dead: 1 });
  const made = [...seen];
  expect(made.length).toBeGreaterThan(4);
  for (const statement of made)
    expect((await planOf(store, statement)).join("; ")).toMatch(/INDEX deliveries_state/);
});
