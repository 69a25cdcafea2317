import { randomBytes } from "node:crypto";
import type { Logger } from "../log.ts";
import type { Cluster } from "../model/cluster.ts";
import { GatewayError } from "../model/errors.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { addCounts, addTo, noCounts, noteWait, slowness, type Counts } from "./counts.ts";
import { shareTraffic } from "./traffic-elsewhere.ts";
import { BUCKET_MS, createTrafficMemory } from "./traffic-memory.ts";
import { createTrafficRows } from "./traffic-rows.ts";

/** What happened in one step of a chart. Times are Unix milliseconds. */
export interface TrafficPoint extends Omit<Counts, "waits"> {
  at: number;
  /** How long answers took, from the commit of the message to that of the answer; null when there were none. */
  answerMs: { p50: number; p95: number } | null;
}

/** Traffic of some numbers over some time. */
export interface TrafficReport {
  since: number;
  until: number;
  stepMs: number;
  /** Before it nothing was counted, or it is not known any more; null: all of it is known. */
  completeSince: number | null;
  /** Some node that counts, too, did not answer. */
  partial: boolean;
  /** Oldest first, one for each step. */
  points: TrafficPoint[];
  total: Omit<TrafficPoint, "at">;
}

/** Counts what happens, five minutes by five minutes for a day, and hour by hour for as long as TRAFFIC_DAYS says. */
export interface Traffic {
  came(deviceId: number): void;
  /** @param tookMs null: not known */
  answered(deviceId: number, tookMs: number | null): void;
  ended(deviceId: number, isSent: boolean): void;
  posted(deviceId: number, isAccepted: boolean): void;
  /**
   * @param deviceIds null: all numbers together, in one sum
   * @param hours up to 24: in steps of five minutes; more: in steps of an hour
   * @throws {GatewayError} INVALID_PARAMETERS when so many numbers have too many hours to add up
   */
  report(deviceIds: readonly number[] | null, hours: number): Promise<TrafficReport>;
  /** Begins to write hours that are over. */
  start(): void;
  /** Writes what was counted. Never rejects. */
  stop(): Promise<void>;
}

/** Steps of a day are told by five minutes. */
export const HOURS_BY_BUCKETS = 24;
const LOOK_MS = 5 * MINUTE_MS;
/** A stop waits no longer for a database that is away: these are counts. */
const STOPPING_MS = 3 * SECOND_MS;
/** Rows that are added up for one request, at most. */
const MOST_ROWS = 100_000;

const hourOf = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS;

/** Counts of a process that may be one of several. */
export function createTraffic({
  store,
  cluster,
  log,
}: {
  store: Pick<Store, "pages" | "readOne" | "writer" | "now" | "time">;
  cluster: Pick<Cluster, "node" | "bus" | "ownership">;
  log: Pick<Logger, "warn">;
}): Traffic {
  const memory = createTrafficMemory(store.now);
  const addOthers = shareTraffic(cluster, memory);
  const rows = createTrafficRows(store, randomBytes(8).toString("hex"));
  let end: Cancel | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function write(before: number): Promise<void> {
    for (const [hour, counted] of memory.hours()) {
      if (hour >= before) return;
      await rows.keep(hour, counted);
      memory.forgetHour(hour);
    }
  }

  /** What is not written stays in memory, and is tried again. */
  function writeSoon(before: number): Promise<void> {
    writing = writing
      .then(() => write(before))
      .catch((err: unknown) => log.warn({ err }, "could not write traffic counts yet"));
    return writing;
  }

  async function byBuckets(deviceIds: readonly number[] | null, since: number) {
    const found = new Map<number, Counts>();
    memory.add(found, deviceIds, since);
    const { partial, completeSince } = await addOthers(found, deviceIds, since);
    return { found, partial, completeSince: Math.max(completeSince, memory.since(deviceIds !== null)) };
  }

  async function byHours(deviceIds: readonly number[] | null, since: number) {
    const now = store.now();
    if (deviceIds !== null && (deviceIds.length * (now - since)) / HOUR_MS > MOST_ROWS)
      throw tooMuch(Math.floor(MOST_ROWS / deviceIds.length));
    // What is in memory first: what is written meanwhile is then counted once, from there.
    const here = memory.hours().filter(([hour]) => hour >= since);
    const found = new Map<number, Counts>();
    for (const [hour, { all, each }] of here)
      for (const counts of deviceIds === null ? [all] : deviceIds.flatMap((id) => each.get(id) ?? []))
        addTo(found, hour, counts);
    await rows.add(found, deviceIds, since, (hour) => here.some(([at]) => at === hour));
    const { partial } = await addOthers(found, deviceIds, hourOf(now), hourOf);
    return { found, partial, completeSince: (await rows.first()) ?? memory.since(false) };
  }

  return {
    came: (deviceId) => memory.count(deviceId, (counts) => counts.in++),
    answered: (deviceId, tookMs) =>
      memory.count(deviceId, (counts) => {
        counts.answered++;
        if (tookMs !== null) noteWait(counts, tookMs);
      }),
    ended: (deviceId, isSent) => memory.count(deviceId, (counts) => counts[isSent ? "out" : "failed"]++),
    posted: (deviceId, isAccepted) =>
      memory.count(deviceId, (counts) => {
        counts.posts++;
        if (!isAccepted) counts.postFailures++;
      }),
    async report(deviceIds, hours) {
      const until = store.now();
      const stepMs = hours > HOURS_BY_BUCKETS ? HOUR_MS : BUCKET_MS;
      const steps = Math.round((hours * HOUR_MS) / stepMs);
      const since = Math.floor(until / stepMs) * stepMs - (steps - 1) * stepMs;
      const read = stepMs === HOUR_MS ? byHours : byBuckets;
      const { found, completeSince, partial } = await read(deviceIds, since);
      const total = noCounts();
      const points = Array.from({ length: steps }, (_, step) => {
        const at = since + step * stepMs;
        const counts = found.get(at) ?? noCounts();
        addCounts(total, counts);
        return { at, ...shown(counts) };
      });
      const known = completeSince <= since ? null : completeSince;
      return { since, until, stepMs, completeSince: known, partial, points, total: shown(total) };
    },
    start() {
      end ??= store.time.every(LOOK_MS, () => void writeSoon(hourOf(store.now())));
    },
    async stop() {
      end?.();
      await store.time.within(STOPPING_MS, writeSoon(Infinity));
    },
  };
}

function shown({ waits, ...counts }: Counts): Omit<TrafficPoint, "at"> {
  const p50 = slowness({ waits }, 0.5);
  return { ...counts, answerMs: p50 === null ? null : { p50, p95: slowness({ waits }, 0.95)! } };
}

const tooMuch = (hours: number): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
    fields: { hours: [`At most ${hours} for so many numbers at once; or name a sender.`] },
  });
