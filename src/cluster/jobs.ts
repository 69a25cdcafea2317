import type { Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import type { Logger } from "../log.ts";
import type { Jobs } from "../model/nodes/cluster.ts";
import { SECOND_MS, type Time } from "../model/time.ts";
import { checkRedisPolicy } from "./redis-policy.ts";

/** Jobs that move through Redis, and their end. */
export interface RedisJobs extends Jobs {
  /** Takes no more jobs; resolves when those under way have ended, or after a while. */
  stop(): Promise<void>;
}

interface RedisJobsDeps {
  redisUrl: string;
  /** Before each key: gateways of other databases may use the same Redis. */
  prefix: string;
  log: Logger;
  time: Pick<Time, "deadline" | "within" | "monotonic">;
}

/** Whoever adds a job has work of his own, and the rows to go by. */
const ADD_MS = SECOND_MS;
/** After Redis did not answer in time, nobody asks it for so long. */
const LET_ALONE_MS = 2 * SECOND_MS;
const LONGEST_RECONNECT_MS = 2 * SECOND_MS;
/** A job whose process died is given to another one after this, and at most twice this. */
const LOCK_MS = 15 * SECOND_MS;
/** How often that may happen to one job. Its rows are found by who sweeps. */
const MOST_STALLS = 3;
const STOP_MS = 5 * SECOND_MS;

/**
 * Jobs by BullMQ: a queue of each kind, whose jobs are ids. What they are about stands in rows, so a job that is lost,
 * done twice, or of something that has ended, does no harm.
 *
 * Two connections and one more for each kind: additions must fail at once while Redis is away, and those who wait for jobs
 * must wait, each on a connection of its own.
 */
export async function createRedisJobs(deps: RedisJobsDeps): Promise<RedisJobs> {
  const { prefix, log, time } = deps;
  const [bullmq, ioredis] = await Promise.all([import("bullmq"), import("ioredis")]);
  const producer = new ioredis.Redis(deps.redisUrl, {
    retryStrategy,
    enableOfflineQueue: false,
    commandTimeout: LET_ALONE_MS,
    maxRetriesPerRequest: 0,
  });
  const consumer = new ioredis.Redis(deps.redisUrl, { retryStrategy, maxRetriesPerRequest: null });
  const troubles = reportOutages([producer, consumer], log);
  const queues = new Map<string, Queue>();
  const workers: Worker[] = [];
  let letAloneUntil = Number.NEGATIVE_INFINITY;
  let stopping = false;

  producer.once("ready", () => void checkRedisPolicy(producer, log));

  function queueOf(kind: string): Queue {
    const known = queues.get(kind);
    if (known) return known;
    const queue = new bullmq.Queue(kind, { connection: producer, prefix, skipMetasUpdate: true });
    queue.on("error", troubles.tell);
    queues.set(kind, queue);
    return queue;
  }

  async function add(kind: string, id: string, { delayMs = 0 } = {}): Promise<boolean> {
    if (stopping || producer.status !== "ready" || time.monotonic() < letAloneUntil) return false;
    const options = { jobId: jobId(id), delay: delayMs, removeOnComplete: true, removeOnFail: true };
    const added = queueOf(kind).add(kind, id, options);
    try {
      await time.deadline(ADD_MS, added, () => new Error("Redis is slow"));
      return true;
    } catch (error) {
      letAloneUntil = time.monotonic() + LET_ALONE_MS;
      added.catch(() => undefined);
      troubles.tell(error as Error);
      return false;
    }
  }

  return {
    add,

    work(kind, handle, { concurrency }) {
      const worker = new bullmq.Worker<string>(kind, ({ data }) => handle(data), {
        connection: consumer,
        prefix,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        maxStalledCount: MOST_STALLS,
        runRetryDelay: SECOND_MS,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      });
      worker.on("error", troubles.tell);
      worker.on("failed", (job, err) =>
        log.error({ err, kind, id: job?.data }, "a job failed; the next sweep picks up its work"),
      );
      workers.push(worker);
    },

    async stop() {
      stopping = true;
      // Who cannot say that a job has ended has nothing to wait for.
      const away = consumer.status !== "ready";
      const closed = Promise.all(workers.map((worker) => worker.close(away)));
      await time.within(away ? 0 : STOP_MS, closed);
      for (const connection of [producer, consumer]) connection.disconnect();
    },
  };
}

const retryStrategy = (times: number): number => Math.min(LONGEST_RECONNECT_MS, times * 100);

/** BullMQ keeps colons, and ids of digits alone, to itself. */
const jobId = (id: string): string => `id-${id.replaceAll(":", "-")}`;

/** Says once that Redis is away, and once that it is back, however many notice. */
function reportOutages(connections: Redis[], log: Logger) {
  let away = false;
  const tell = (error: Error): void => {
    if (!away)
      log.warn({ err: error }, "Redis takes no jobs; until it does, nodes find due work in the database");
    away = true;
  };
  for (const connection of connections) {
    connection.on("error", tell);
    connection.on("ready", () => {
      if (away) log.info("Redis takes jobs again");
      away = false;
    });
  }
  return { tell };
}
