import type { Outcome } from "./yardstick.ts";

const WIDTHS = [5, 64, 12, 12, 12, 14] as const;

function row(cells: string[]): string {
  return cells
    .map((cell, index) => (index < 2 ? cell.padEnd(WIDTHS[index]!) : cell.padStart(WIDTHS[index]!)))
    .join(" ");
}

/** The line above the outcomes. */
export const heading = (): string =>
  row(["", "tried", "stall", "its CPU", "a send", "memory"]) + "\n" + "-".repeat(120);

/** One line for an attack, and one below it for each part of the yardstick that broke. */
export function outcomeLines(outcome: Outcome): string {
  const { attack, longestMs, longestCpuMs, longestSendMs, idleMb, peakMb, broken } = outcome;
  const ms = (value: number): string => `${Math.round(value)} ms`;
  const memory = `${Math.round(peakMb)} (+${Math.round(peakMb - idleMb)}) MB`;
  const cells = [attack.class, attack.name, ms(longestMs), ms(longestCpuMs), ms(longestSendMs), memory];
  return [row(cells), ...broken.map((text) => `      BROKEN: ${text}`)].join("\n");
}

/** The line below them. */
export function summary(outcomes: Outcome[]): string {
  const most = (of: (outcome: Outcome) => number): number => Math.round(Math.max(0, ...outcomes.map(of)));
  const broken = outcomes.filter((outcome) => outcome.broken.length > 0).length;
  return [
    "-".repeat(120),
    `${outcomes.length} tried, ${broken} broke the yardstick`,
    `longest stall ${most((one) => one.longestMs)} ms`,
    `slowest send ${most((one) => one.longestSendMs)} ms`,
    `peak of memory ${most((one) => one.peakMb)} MB`,
  ].join("\n");
}
