import { HOUR_MS } from "../model/time.ts";
import { addTo, noCounts, type Counts } from "./counts.ts";
import type { CountedHour } from "./traffic-rows.ts";

/** Hours that could not be written yet: the database may be away for a day. */
const MOST_HOURS = 30;

interface Hour extends CountedHour {
  each: Map<number, Counts>;
}

/** What this process has counted and not written yet. */
export interface TrafficMemory {
  count(deviceId: number, change: (counts: Counts) => void): void;
  /** Adds the hours since a time. @param deviceIds null: all numbers together @returns which hours it has */
  add(to: Map<number, Counts>, deviceIds: readonly number[] | null, since: number): number[];
  /** When counting began. */
  since: number;
  /** The oldest first. */
  hours(): [hour: number, counted: CountedHour][];
  /** It is written. */
  forgetHour(hour: number): void;
}

/** Counts in memory: two additions for each thing that happens. */
export function createTrafficMemory(now: () => number): TrafficMemory {
  const hours = new Map<number, Hour>();

  function thisHour(): Hour {
    const at = Math.floor(now() / HOUR_MS) * HOUR_MS;
    const known = hours.get(at);
    if (known !== undefined) return known;
    const hour: Hour = { all: noCounts(), each: new Map() };
    hours.set(at, hour);
    for (const oldest of hours.keys()) if (hours.size > MOST_HOURS) hours.delete(oldest);
    return hour;
  }

  function countsOf({ each }: Hour, deviceId: number): Counts {
    const known = each.get(deviceId);
    if (known !== undefined) return known;
    const counts = noCounts();
    each.set(deviceId, counts);
    return counts;
  }

  return {
    count(deviceId, change) {
      const hour = thisHour();
      change(hour.all);
      change(countsOf(hour, deviceId));
    },
    add(to, deviceIds, since) {
      const found = [...hours].filter(([at]) => at >= since);
      for (const [at, { all, each }] of found) {
        if (deviceIds === null) addTo(to, at, all);
        for (const id of deviceIds ?? []) {
          const counts = each.get(id);
          if (counts !== undefined) addTo(to, at, counts);
        }
      }
      return found.map(([at]) => at);
    },
    since: now(),
    hours: () => [...hours].toSorted(([a], [b]) => a - b),
    forgetHour: (hour) => void hours.delete(hour),
  };
}
