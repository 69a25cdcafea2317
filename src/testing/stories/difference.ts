import { structuredPatch } from "diff";
import type { StoryLine } from "./story.ts";
import { transcriptOf } from "./transcript.ts";

/** How a conversation differs from its story. */
export interface Difference {
  /** Lines that begin with ` ` (the same), `-` (only in the story) or `+` (only now). `@@` separates places. */
  lines: string[];
  /** How many lines of the story are missing now, and how many are new. */
  removed: number;
  added: number;
}

/** Lines around a difference that are shown with it. */
const AROUND = 3;
/** Telling two conversations apart takes so many milliseconds at most; then they are shown one after the other. */
const LONGEST_MS = 2000;

const asText = (lines: readonly string[]): string => `${lines.join("\n")}\n`;

/** @returns null when the two are the same */
export function differenceOf(before: readonly StoryLine[], now: readonly StoryLine[]): Difference | null {
  const [was, is] = [before, now].map(transcriptOf);
  if (was!.join("\n") === is!.join("\n")) return null;
  const patch = structuredPatch("", "", asText(was!), asText(is!), "", "", {
    context: AROUND,
    timeout: LONGEST_MS,
  });
  const lines =
    patch === undefined
      ? [...was!.map((line) => `-${line}`), ...is!.map((line) => `+${line}`)]
      : patch.hunks.flatMap((hunk, index) => [...(index === 0 ? [] : ["@@"]), ...hunk.lines]);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { lines, removed: count("-"), added: count("+") };
}
