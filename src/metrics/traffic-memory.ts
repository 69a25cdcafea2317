import { HOUR_MS, MINUTE_MS } from "../model/time.ts";
import { addTo, noCounts, type Counts } from "./counts.ts";
import type { CountedHour } from "./traffic-rows.ts";

/** What one point of a chart of a day stands for. */
export const BUCKET_MS = 5 * MINUTE_MS;
/** For so long five minutes are told apart. */
export const DAY_OF_BUCKETS = (24 * HOUR_MS) / BUCKET_MS;
/** Numbers in five minutes, at about 400 bytes: 20 MB. What all numbers have together is kept for the whole day. */
const MOST_KEPT = 50_000;
/** Hours that could not be written yet: the database may be away for a day. */
const MOST_HOURS = 30;

interface Bucket extends CountedHour {
  each: Map<number, Counts>;
}

/** What this process has counted. */
export interface TrafficMemory {
  count(deviceId: number, change: (counts: Counts) => void): void;
  /** Adds the buckets since a time. @param deviceIds null: all numbers together */
  add(to: Map<number, Counts>, deviceIds: readonly number[] | null, since: number): void;
  /** Since when all buckets of single numbers, or of all together, are there. */
  since(single: boolean): number;
  /** Hours that are not written yet, the oldest first. */
  hours(): [hour: number, counted: CountedHour][];
  /** It is written. */
  forgetHour(hour: number): void;
}

/** Counts in memory: an addition or two for each thing that happens. */
export function createTrafficMemory(now: () => number): TrafficMemory {
  const buckets = new Map<number, Bucket>();
  const hours = new Map<number, Bucket>();
  let kept = 0;
  let since = now();
  let singleSince = since;

  function bucketIn(all: Map<number, Bucket>, at: number): Bucket {
    const known = all.get(at);
    if (known !== undefined) return known;
    const bucket: Bucket = { all: noCounts(), each: new Map() };
    all.set(at, bucket);
    return bucket;
  }

  function countsOf({ each }: Bucket, deviceId: number): Counts {
    const known = each.get(deviceId);
    if (known !== undefined) return known;
    const counts = noCounts();
    each.set(deviceId, counts);
    return counts;
  }

  function letGo(at: number, bucket: Bucket): void {
    kept -= bucket.each.size;
    bucket.each.clear();
    singleSince = Math.max(singleSince, at + BUCKET_MS);
  }

  /** Once in five minutes, and when there is too much. */
  function tidy(): void {
    const oldest = now() - (DAY_OF_BUCKETS + 1) * BUCKET_MS;
    for (const [at, bucket] of buckets) {
      if (at < oldest) {
        letGo(at, bucket);
        buckets.delete(at);
        since = Math.max(since, at + BUCKET_MS);
      } else if (kept > MOST_KEPT) letGo(at, bucket);
      else break;
    }
    for (const hour of hours.keys()) if (hours.size > MOST_HOURS) hours.delete(hour);
  }

  return {
    count(deviceId, change) {
      const at = Math.floor(now() / BUCKET_MS) * BUCKET_MS;
      const isNew = !buckets.has(at);
      const bucket = bucketIn(buckets, at);
      const hour = bucketIn(hours, Math.floor(at / HOUR_MS) * HOUR_MS);
      if (!bucket.each.has(deviceId)) kept++;
      for (const counts of [bucket.all, hour.all, countsOf(bucket, deviceId), countsOf(hour, deviceId)])
        change(counts);
      if (isNew || kept > MOST_KEPT) tidy();
    },
    add(to, deviceIds, from) {
      for (const [at, { all, each }] of buckets) {
        if (at < from) continue;
        if (deviceIds === null) addTo(to, at, all);
        for (const id of deviceIds ?? []) {
          const counts = each.get(id);
          if (counts !== undefined) addTo(to, at, counts);
        }
      }
    },
    since: (single) => (single ? singleSince : since),
    hours: () => [...hours].toSorted(([a], [b]) => a - b),
    forgetHour: (hour) => void hours.delete(hour),
  };
}
