import { RUNTIMES, runtimeProgram, type Runtime } from "../_setup/runtimes.ts";
import { execFileSync } from "node:child_process";
import { measure, median, range, type Round } from "./figures.ts";
import { startSimulatorProcess } from "./processes.ts";
import { roundTrips } from "./round-trips.ts";
import { startBare, startMeasured, type Extent, type Measured } from "./targets/chats.ts";

const BARE_RUNS_ON: Runtime = "node-20";
const BARE = "31600000003";

interface Row {
  name: string;
  measured: Measured;
  rounds: Round[];
}

/**
 * `npm run bench -- --runtimes`: the main work (text → bot → reply) on each version of Node and on Bun, beside the bare
 * script on Node 20. Rounds alternate; medians.
 */
export async function benchRuntimes({ rounds, messages, chats }: Extent): Promise<void> {
  const running = await startSimulatorProcess("runtimes");
  const rows: Row[] = [];
  for (const [index, runtime] of RUNTIMES.entries()) {
    const program = await runtimeProgram(runtime);
    const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim().replace(/^v/, "");
    const name = `${runtime === "bun" ? "Bun" : "Node"} ${version}`;
    rows.push({ name, measured: await startMeasured(running, index + 1, program), rounds: [] });
  }
  const bare = await startBare(running, await runtimeProgram(BARE_RUNS_ON));
  console.log(
    `${rounds} rounds of ${messages} after a warm-up, medians; the bare script on ${rows[0]!.name}`,
  );
  for (const size of [1, chats]) {
    const people = await Promise.all(
      [...rows, null].map((_, index) => running.sim.addContacts(size, { prefix: `4915${index}${size}0` })),
    );
    const ofBare: Round[] = [];
    for (const row of rows) row.rounds = [];
    for (let round = -1; round < rounds; round++) {
      const count = round < 0 ? Math.max(size * 2, 200) : messages;
      const run = (child: Measured["gateway"]["child"], index: number, number: string): Promise<Round> =>
        measure(child, count, () => roundTrips(running.sim, people[index]!, number, "ping", count));
      const forBare = await run(bare.child, rows.length, BARE);
      if (round >= 0) ofBare.push(forBare);
      for (const [index, row] of rows.entries()) {
        const result = await run(row.measured.gateway.child, index, row.measured.forBots);
        if (round >= 0) row.rounds.push(result);
      }
    }
    console.log(size === 1 ? "One chat" : `${size} chats`);
    console.log(line("bare on Baileys", ofBare, ofBare));
    for (const row of rows) console.log(line(row.name, row.rounds, ofBare));
  }
}

function line(name: string, ours: Round[], bare: Round[]): string {
  const ratios = ours.map(({ cpu }, i) => cpu / bare[i]!.cpu);
  const ms = (of: (round: Round) => number): string => median(ours.map(of)).toFixed(2).padStart(7);
  return `  ${name.padEnd(18)} CPU${ms(({ cpu }) => cpu)} ms, p50${ms(({ latency }) => latency)} ms   × bare ${median(ratios).toFixed(2)} (${range(ratios)})`;
}
