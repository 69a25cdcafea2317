import { createHash } from "node:crypto";
import { LARGEST_GROWTH_MB, overload, type OverloadOptions } from "./overload.ts";
import { runDeploys } from "./deploys.ts";
import { RatchetRun } from "../properties/ratchet-run.ts";
import { noTally } from "../properties/ratchet-tally.ts";
import { testConsole } from "../_setup/console.ts";
import { soak, soakLine } from "./soak.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** `npm run crash -- --soak`. @returns whether nothing was wrong */
export async function runSoak(options: {
  seed: string;
  kills: number;
  minutes?: number;
  entry?: string;
  keep?: string | undefined;
  console?: boolean;
}): Promise<boolean> {
  const console = options.console ? await testConsole() : undefined;
  say(`Soak of ${options.kills} kills, seed "${options.seed}"`);
  const report = await soak({
    ...options,
    console,
    onRound: (soFar) => say(soakLine(soFar).split("\n")[0]!),
  });
  say(soakLine(report));
  for (const problem of report.problems) say(`    ${problem}`);
  return report.problems.length === 0;
}

const FULL: OverloadOptions = {
  messages: 10_000,
  contacts: 500,
  webhookMs: 200,
  withinMs: 900_000,
};
const FORMS: { what: string; options: OverloadOptions }[] = [
  { what: "webhook at 200 ms", options: FULL },
  { what: "webhook refuses connections for the first half", options: { ...FULL, away: "refused" } },
  { what: "webhook answers 503 for the first half", options: { ...FULL, away: "503" } },
];

/** `npm run crash -- --overload`: the full forms. @returns whether nothing was wrong */
export async function runOverload(entry?: string): Promise<boolean> {
  let clean = true;
  say(`${FULL.messages} messages from ${FULL.contacts} contacts as fast as they can be written`);
  for (const { what, options } of FORMS) {
    const report = await overload({ ...options, entry });
    const { lost, duplicated, outOfOrder, overtaken, idleMb, peakMb, seconds, problems } = report;
    say(
      `${what}: ${lost} lost, ${duplicated} duplicated, ${outOfOrder} out of order; a chat that waited saw at most ` +
        `${overtaken} calls of another; memory ${idleMb.toFixed(0)} → ${peakMb.toFixed(0)} MB; ${seconds.toFixed(0)} s`,
    );
    if (peakMb - idleMb >= LARGEST_GROWTH_MB)
      problems.push(`the memory grew by more than ${LARGEST_GROWTH_MB} MB`);
    for (const problem of problems.slice(0, 20)) say(`    ${problem}`);
    clean &&= problems.length === 0;
  }
  return clean;
}

/** `npm run crash -- --deploys`. @returns whether everybody got what fits, as `bots check` had said */
export async function deploys(people: number, entry?: string): Promise<boolean> {
  say(`${people} people in the middle of a question, killed, deployed to changed bots and killed again`);
  const { foreseen, answers, kills, seconds, problems } = await runDeploys(people, entry);
  say(`${foreseen} foretold, ${answers} answers, ${kills} kills, ${problems.length} wrong; ${seconds} s`);
  for (const problem of problems.slice(0, 20)) say(`    ${problem}`);
  return problems.length === 0;
}

/** Steps of one pair of parties: later ones have as many sessions behind them as are ever kept. */
const STEPS_AT_ONCE = 20_000;
/** How often it says how far it is. */
const TOLD_EVERY = 100_000;

/** `npm run crash -- --ratchet`. @returns whether the everyday ratchet has given what libsignal gives, at every step */
export async function runRatchet(seed: string, steps: number): Promise<boolean> {
  say(`${steps} steps of the everyday ratchet beside libsignal's, seed "${seed}"`);
  const first = createHash("sha256").update(seed).digest().readUInt32LE();
  const all = noTally();
  const started = Date.now();
  for (let done = 0, run = 0; done < steps; run++) {
    const count = Math.min(STEPS_AT_ONCE, steps - done);
    try {
      const tally = await new RatchetRun(first + run).run(count);
      for (const what of Object.keys(all) as (keyof typeof all)[]) all[what] += tally[what];
    } catch (error) {
      say(`run ${run} of this seed (${first + run}): ${(error as Error).message}`);
      return false;
    }
    done += count;
    if (done % TOLD_EVERY > 0 && done < steps) continue;
    const perSecond = Math.round((done * 1000) / Math.max(1, Date.now() - started));
    say(`${done} steps, ${perSecond}/s: ${JSON.stringify(all)}`);
  }
  return true;
}
