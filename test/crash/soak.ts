import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom, type Random } from "../../src/simulator/inside.ts";
import { atRest } from "../../src/demo/judge/at-rest.ts";
import { judge, type Mark, type Verdict } from "../../src/demo/judge/judge.ts";
import {
  createContact,
  createCustomer,
  createMischief,
  createPublisher,
  type Actor,
} from "./soak-actions.ts";
import { openTruth, type Truth } from "./truth/truth.ts";
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
  /** Folder for what is there when something is wrong: data, what the gateway wrote, the webhook's calls. Default: none. */
  keep?: string | undefined;
  /** Folder of the built console: what it shows in a browser is compared, too. Default: it is not looked at. */
  console?: string | undefined;
  /** Told after each round. */
  onRound?: (report: SoakReport) => void;
}

export type SoakReport = Omit<Verdict, "mark"> & {
  kills: number;
  seconds: number;
  /** Until the gateway was ready, the longest of all starts. */
  slowestStartS: number;
  /** Messages that the console showed as they are. */
  shown: number;
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
  const more: Record<string, string> = options.console === undefined ? {} : { CONSOLE_DIR: options.console };
  const world = await openSoakWorld(seed, options.entry, more);
  const random = seededRandom(`soak ${seed}`);
  let truth: Truth | null = null;
  const marks = new Map<string, Mark>();
  const nothing = { messages: 0, lost: 0, duplicated: 0, outOfOrder: 0, repeated: 0, shown: 0 };
  const report: SoakReport = { ...nothing, kills: 0, seconds: 0, slowestStartS: 0, done: {}, problems: [] };
  try {
    truth = options.console === undefined ? null : await openTruth(world);
    const actors = [...createActors(world, random), ...(truth?.actors ?? [])];
    while (report.kills < kills && Date.now() - started < minutes * 60_000) {
      const planned = Math.min(killsPerRound, kills - report.kills);
      const killedAt = await storm(world, actors, random, planned, report);
      await calm(world);
      for (const { accepted } of world.numbers) truth?.sent(accepted);
      for (const number of world.numbers)
        add(report, await judgeNumber(world, number, marks, { kills: killedAt, keep: options.keep }));
      const seen = await truth?.look();
      report.shown += seen?.shown ?? 0;
      report.problems.push(...(seen?.problems ?? []));
      report.slowestStartS = world.gateway.slowestStartMs / 1000;
      report.seconds = Math.round((Date.now() - started) / 1000);
      options.onRound?.(report);
    }
    return report;
  } finally {
    await truth?.close();
    await world.close();
  }
}

const COUNTS = ["messages", "lost", "duplicated", "outOfOrder", "repeated"] as const;

/** One line for people. */
export function soakLine(report: SoakReport): string {
  const { kills, messages, lost, duplicated, outOfOrder, repeated, shown, seconds, slowestStartS } = report;
  const faults = Object.entries(report.done)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} × ${name}`)
    .join(", ");
  return (
    `${kills} kills, ${messages} messages: ${lost} lost, ${duplicated} duplicated, ${outOfOrder} out of order, ` +
    `${repeated} repeated under their id; ${shown > 0 ? `${shown} shown as they are; ` : ""}slowest start ${slowestStartS.toFixed(1)} s; ${seconds} s\n  ${faults}`
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

/** Everybody acts while the gateway dies `kills` times. @returns when, Unix milliseconds */
async function storm(
  world: SoakWorld,
  actors: Actor[],
  random: Random,
  kills: number,
  report: SoakReport,
): Promise<number[]> {
  const { gateway } = world;
  const killedAt: number[] = [];
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
      killedAt.push(Date.now());
      await gateway.restart();
    }
  };
  try {
    await Promise.race([killing(), Promise.all(acting)]);
  } finally {
    state.over = true;
  }
  await Promise.all(acting);
  return killedAt;
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

async function judgeNumber(
  world: SoakWorld,
  number: SoakNumber,
  marks: Map<string, Mark>,
  { kills, keep }: { kills: number[]; keep: string | undefined },
): Promise<Verdict> {
  const script = {
    numbers: [number.number],
    replies: repliesDue,
    sends: number.sends,
    accepted: number.accepted,
    events: number.hook.events,
    accepts: true,
    kills,
    channels: number.channels,
    ordered: number.ordered,
    since: marks.get(number.number),
  };
  const look = () => judge({ sim: world.sim, dataDir: world.gateway.dataDir }, script);
  const verdict = await atRest(look, QUIET_WITHIN_MS);
  if (verdict.problems.length > 0 && keep !== undefined) keepEvidence(world, number, verdict, keep);
  marks.set(number.number, verdict.mark);
  Object.assign(number, { accepted: [], sends: 0 });
  number.hook.events.length = 0;
  return verdict;
}

/** What is wrong is found out later, when nothing of it can be done again. */
function keepEvidence({ gateway }: SoakWorld, { number, hook }: SoakNumber, verdict: Verdict, keep: string) {
  const folder = join(keep, `${number}-${verdict.mark.seq}`);
  mkdirSync(folder, { recursive: true });
  cpSync(gateway.dataDir, join(folder, "data"), { recursive: true });
  writeFileSync(join(folder, "gateway.log"), gateway.output());
  writeFileSync(join(folder, "found.json"), JSON.stringify({ verdict, calls: hook.events }, null, 2));
}

function add(report: SoakReport, verdict: Verdict): void {
  for (const name of COUNTS) report[name] += verdict[name];
  report.problems.push(...verdict.problems);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
