import type { Logger } from "../../log.ts";
import type { Cluster } from "../../model/nodes/cluster.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../../model/time.ts";
import { boolean, defineQuery, integer } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { createClaims, DATABASE_NOW, forgetOldClaims, type Claims } from "./claims.ts";
import { WAITING } from "./waiting.ts";

/** How processes that share one database share the attempts at webhooks. */
export interface SharedWork {
  claims: Claims;
  /** Whoever expects it looks itself: to give it away would take longer. @param at Unix milliseconds */
  isSoon(at: number): boolean;
  /** Some process looks at a number when its time has come. Never rejects. @returns false: nobody was told */
  announce(deviceId: number, at: number): Promise<boolean>;
  /** Takes numbers that were announced, and, in one of the processes, looks for those that were forgotten. */
  start(worker: SharedWorker): Cancel;
}

/** Who makes attempts in this process. */
interface SharedWorker {
  /** Looks at a number now; resolves when what has begun has ended. Never rejects. */
  visit(deviceId: number): Promise<void>;
  /** Looks at a number when it has time. */
  expect(deviceId: number): void;
}

interface SharedWorkDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "time">;
  cluster: Pick<Cluster, "jobs" | "ownership">;
  /** Name of this process. */
  node: string;
  log: Logger;
  /** How long a claim outlives its process. */
  leaseMs: number;
}

const KIND = "webhooks";
const NUMBERS_AT_ONCE = 8;
const SOON_MS = SECOND_MS;
/**
 * Times are announced in steps of this, each number once for each. Who looks then sees all that had its time before: what is
 * stored later with an earlier time is soon, and looked at by who stored it.
 */
const STEP_MS = 250;
/** A number that nobody has looked at for so long was forgotten: its process has ended, or Redis has lost it. */
const LATE_MS = 3 * SECOND_MS;
const SWEEP_MS = 2 * SECOND_MS;
/** Numbers that one sweep looks at. The next goes on behind them. */
const SWEPT_AT_ONCE = 500;
/** Whoever tries a webhook after its pause does so within this, or has not heard of the pause. */
const UNTRIED_MS = 10 * SECOND_MS;

const NEXT_NUMBER = `select device_id from deliveries indexed by deliveries_waiting where ${WAITING}`;
const LATE = defineQuery(
  `with recursive numbers (id) as (select (${NEXT_NUMBER} and device_id > ?1 order by device_id limit 1)
    union all select (${NEXT_NUMBER} and device_id > numbers.id order by device_id limit 1)
      from numbers where numbers.id is not null limit ${SWEPT_AT_ONCE})
    select numbers.id as id, exists (select 1 from deliveries d indexed by deliveries_waiting
        where d.device_id = numbers.id and d.${WAITING} and d.next_at <= ${DATABASE_NOW} - ${LATE_MS}
          and not exists (select 1 from delivery_claims c
            where c.device_id = d.device_id and c.chat = d.chat and c.until > ${DATABASE_NOW}))
      and not exists (select 1 from webhooks w
        where w.device_id = numbers.id and w.paused_until > ${DATABASE_NOW} - ${UNTRIED_MS}) as late
    from numbers where numbers.id is not null`,
  { id: integer(), late: boolean() },
);

/** Attempts of this process and of those beside it. */
export function createSharedWork({ store, cluster, node, log, leaseMs }: SharedWorkDeps): SharedWork {
  const { jobs, ownership } = cluster;
  const { time } = store;
  const claims = createClaims({ store, node, leaseMs });
  let sweptTo = 0;
  let sweeping = false;
  let forgetAt = 0;

  function announce(deviceId: number, at: number): Promise<boolean> {
    const step = Math.ceil(at / STEP_MS);
    const delayMs = Math.max(0, step * STEP_MS - claims.now());
    return jobs.add(KIND, `${deviceId}@${step}`, { delayMs });
  }

  /** Of all processes one does this: by the database alone, whatever Redis knows. */
  async function sweep(worker: SharedWorker): Promise<void> {
    const numbers = await store.read(LATE, [sweptTo]);
    sweptTo = numbers.length < SWEPT_AT_ONCE ? 0 : numbers.at(-1)!.id;
    for (const { id } of numbers.filter(({ late }) => late))
      if (!(await announce(id, claims.now()))) worker.expect(id);
    if (time.monotonic() < forgetAt) return;
    forgetAt = time.monotonic() + MINUTE_MS;
    await store.writer.commit([forgetOldClaims()]);
  }

  function sweepAsLeader(worker: SharedWorker): void {
    if (sweeping || !ownership.owns(0)) return;
    sweeping = true;
    sweep(worker)
      .catch((err: unknown) =>
        log.warn({ err }, "looking for waiting webhooks later: the database does not answer"),
      )
      .finally(() => (sweeping = false));
  }

  return {
    claims,
    isSoon: (at) => at <= claims.now() + SOON_MS,
    announce,
    start(worker) {
      jobs.work(KIND, (id) => worker.visit(Number.parseInt(id, 10)), { concurrency: NUMBERS_AT_ONCE });
      return time.every(SWEEP_MS, () => sweepAsLeader(worker));
    },
  };
}
