import { writeFile } from "node:fs/promises";
import {
  differenceOf,
  playStory,
  writeStory,
  type Difference,
  type Played,
  type PlayOptions,
  type Story,
} from "../../testing/index.ts";
import { paint, say } from "../plainly.ts";
import type { StoryFile } from "./story-files.ts";
import type { WorkingBots } from "./working-bots.ts";

/** What came of one conversation that was run again. */
export interface Outcome {
  name: string;
  difference: Difference | null;
  troubles: string[];
  /** Worth a look when something differs. */
  logged: string[];
}

/** Runs a story with bots as they are now, and tells the difference. */
export async function runStory(
  name: string,
  story: Story,
  bots: WorkingBots,
  ids: readonly string[],
  options: Pick<PlayOptions, "config" | "outside"> = {},
): Promise<Outcome & { played: Played }> {
  const played = await playStory(story, await bots.open(ids), { locales: bots.locales, ...options });
  return {
    name,
    difference: differenceOf(story.lines, played.lines),
    troubles: played.troubles,
    logged: played.logged,
    played,
  };
}

/** Runs files one after the other and shows each. @param update writes what is answered now into the file */
export async function runFiles(
  files: readonly StoryFile[],
  bots: WorkingBots,
  { update }: { update: boolean },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { path, name, story, bots: ids } of files) {
    const { played, ...outcome } = await runStory(name, story, bots, ids);
    outcomes.push(outcome);
    showOutcome(outcome);
    if (!update || outcome.difference === null || outcome.troubles.length > 0) continue;
    await writeFile(path, writeStory({ ...story, lines: played.lines }));
    say(`  ${paint.dim(`written to ${name}`)}`);
  }
  return outcomes;
}

/** Whether people are answered as before. */
export const isAsBefore = ({ difference, troubles }: Outcome): boolean =>
  difference === null && troubles.length === 0;

/** One row when all is as before, else the difference under it. */
export function showOutcome(outcome: Outcome): void {
  const { name, difference, troubles, logged } = outcome;
  if (isAsBefore(outcome)) return say(`${paint.green("✓")} ${name}`);
  say(`${paint.red("✗")} ${name}`);
  for (const line of difference?.lines ?? []) say(`    ${colourOf(line)(visible(line))}`);
  for (const line of new Set(logged)) say(`  ${paint.dim(visible(line.split("\n", 1)[0]!))}`);
  for (const trouble of troubles) say(`  ${paint.yellow("!")} ${visible(trouble.split("\n", 1)[0]!)}`);
}

/** What strangers wrote does not steer the terminal. */
const visible = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\u{FFFD}");

function colourOf(line: string): (text: string) => string {
  if (line.startsWith("-")) return paint.red;
  return line.startsWith("+") ? paint.green : paint.dim;
}

/** `12 stories: 11 as before, 1 differs` */
export function summaryOf(what: [string, string], outcomes: readonly Outcome[]): string {
  const differ = outcomes.filter((outcome) => !isAsBefore(outcome)).length;
  const count = `${outcomes.length} ${outcomes.length === 1 ? what[0] : what[1]}`;
  if (differ === 0) return `${count}: answered as before`;
  return `${count}: ${outcomes.length - differ} as before, ${differ} ${differ === 1 ? "differs" : "differ"}`;
}
