import type { Logger } from "../log.ts";
import { partitionOf, type OwnershipWorker } from "../model/nodes/cluster.ts";
import type { Cancel, Time } from "../model/time.ts";
import type { Lease } from "../store/write/lease-fence.ts";

/** The partitions that this process has, as far as its own clock tells. Knows nothing of the database. */
export interface Holdings {
  owns(deviceId: number): boolean;
  /** Null: it is not this process's own. */
  epochOf(partition: number): number | null;
  size(): number;
  leases(): Lease[];
  /** True while something of a partition that went still ends: it is not taken again before. */
  isEnding(partition: number): boolean;
  /** These last until then by the monotonic clock. Others stay as they are. */
  renewed(leases: readonly Lease[], until: number): void;
  gained(leases: readonly Lease[], until: number): void;
  /** The database says that they are somebody else's, or over. Those held under another epoch stay. */
  lost(leases: readonly Lease[]): void;
  /**
   * Ends all work for them while they are still its own, at most for `withinMs`. Never rejects.
   *
   * @returns the leases that are left to be ended
   */
  handOver(partitions: readonly number[], withinMs: number): Promise<Lease[]>;
  follow(worker: OwnershipWorker): Cancel;
  /** Whoever goes on after this has nothing, whatever the database says. */
  close(): void;
}

interface Held {
  epoch: number;
  /** By the monotonic clock: long enough before the lease ends to close every connection. */
  until: number;
}

interface HoldingsDeps {
  time: Pick<Time, "after" | "monotonic" | "within">;
  log: Logger;
  /** Leases have run out because nobody could renew them. */
  onExpired(partitions: readonly number[]): void;
}

/** What a process has ends by its own clock, without anybody's help: also when it was stopped for a while. */
export function createHoldings({ time, log, onExpired }: HoldingsDeps): Holdings {
  const held = new Map<number, Held>();
  const workers = new Set<OwnershipWorker>();
  const { ending, end, tell } = createEnds(workers, log);
  let cancel: Cancel | null = null;

  const alive = (partition: number): Held | null => {
    const found = held.get(partition);
    return found !== undefined && found.until > time.monotonic() ? found : null;
  };

  function arm(): void {
    cancel?.();
    cancel = null;
    const first = Math.min(...Array.from(held.values(), ({ until }) => until));
    if (first !== Infinity) cancel = time.after(Math.max(0, first - time.monotonic()), expire);
  }

  function expire(): void {
    const over = [...held.keys()].filter((partition) => alive(partition) === null);
    if (over.length > 0) {
      drop(over);
      onExpired(over);
    }
    arm();
  }

  function drop(partitions: readonly number[]): void {
    for (const partition of partitions) held.delete(partition);
    void end(partitions);
  }

  return {
    owns: (deviceId) => alive(partitionOf(deviceId)) !== null,
    epochOf: (partition) => alive(partition)?.epoch ?? null,
    size: () => held.size,
    leases: () => Array.from(held, ([partition, { epoch }]) => ({ partition, epoch })),
    isEnding: (partition) => ending.has(partition),
    renewed(leases, until) {
      for (const { partition, epoch } of leases) {
        const found = held.get(partition);
        // One that has run out here stays so: its workers may have been told, or are about to be.
        if (found?.epoch === epoch && alive(partition) !== null) found.until = Math.max(found.until, until);
      }
      arm();
    },
    gained(leases, until) {
      for (const { partition, epoch } of leases) held.set(partition, { epoch, until });
      arm();
      const partitions = leases.map(({ partition }) => partition);
      for (const worker of workers) void tell(() => worker.gained(partitions));
    },
    lost(leases) {
      const ours = leases.filter(({ partition, epoch }) => held.get(partition)?.epoch === epoch);
      if (ours.length > 0) drop(ours.map(({ partition }) => partition));
      arm();
    },
    async handOver(partitions, withinMs) {
      await time.within(withinMs, end(partitions));
      const left = partitions.flatMap((partition) => {
        const found = held.get(partition);
        return found === undefined ? [] : [{ partition, epoch: found.epoch }];
      });
      for (const partition of partitions) held.delete(partition);
      arm();
      return left;
    },
    follow(worker) {
      workers.add(worker);
      const mine = [...held.keys()].filter((partition) => alive(partition) !== null);
      if (mine.length > 0) void tell(() => worker.gained(mine));
      return () => workers.delete(worker);
    },
    close() {
      held.clear();
      arm();
    },
  };
}

/** Tells workers what is theirs no more, and knows what of it still ends. */
function createEnds(workers: ReadonlySet<OwnershipWorker>, log: Logger) {
  /** How many ends of each partition are not through. */
  const ending = new Map<number, number>();

  async function tell(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (err) {
      log.error({ err }, "could not apply the change of a lease");
    }
  }

  /** Workers are told before anything else happens; resolves when all of them are through. */
  async function end(partitions: readonly number[]): Promise<void> {
    for (const partition of partitions) ending.set(partition, (ending.get(partition) ?? 0) + 1);
    await Promise.all(Array.from(workers, (worker) => tell(() => worker.lost(partitions))));
    for (const partition of partitions) {
      const left = ending.get(partition)! - 1;
      if (left === 0) ending.delete(partition);
      else ending.set(partition, left);
    }
  }

  return { ending, end, tell };
}
