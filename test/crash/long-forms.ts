import { createHash } from "node:crypto";
import { LARGEST_GROWTH_MB, overload, type OverloadOptions } from "./overload.ts";
import { RatchetRun } from "../properties/ratchet-run.ts";
import { soak, soakLine } from "./soak.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** `npm run crash -- --soak`. @returns whether nothing was wrong */
export async function runSoak(options: {
  seed: string;
  kills: number;
  minutes?: number;
  entry?: string;
}): Promise<boolean> {
  say(`Soak of ${options.kills} kills, seed "${options.seed}"`);
  const report = await soak({ ...options, onRound: (soFar) => say(soakLine(soFar).split("\n")[0]!) });
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

/** Steps of one pair of parties: later ones have as many sessions behind them as are ever kept. */
const STEPS_AT_ONCE = 20_000;

/** `npm run crash -- --ratchet`. @returns whether the everyday ratchet has given what libsignal gives, at every step */
export async function runRatchet(seed: string, steps: number): Promise<boolean> {
  say(`${steps} steps of the everyday ratchet beside libsignal's, seed "${seed}"`);
  const first = createHash("sha256").update(seed).digest().readUInt32LE();
  for (let done = 0, run = 0; done < steps; done += STEPS_AT_ONCE, run++) {
    try {
      const tally = await new RatchetRun(first + run).run(Math.min(STEPS_AT_ONCE, steps - done));
      say(`${Math.min(steps, done + STEPS_AT_ONCE)} steps: ${JSON.stringify(tally)}`);
    } catch (error) {
      say(`run ${run} of this seed (${first + run}): ${(error as Error).message}`);
      return false;
    }
  }
  return true;
}
