import type { Logger } from "../log.ts";
import { defineTopic, partitionOf, type Bus, type Ownership } from "../model/nodes/cluster.ts";
import type { Time } from "../model/time.ts";
import type { Lease, LeaseHolder } from "../store/write/lease-fence.ts";
import { staying, wantedBy, type Situation } from "./balance.ts";
import { createGiving } from "./giving.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { createHoldings } from "./holdings.ts";
import { RESERVED, type LeaseTable, type Look, type NodeFacts } from "./lease-table.ts";
import { nameIsTaken, takeName } from "./name.ts";
import { createView } from "./view.ts";

/** This process as one of the nodes that share a database. */
export interface Member {
  readonly ownership: Ownership;
  /** Who tells the writer under which leases it writes. */
  readonly holder: LeaseHolder;
  /** What is asked while it runs, for its own row. Until then it has no numbers. */
  portrayed(portrait: Portrait): void;
  /**
   * Takes the name, and hears from now on of leases that move.
   *
   * @throws {StartError} when a process that runs has the name
   */
  enter(bus: Pick<Bus, "tell" | "listen" | "onGap">): Promise<void>;
  /** Takes partitions, and renews them from now on. Resolves after the first look. */
  start(): Promise<void>;
  /** Gives everything to the other nodes, at the pace at which they log in, and serves what it still has meanwhile. */
  handOver(withinMs: number): Promise<void>;
  /** Lets go of what is left, and of the name. Connections are closed before that. */
  stop(): Promise<void>;
}

/** What a node says of itself. */
export interface Portrait {
  /** Records of all numbers that it knows of, also those that it does not have. */
  deviceIds(): Iterable<number>;
  /** The longest time that its event loop stood still lately. */
  lagMs(): number;
}

export interface MemberDeps {
  node: string;
  /** Where the other nodes reach it; null: nowhere. */
  url: string | null;
  version: string;
  leaseMs: number;
  table: LeaseTable;
  time: Time;
  log: Logger;
  /** Another process has its name: this one has nothing any more, and is to end. */
  onNameTaken(): void;
}

/** Which leases have changed hands: whoever hears it need not wait until it looks by itself. */
const MOVED = defineTopic<{ node: string; taken?: number[]; freed?: number[] }>("leases");

// Parts of a lease. By its own clock a node lets go this much before the database does, so that connections can close.
const MARGIN = 1 / 6;
const ENDING = 1 / 5;
/** Until it looks again when others were faster. */
const AGAIN = 1 / 50;
/** How often it is looked whether everything has been handed over. */
const HAND_OVER_LOOK_MS = 20;

/** A database that does not answer keeps nobody from ending. */
const LEAVING_MS = 3_000;

