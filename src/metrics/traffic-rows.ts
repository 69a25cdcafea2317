import { trafficHours, trafficTotals } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import type { Statement } from "../model/statement.ts";
import { defineQuery, integer, nullable } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { addTo, decodeCounts, encodeCounts, type Counts } from "./counts.ts";

const READ_AT_ONCE = 500;
const WRITTEN_AT_ONCE = 200;

// A number may have been erased since it was counted. What is written twice is the same: a commit whose answer was lost is
// made again.
const KEEP = `insert into traffic_hours (device_id, hour, part, counts) select ?1, ?2, ?3, ?4
  where exists (select 1 from devices where id = ?1)
  on conflict (device_id, hour, part) do update set counts = excluded.counts`;
const KEEP_TOTAL = `insert into traffic_totals (hour, part, counts) values (?, ?, ?)
  on conflict (hour, part) do update set counts = excluded.counts`;
const OF_NUMBER = defineQuery(
  `select hour, part, counts from traffic_hours
    where device_id = ? and (hour, part) > (?, ?) order by hour, part limit ?`,
  { hour: trafficHours.hour, part: trafficHours.part, counts: trafficHours.counts },
);
const OF_ALL = defineQuery(
  `select hour, part, counts from traffic_totals where (hour, part) > (?, ?) order by hour, part limit ?`,
  { hour: trafficTotals.hour, part: trafficTotals.part, counts: trafficTotals.counts },
);
const FIRST = defineQuery("select min(hour) as hour from traffic_totals", { hour: nullable(integer()) });

/** An hour, as it was counted here. */
export interface CountedHour {
  all: Counts;
  /** By number. */
  each: ReadonlyMap<number, Counts>;
}

/** Rows of the tables `traffic_hours` and `traffic_totals`. */
export interface TrafficRows {
  /** Adds what was counted in each hour since a time. @param isAdded whose row of an hour is left out */
  add(
    to: Map<number, Counts>,
    deviceIds: readonly number[] | null,
    since: number,
    isAdded: (part: string, hour: number) => boolean,
  ): Promise<void>;
  /** When counting began; null when no hour is over yet. */
  first(): Promise<number | null>;
  /** Keeps an hour, some numbers in each commit. */
  keep(hour: number, counted: CountedHour): Promise<void>;
}

/** @param part names the rows of this run of this process among those of others */
export function createTrafficRows(
  store: Pick<Store, "pages" | "readOne" | "writer">,
  part: string,
): TrafficRows {
  return {
    async add(to, deviceIds, since, isAdded) {
      const take = (rows: { hour: number; part: string; counts: string }[]): void => {
        for (const row of rows) {
          if (isAdded(row.part, row.hour)) continue;
          addTo(to, row.hour, decodeCounts(row.counts));
        }
      };
      const from = (last: { hour: number; part: string } | null): [number, string] => [
        last?.hour ?? since,
        last?.part ?? "",
      ];
      if (deviceIds === null) for await (const page of store.pages(OF_ALL, from, READ_AT_ONCE)) take(page);
      for (const id of deviceIds ?? []) {
        for await (const page of store.pages(OF_NUMBER, (last) => [id, ...from(last)], READ_AT_ONCE))
          take(page);
        await giveWay();
      }
    },

    first: async () => (await store.readOne(FIRST))?.hour ?? null,

    async keep(hour, { all, each }) {
      const statements: Statement[] = [{ sql: KEEP_TOTAL, args: [hour, part, encodeCounts(all)] }];
      for (const [id, counts] of each)
        statements.push({ sql: KEEP, args: [id, hour, part, encodeCounts(counts)] });
      for (let from = 0; from < statements.length; from += WRITTEN_AT_ONCE) {
        await store.writer.commit(statements.slice(from, from + WRITTEN_AT_ONCE));
        await giveWay();
      }
    },
  };
}
