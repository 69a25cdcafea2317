import type { Random } from "../../src/simulator/inside.ts";
import { until } from "../crash/apart.ts";
import { atRest } from "../../src/demo/judge/at-rest.ts";
import { judge, type Mark, type Verdict } from "../../src/demo/judge/judge.ts";
import { repliesDue } from "../crash/soak-world.ts";
import type { ClusterNode } from "./cluster.ts";
import { staleWrites, watchStaleWrites } from "./stale.ts";
import { longestWaits } from "./waits.ts";
import type { ClusterWorld } from "./world.ts";

/** Something that goes wrong, and is mended, while people write. */
export interface Fault {
  /** Names the row. */
  name: string;
  /** What happens, in words. */
  what: string;
  /**
   * While the database is away, a line with a receipt whose state cannot be stored is closed without its acknowledgement:
   * WhatsApp brings it again. In other faults that breaks a rule.
   */
  database?: true;
  /** Resolves when everything is whole again. */
  run(strike: Strike): Promise<void>;
}

/** What faults are given. */
export interface Strike extends ClusterWorld {
  random: Random;
  /** How long a lease lasts, milliseconds. */
  leaseMs: number;
  /** Numbers of a node at the moment. */
  ownedBy(node: ClusterNode): Promise<string[]>;
  /** It has happened now: everybody asks something. Their waits are measured from here. @param hit whom it has hit; default: all */
  struck(hit?: string[]): Promise<void>;
  /** Everybody that was hit has an answer to what was asked at the strike, or nobody gets any more within a while. */
  answered(withinMs?: number): Promise<void>;
  /** Something of the drill's own that is wrong. */
  problem(what: string): void;
}

/** What came of one fault. */
export interface Row extends Omit<Verdict, "mark"> {
  fault: string;
  what: string;
  /** Rows that were written for a number by a node that had lost it. */
  stale: number;
  /** Requests that failed for their callers, who asked again. */
  failed: number;
  failures: string[];
  /** Of the numbers that it hit: how long the longest wait of each number's contact was, seconds. */
  medianS: number;
  maxS: number;
  hit: number;
  seconds: number;
}

export interface DrillOptions {
  world: ClusterWorld;
  faults: Fault[];
  random: Random;
  leaseMs: number;
  /** Messages and sends in a second. */
  perSecond: number;
  onRow(row: Row): void;
}

const WARM_MS = 3_000;
const ANSWERED_WITHIN_MS = 120_000;
const STILL_MS = 60_000;
const WHOLE_WITHIN_MS = 180_000;
const RECEIPT = /^receipt /;
const OWNERS = `SELECT d.number FROM devices d JOIN leases l ON l.p = d.id % 256
WHERE l.until > unixepoch('subsec') * 1000 AND l.node = `;

/** Phones that were linked a moment ago still send what they have, and everybody meets for the first time: that is no fault's. */
const WARM_UP: Fault = {
  name: "warm-up",
  what: "nothing: everybody writes for the first time",
  async run(strike) {
    await strike.struck();
    await strike.answered();
  },
};

/** Before the first fault. What is wrong already is told as a row. */
export async function warmUp(options: DrillOptions): Promise<void> {
  await watchStaleWrites(options.world.cluster.database);
  const row = await runFault(WARM_UP, options);
  if (row.problems.length > 0) options.onRow(row);
}

/** Every fault, one after the other, each judged when all has come to rest. */
export async function runDrill(options: DrillOptions): Promise<Row[]> {
  const rows: Row[] = [];
  await watchStaleWrites(options.world.cluster.database);
  for (const fault of options.faults) {
    const row = await runFault(fault, options);
    rows.push(row);
    options.onRow(row);
  }
  return rows;
}

