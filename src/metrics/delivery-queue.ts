import { giveWay } from "../model/give-way.ts";
import { defineQuery, integer, text } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** How many deliveries stand in each state; null: more than is worth counting. */
export interface DeliveryQueue {
  pending: number | null;
  retrying: number | null;
  dead: number | null;
}

const STATES = ["pending", "retrying", "dead"] as const;
/** Of one number in one state: a few hundred microseconds of an index. */
const MOST_COUNTED = 10_000;
const NUMBERS_AT_ONCE = 100;

const NUMBERS = defineQuery(
  `select n.value as deviceId, s.value as state from json_each(?1) n cross join json_each('["pending","retrying","dead"]') s
    where exists (select 1 from deliveries where device_id = n.value and state = s.value)`,
  { deviceId: integer(), state: text<(typeof STATES)[number]>() },
);
const COUNT = defineQuery(
  `select count(*) as n from (select 1 from deliveries where device_id = ? and state = ? limit ${MOST_COUNTED + 1})`,
  { n: integer() },
);

/** Looks at each number in turn, which an index knows by state, and lets others in between. */
export async function readDeliveries(
  { read, readOne }: Pick<Store, "read" | "readOne">,
  deviceIds: readonly number[],
): Promise<DeliveryQueue> {
  const queue: DeliveryQueue = { pending: 0, retrying: 0, dead: 0 };
  for (let from = 0; from < deviceIds.length; from += NUMBERS_AT_ONCE) {
    const some = JSON.stringify(deviceIds.slice(from, from + NUMBERS_AT_ONCE));
    for (const { deviceId, state } of await read(NUMBERS, [some])) {
      const { n } = (await readOne(COUNT, [deviceId, state]))!;
      const sum = queue[state];
      queue[state] = sum === null || n > MOST_COUNTED ? null : sum + n;
      await giveWay();
    }
    await giveWay();
  }
  return queue;
}