/** Joins what a node has with what the database says of it. */
export function createMember(deps: MemberDeps): Member {
  const { node, leaseMs, table, time, log } = deps;
  const outage = createOutage(log);
  const holdings = createHoldings({ time, log, onExpired: outage.expired });
  const giving = createGiving({
    table,
    holdings,
    time,
    log,
    numbersIn: (partition) => numbersIn.get(partition) ?? 0,
    endingMs: leaseMs * ENDING,
    freed(partitions) {
      bus?.tell(MOVED, { node, freed: partitions });
      heartbeat.hurry();
    },
  });
  const heartbeat = createHeartbeat({ leaseMs, time, log, beat });
  const view = createView(time, leaseMs);
  let portrait: Portrait = { deviceIds: () => [], lagMs: () => 0 };
  /** Of each partition, counted at every look. */
  let numbersIn = new Map<number, number>();
  let bus: Pick<Bus, "tell" | "listen" | "onGap"> | null = null;
  /** Also before the start: whoever is not at work yet is given nothing. */
  let leaving = true;
  let entered = false;
  /** Whatever is answered now is of no interest. */
  let ended = false;
  let taking = false;

  const facts = (): NodeFacts => ({
    url: deps.url,
    version: deps.version,
    leaving,
    numbers: holdings.leases().reduce((sum, { partition }) => sum + (numbersIn.get(partition) ?? 0), 0),
    lagMs: portrait.lagMs(),
  });
  /** By the monotonic clock, counted from before the request was sent. */
  const safeUntil = (sentAt: number): number => sentAt + leaseMs * (1 - MARGIN);
  const situation = (look: Look): Situation => ({ node, look, held: holdings.size() });

  async function beat(): Promise<number> {
    numbersIn = countByPartition(portrait.deviceIds());
    const held = holdings.leases();
    const sentAt = time.monotonic();
    const look = await table.beat(held, facts());
    if (ended) return Infinity;
    if (!look.nameKept) return nameTaken();
    outage.over();
    holdings.renewed(look.renewed, safeUntil(sentAt));
    const renewed = new Set(look.renewed.map(({ partition }) => partition));
    refused(held.filter(({ partition }) => !renewed.has(partition)));
    view.note(look);
    // A look that is late may still be taking: what it takes would look like nobody's.
    const soon = leaving || taking ? Infinity : await take(look).finally(() => (taking = false));
    giving.consider(situation(look));
    return Math.min(soon, view.nextEndMs(), giving.nextMs());
  }

  /** @returns milliseconds until another look is worth it: some of what it wanted went to somebody else */
  async function take(look: Look): Promise<number> {
    const wanted = wantedBy(situation(look), {
      isOurs: (partition) =>
        holdings.epochOf(partition) !== null || holdings.isEnding(partition) || giving.isGiving(partition),
      heirMs: leaseMs * RESERVED,
      onlyFormer: heartbeat.isRecovering(),
      isOrphan: view.isOrphan,
    });
    if (wanted.length === 0) return Infinity;
    taking = true;
    const sentAt = time.monotonic();
    const taken = await table.take(wanted);
    const nextMs = taken.length < wanted.length ? leaseMs * AGAIN : Infinity;
    if (ended || taken.length === 0) return nextMs;
    const partitions = taken.map(({ partition }) => partition);
    view.moved(partitions, node);
    bus?.tell(MOVED, { node, taken: partitions });
    log.info({ partitions: partitions.length }, "this node has taken numbers");
    holdings.gained(taken, safeUntil(sentAt));
    return nextMs;
  }

  /** Leases that the database says are not ours any more. */
  function refused(leases: readonly Lease[]): void {
    const believed = leases.filter(({ partition, epoch }) => holdings.epochOf(partition) === epoch);
    if (believed.length > 0) sayLost(log, believed.length);
    holdings.lost(leases);
  }

  function nameTaken(): number {
    log.error({ node }, nameIsTaken(node));
    holdings.lost(holdings.leases());
    entered = false;
    ended = true;
    void heartbeat.stop();
    deps.onNameTaken();
    return Infinity;
  }

  async function handOver(withinMs: number): Promise<void> {
    leaving = true;
    heartbeat.hurry();
    const until = time.monotonic() + withinMs;
    const hasHeirs = (): boolean => view.look !== null && staying(view.look).some((name) => name !== node);
    while (holdings.size() > 0 && hasHeirs() && time.monotonic() < until) await time.pause(HAND_OVER_LOOK_MS);
    if (hasHeirs()) await giving.all(situation(view.look!));
  }

  return {
    holder: { epochOf: holdings.epochOf, refused },
    ownership: {
      owns: holdings.owns,
      ownerOf(deviceId) {
        if (holdings.owns(deviceId)) return node;
        const owner = view.ownerOf(partitionOf(deviceId));
        return owner === node ? null : owner;
      },
      nodes: () => Math.max(1, view.look === null ? 1 : staying(view.look).length),
      follow: holdings.follow,
    },
    portrayed: (given) => void (portrait = given),
    async enter(given) {
      await table.prepare();
      await takeName(deps, facts());
      entered = true;
      bus = given;
      bus.onGap(heartbeat.hurry);
      bus.listen(MOVED, ({ node: other, taken = [], freed = [] }) => {
        view.moved(taken, other);
        view.moved(freed, null);
        if (freed.length > 0) heartbeat.hurry();
      });
    },
    start() {
      leaving = false;
      return heartbeat.start();
    },
    handOver,
    async stop() {
      leaving = true;
      await Promise.all([heartbeat.stop(), giving.stop()]);
      ended = true;
      const left = holdings.leases();
      holdings.close();
      if (!entered) return;
      // Whatever does not come about now, time does.
      const freed = table.free(left, null).then(() => table.leave());
      await time.within(
        LEAVING_MS,
        freed.then(() => bus?.tell(MOVED, { node, freed: left.map(({ partition }) => partition) })),
      );
    },
  };
}

function countByPartition(deviceIds: Iterable<number>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const id of deviceIds) counts.set(partitionOf(id), (counts.get(partitionOf(id)) ?? 0) + 1);
  return counts;
}

/** Says once of an outage that leases have run out. What a look took lasts longer than what it renewed. */
function createOutage(log: Logger): { expired(partitions: readonly number[]): void; over(): void } {
  let said = false;
  return {
    expired(partitions) {
      if (said) return;
      said = true;
      log.error(
        { partitions: partitions.length },
        "this node could not renew its leases in time and has closed its numbers so that other nodes can take them: check that DATABASE_URL answers from this machine and that the machine is not overloaded",
      );
    },
    over: () => void (said = false),
  };
}

function sayLost(log: Logger, partitions: number): void {
  log.warn(
    { partitions },
    "this node was silent for longer than a lease, and other nodes have taken numbers of it; it has closed them",
  );
}
