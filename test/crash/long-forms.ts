import { LARGEST_GROWTH_MB, overload, type OverloadOptions } from "./overload.ts";
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