async function runFault(fault: Fault, options: DrillOptions): Promise<Row> {
  const { world } = options;
  const mark = world.judged;
  const began = Date.now();
  const problems: string[] = [];
  const strike = createStrike(options, fault, problems);
  const endTraffic = world.startTraffic(options.perSecond);
  await pause(WARM_MS);
  strike.since = Date.now();
  const seen = (await world.cluster.sim.violations()).length;
  try {
    await fault.run(strike);
    await pause(WARM_MS);
  } catch (error) {
    problems.push(`the drill itself failed: ${(error as Error).message}`);
  }
  await endTraffic().catch((error: Error) => problems.push(error.message));
  await whole(world).catch((error: Error) => problems.push(error.message));
  const verdict = await judgeAll(world, mark, seen, fault);
  const waits = await longestWaits(world.cluster.sim, world.cluster.database.rows, mark, strike.since);
  const hit = strike.hit.map((number) => waits.get(number)).filter((ms) => ms !== undefined);
  const stale = await staleWrites(world.cluster.database);
  const { mark: end, ...counts } = verdict;
  world.judged = end;
  return {
    fault: fault.name,
    what: fault.what,
    ...counts,
    problems: [...problems, ...stale, ...verdict.problems],
    stale: stale.length,
    failed: world.balancer.failures.length,
    failures: world.balancer.failures.splice(0),
    medianS: median(hit) / 1_000,
    maxS: Math.max(0, ...hit) / 1_000,
    hit: hit.length,
    seconds: Math.round((Date.now() - began) / 1_000),
  };
}

type Measured = Strike & { since: number; hit: string[] };

function createStrike({ world, random, leaseMs }: DrillOptions, fault: Fault, problems: string[]): Measured {
  const { sim, database } = world.cluster;
  const everybody = world.numbers.map(({ number }) => number);
  let question = "";
  let begin = 0;
  const strike: Measured = {
    ...world,
    random: random.fork(fault.name),
    leaseMs,
    since: 0,
    hit: everybody,
    ownedBy: async ({ part }) =>
      (await database.rows<{ number: string }>(`${OWNERS}'${part.name}'`)).map(({ number }) => number),
    async struck(hit = everybody) {
      [strike.since, strike.hit] = [Date.now(), hit];
      begin = (await sim.transcript()).at(-1)?.seq ?? 0;
      question = `ask ${fault.name} ${strike.since}`;
      await Promise.all(
        world.numbers
          .filter(({ number }) => hit.includes(number))
          .map(({ contact, number }) => sim.sendText(contact, number, question)),
      );
    },
    async answered(withinMs = ANSWERED_WITHIN_MS) {
      const missing = new Set(strike.hit);
      const look = async (): Promise<boolean> => {
        const entries = await sim.transcript({ since: begin, direction: "to_contact" });
        for (const { from, text } of entries) if (text?.includes(question)) missing.delete(from);
        return missing.size === 0;
      };
      await until("everybody is answered", look, withinMs).catch(() =>
        problems.push(`${missing.size} numbers did not answer within ${withinMs / 1_000} s`),
      );
    },
    problem: (what) => void problems.push(what),
  };
  return strike;
}

/** Every part runs, every node is ready, every number is connected. */
async function whole({ cluster, numbers }: ClusterWorld): Promise<void> {
  const parts = [cluster.database.part, cluster.redis.part, ...cluster.nodes.map(({ part }) => part)];
  for (const { pid, name } of parts) if (pid === 0) throw new Error(`${name} does not run`);
  for (const { number } of numbers)
    await until(`${number} is online`, () => cluster.sim.online(number), WHOLE_WITHIN_MS);
}

async function judgeAll(
  world: ClusterWorld,
  mark: Mark | undefined,
  seen: number,
  fault: Fault,
): Promise<Verdict> {
  const { sim, database } = world.cluster;
  const script = {
    numbers: world.numbers.map(({ number }) => number),
    replies: repliesDue,
    sends: world.sends,
    accepted: world.accepted.splice(0),
    events: world.numbers.flatMap(({ hook }) => hook.events.splice(0)),
    accepts: true,
    since: mark,
  };
  const evidence = {
    transcript: sim.transcript,
    pending: sim.pending,
    channelPosts: sim.channelPosts,
    violations: async () =>
      (await sim.violations())
        .slice(seen)
        .filter(({ rule, detail }) => !(fault.database && rule === "missing_ack" && RECEIPT.test(detail))),
  };
  const look = () => judge({ sim: evidence, rows: database.rows }, script);
  const verdict = await atRest(look, STILL_MS);
  for (const { number, hook } of world.numbers) {
    if (hook.unsigned > 0)
      verdict.problems.push(`${hook.unsigned} events of ${number} had no valid signature`);
    hook.unsigned = 0;
  }
  world.sends = 0;
  return verdict;
}

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
