import type { Logger } from "../log.ts";
import { loginsPerSecond } from "../model/nodes/cluster.ts";
import { SECOND_MS, type Time } from "../model/time.ts";
import { giftsOf, giversAndHeirs, inTurn, shareOf, staying, type Gift, type Situation } from "./balance.ts";
import type { Holdings } from "./holdings.ts";
import type { LeaseTable } from "./lease-table.ts";

/** Pauses between two gifts. What is given at once is away until all of it has been closed here and logged in there. */
const GIVE_EVERY_MS = SECOND_MS / 4;

/** Gives away what a node has beyond its share, a few numbers at a time. */
export interface Giving {
  /** After each look. Does nothing while it still gives. */
  consider(situation: Situation): void;
  /** Gives everything that is left, at once. */
  all(situation: Situation): Promise<void>;
  /** It has been let go here, and the database has not heard of it: it is not to be taken back as if it had been forgotten. */
  isGiving(partition: number): boolean;
  /** Milliseconds until there is more to give; Infinity: nothing is too much. */
  nextMs(): number;
  /** Begins nothing any more; resolves when what it gives is given. */
  stop(): Promise<void>;
}

interface GivingDeps {
  table: Pick<LeaseTable, "free">;
  holdings: Pick<Holdings, "handOver" | "leases">;
  time: Pick<Time, "monotonic">;
  log: Logger;
  numbersIn(partition: number): number;
  /** How long the work of partitions may take to end. */
  endingMs: number;
  /** They are free in the database. */
  freed(partitions: number[]): void;
}

export function createGiving(deps: GivingDeps): Giving {
  const { table, holdings, time, log, numbersIn, endingMs } = deps;
  /** Not ours any more, and in the database still ours. */
  const given = new Set<number>();
  let running: Promise<void> | null = null;
  let stopped = false;
  let more = false;
  /** Numbers that may change hands now, and when that was reckoned. */
  let budget = 0;
  let reckonedAt = -Infinity;

  /** Nobody is given numbers faster than they log in there: until then they are answered here. */
  function refill(situation: Situation): void {
    const now = time.monotonic();
    const { givers, heirs } = giversAndHeirs(situation);
    const perSecond = (loginsPerSecond(staying(situation.look).length) * heirs) / givers;
    const most = (perSecond * GIVE_EVERY_MS) / SECOND_MS;
    budget = Math.min(most, budget + ((now - reckonedAt) / SECOND_MS) * perSecond);
    reckonedAt = now;
  }

  function giftsWithin({ node, look, held }: Situation, budgetOfNow: number): Gift[] {
    const mine = inTurn(holdings.leases().map(({ partition }) => partition));
    return giftsOf({ node, look, held }, mine, numbersIn, budgetOfNow);
  }

  async function give(gift: Gift): Promise<void> {
    for (const partition of gift.partitions) given.add(partition);
    await handTo(gift).finally(() => {
      for (const partition of gift.partitions) given.delete(partition);
    });
  }

  async function handTo({ heir, partitions }: Gift): Promise<void> {
    const leases = await holdings.handOver(partitions, endingMs);
    if (leases.length === 0) return;
    try {
      await table.free(leases, heir);
    } catch (err) {
      // Nobody renews them any more: they end by themselves.
      log.warn(
        { err, partitions: leases.length },
        "giving numbers to another node has taken as long as a lease",
      );
      return;
    }
    deps.freed(leases.map(({ partition }) => partition));
    log.info({ to: heir, partitions: leases.length }, "this node has given numbers to another");
  }

  async function giveAll(gifts: Gift[]): Promise<void> {
    await Promise.all(gifts.map(give));
  }

  return {
    consider(situation) {
      const names = staying(situation.look);
      const surplus = situation.held - shareOf(situation.node, names);
      more = surplus > 0 && names.some((name) => name !== situation.node);
      if (!more || running !== null || stopped) return;
      refill(situation);
      const gifts = giftsWithin(situation, budget);
      if (gifts.length === 0) return;
      for (const { partitions } of gifts) for (const partition of partitions) budget -= numbersIn(partition);
      running = giveAll(gifts).finally(() => (running = null));
    },
    async all(situation) {
      await running;
      await giveAll(giftsWithin(situation, Infinity));
    },
    isGiving: (partition) => given.has(partition),
    nextMs: () => (more ? GIVE_EVERY_MS : Infinity),
    async stop() {
      stopped = true;
      await running;
    },
  };
}
