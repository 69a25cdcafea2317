import { seededRandom, type Random } from "../../src/simulator/inside.ts";
import { judge, type Mark, type Verdict } from "./judge.ts";
import {
  createContact,
  createCustomer,
  createMischief,
  createPublisher,
  type Actor,
} from "./soak-actions.ts";
import { openSoakWorld, repliesDue, type SoakNumber, type SoakWorld } from "./soak-world.ts";

export interface SoakOptions {
  seed: string;
  kills: number;
  /** Ends after the round in which they are over. Default: no limit. */
  minutes?: number;
  /** Kills between two judgements. Default 10. */
  killsPerRound?: number;
  /** The gateway's build. Default: the test build of the present sources. */
  entry?: string;
  /** Told after each round. */
  onRound?: (report: SoakReport) => void;
}

export type SoakReport = Omit<Verdict, "mark"> & {
  kills: number;
  seconds: number;
  /** How often each thing was done. */
  done: Record<string, number>;
};

const LONGEST_LIFE_MS = 2_000;
const LONGEST_PAUSE_MS = 1_000;
const QUIET_WITHIN_MS = 120_000;

/**
 * Kills the gateway again and again at random moments while people write everything that can be written, sockets break and
 * the service repeats itself; then everything comes to rest and is judged. What is done and how long is waited comes from
 * the seed; what it meets in the gateway is a matter of time, and differs.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { seed, kills, minutes = Infinity, killsPerRound = 10 } = options;
  const started = Date.now();
  const world = await openSoakWorld(seed, options.entry);
  const random = seededRandom(`soak ${seed}`);
  const actors = createActors(world, random);
  const marks = new Map<string, Mark>();
  const nothing = { messages: 0, lost: 0, duplicated: 0, outOfOrder: 0, repeated: 0 };
  const report: SoakReport = { ...nothing, kills: 0, seconds: 0, done: {}, problems: [] };
  try {
    while (report.kills < kills && Date.now() - started < minutes * 60_000) {
      const planned = Math.min(killsPerRound, kills - report.kills);
      await storm(world, actors, random, planned, report);
      await calm(world);
      for (const number of world.numbers) add(report, await judgeNumber(world, number, marks));
      report.seconds = Math.round((Date.now() - started) / 1000);
      options.onRound?.(report);
    }
    return report;
  } finally {
    await world.close();
  }
}

const COUNTS = ["messages", "lost", "duplicated", "outOfOrder", "repeated"] as const;

/** One line for people. */
export function soakLine(report: SoakReport): string {
  const { kills, messages, lost, duplicated, outOfOrder, repeated, seconds } = report;
  const faults = Object.entries(report.done)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} × ${name}`)
    .join(", ");
  return (
    `${kills} kills, ${messages} messages: ${lost} lost, ${duplicated} duplicated, ${outOfOrder} out of order, ` +
    `${repeated} repeated under their id; ${seconds} s\n  ${faults}`
  );
}

function createActors(world: SoakWorld, random: Random): Actor[] {
  return [
    ...world.contacts.map((person) => createContact(world, person, random.fork(`contact ${person}`))),
    createCustomer(world, random.fork("customer")),
    createPublisher(world),
    createMischief(world, random.fork("mischief")),
  ];
}

/** Everybody acts while the gateway dies `kills` times. */
async function storm(
  world: SoakWorld,
  actors: Actor[],
  random: Random,
  kills: number,
  report: SoakReport,
): Promise<void> {
  const { gateway } = world;
  const round = random.fork(`round ${report.kills}`);
  const state = { over: false };
  const acting = actors.map(async (actor, index) => {
    const own = round.fork(`actor ${index}`);
    while (!state.over) {
      const name = await actor.act();
      if (name !== null) report.done[name] = (report.done[name] ?? 0) + 1;
      await pause(own.integer(LONGEST_PAUSE_MS));
    }
  });
  const killing = async (): Promise<void> => {
    for (let i = 0; i < kills; i++) {
      await pause(round.integer(LONGEST_LIFE_MS));
      const { signal } = await gateway.kill();
      if (signal !== "SIGKILL")
        throw new Error(`The gateway ended by itself:\n${gateway.output().slice(-4000)}`);
      report.kills++;
      await gateway.restart();
    }
  };
  try {
    await Promise.race([killing(), Promise.all(acting)]);
  } finally {
    state.over = true;
  }
  await Promise.all(acting);
}

/** Nothing goes wrong any more, and what is under way ends. */
async function calm(world: SoakWorld): Promise<void> {
  await world.sim.faults.clear();
  for (const { number } of world.numbers) await world.online(number, QUIET_WITHIN_MS);
  await world.allSent();
  let least = Infinity;
  let since = Date.now();
  for (;;) {
    const { numbers, sim, gateway } = world;
    const counts = await Promise.all(numbers.map(({ number }) => sim.pending(number)));
    const waiting = counts.reduce((sum, count) => sum + count, 0);
    if (waiting === 0) return;
    if (waiting < least) [least, since] = [waiting, Date.now()];
    // A slow machine may take its time, as long as it gets on.
    if (Date.now() - since > QUIET_WITHIN_MS)
      throw new Error(
        `Stanzas are not acknowledged (${counts.join(", ")}). The gateway wrote:\n${gateway.output().slice(-4000)}`,
      );
    await pause(200);
  }
}

/** Again and again until nothing is wrong, or no longer: what is under way looks like something lost. */
async function judgeNumber(world: SoakWorld, number: SoakNumber, marks: Map<string, Mark>): Promise<Verdict> {
  const script = {
    numbers: [number.number],
    replies: repliesDue,
    sends: number.sends,
    accepted: number.accepted,
    events: number.hook.events,
    channels: number.channels,
    ordered: number.ordered,
    since: marks.get(number.number),
  };
  const look = () => judge({ sim: world.sim, dataDir: world.gateway.dataDir }, script);
  const deadline = Date.now() + QUIET_WITHIN_MS;
  let verdict = await look();
  while (verdict.problems.length > 0 && Date.now() < deadline) {
    await pause(500);
    verdict = await look();
  }
  marks.set(number.number, verdict.mark);
  Object.assign(number, { accepted: [], sends: 0 });
  number.hook.events.length = 0;
  return verdict;
}

function add(report: SoakReport, verdict: Verdict): void {
  for (const name of COUNTS) report[name] += verdict[name];
  report.problems.push(...verdict.problems);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
