import { randomBytes } from "node:crypto";
import type { Logger } from "../log.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { addCounts, noCounts, noteWait, slowness, type Counts } from "./counts.ts";
import { shareTraffic } from "./traffic-elsewhere.ts";
import { createTrafficMemory } from "./traffic-memory.ts";
import { createTrafficRows } from "./traffic-rows.ts";

/** Who answered a message that came. */
export type Answering = "bot" | "webhook" | "nobody";

/** What happened in some time. Times are Unix milliseconds. */
export interface TrafficSum extends Omit<Counts, "waits"> {
  /** How long answers took, from the commit of the message to that of the answer; null when there were none. */
  answerMs: { p50: number; p95: number } | null;
}

/** Traffic of some numbers over some hours. */
export interface TrafficReport {
  /** Before it nothing was counted; null: all of it is known. */
  completeSince: number | null;
  /** Some node that counts, too, did not answer. */
  partial: boolean;
  /** Oldest first, the hour that is not over last. */
  hours: (TrafficSum & { at: number })[];
  sum: TrafficSum;
}

/** Counts what happens, hour by hour for as long as TRAFFIC_DAYS says. */
export interface Traffic {
  came(deviceId: number): void;
  /** @param tookMs null: not known */
  decided(deviceId: number, by: Answering, tookMs: number | null): void;
  ended(deviceId: number, isSent: boolean): void;
  posted(deviceId: number, isAccepted: boolean): void;
  /**
   * @param deviceIds null: all numbers together, in one sum
   * @param hours how many, the present one included
   * @throws {GatewayError} INVALID_PARAMETERS when so many numbers have too many hours to add up
   */
  report(deviceIds: readonly number[] | null, hours: number): Promise<TrafficReport>;
  /** Begins to write hours that are over. */
  start(): void;
  /** Writes what was counted. Never rejects. */
  stop(): Promise<void>;
}

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
  const part = randomBytes(8).toString("hex");
  const addOthers = shareTraffic(cluster, memory, part);
  const rows = createTrafficRows(store, part);
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

  async function read(deviceIds: readonly number[] | null, since: number) {
    const found = new Map<number, Counts>();
    // What is in memory first: what is written meanwhile is then counted once, from there.
    const here = { part, has: memory.add(found, deviceIds, since) };
    const { partial, added } = await addOthers(found, deviceIds, since);
    const done = new Set([here, ...added].flatMap((one) => one.has.map((hour) => `${one.part} ${hour}`)));
    await rows.add(found, deviceIds, since, (of, hour) => done.has(`${of} ${hour}`));
    return { found, partial, completeSince: (await rows.first()) ?? memory.since };
  }

  return {
    came: (deviceId) => memory.count(deviceId, (counts) => counts.in++),
    decided: (deviceId, by, tookMs) =>
      memory.count(deviceId, (counts) => {
        counts[by]++;
        if (by !== "nobody" && tookMs !== null) noteWait(counts, tookMs);
      }),
    ended: (deviceId, isSent) => memory.count(deviceId, (counts) => counts[isSent ? "out" : "failed"]++),
    posted: (deviceId, isAccepted) =>
      memory.count(deviceId, (counts) => {
        counts.posts++;
        if (!isAccepted) counts.postFailures++;
      }),
    async report(deviceIds, hours) {
      if (deviceIds !== null && deviceIds.length * hours > MOST_ROWS)
        throw tooMuch(Math.floor(MOST_ROWS / deviceIds.length));
      const since = hourOf(store.now()) - (hours - 1) * HOUR_MS;
      const { found, completeSince, partial } = await read(deviceIds, since);
      const sum = noCounts();
      const steps = Array.from({ length: hours }, (_, step) => {
        const at = since + step * HOUR_MS;
        const counts = found.get(at) ?? noCounts();
        addCounts(sum, counts);
        return { at, ...shown(counts) };
      });
      const known = completeSince <= since ? null : completeSince;
      return { completeSince: known, partial, hours: steps, sum: shown(sum) };
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

function shown({ waits, ...counts }: Counts): TrafficSum {
  const p50 = slowness({ waits }, 0.5);
  return { ...counts, answerMs: p50 === null ? null : { p50, p95: slowness({ waits }, 0.95)! } };
}

const tooMuch = (hours: number): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
    fields: { hours: [`At most ${hours} for so many numbers at once; or name a sender.`] },
  });
