import type { Row } from "./drill.ts";

const COLUMNS = [
  "fault",
  "what",
  "messages",
  "lost",
  "doubled",
  "out of order",
  "repeated",
  "stale writes",
  "failed requests",
  "answers again: median",
  "longest",
];
const TITLES = [
  "fault",
  "messages",
  "lost",
  "double",
  "order",
  "repeat",
  "stale",
  "failed",
  "median",
  "longest",
];
const WIDTHS = [20, 9, 5, 7, 6, 7, 6, 7, 8, 8];

const seconds = (value: number): string => `${value.toFixed(1)} s`;
const counts = (row: Row): string[] =>
  [row.messages, row.lost, row.duplicated, row.outOfOrder, row.repeated, row.stale, row.failed].map(String);
const cells = (row: Row): string[] => [...counts(row), seconds(row.medianS), seconds(row.maxS)];

export const heading = (): string => `${line(TITLES)}\n${"─".repeat(line(TITLES).length)}`;

/** One row as a terminal shows it, and below it what is wrong. */
export const terminalLine = (row: Row): string =>
  [line([row.fault, ...cells(row)]), ...row.problems.slice(0, 20).map((text) => `    ${text}`)].join("\n");

const line = (words: string[]): string =>
  words
    .map((word, index) => (index === 0 ? word.padEnd(WIDTHS[index]!) : word.padStart(WIDTHS[index]!)))
    .join(" ");

/** As docs/guarantees.md has it. */
export function markdown(rows: Row[]): string {
  const right = COLUMNS.map((_, index) => (index < 2 ? "---" : "--:"));
  const all = [...counts(sum(rows)), "", seconds(sum(rows).maxS)].map((text) => text && `**${text}**`);
  const body = rows.map((row) => [`\`${row.fault}\``, row.what, ...cells(row)]);
  return [COLUMNS, right, ...body, ["**all**", "", ...all]]
    .map((words) => `| ${words.join(" | ")} |`)
    .join("\n");
}

/** Of all rows; times are the longest. */
export function sum(rows: Row[]): Row {
  const total = (pick: (row: Row) => number): number => rows.reduce((all, row) => all + pick(row), 0);
  const longest = (pick: (row: Row) => number): number => Math.max(0, ...rows.map(pick));
  return {
    fault: "all",
    what: "",
    messages: total(({ messages }) => messages),
    lost: total(({ lost }) => lost),
    duplicated: total(({ duplicated }) => duplicated),
    outOfOrder: total(({ outOfOrder }) => outOfOrder),
    repeated: total(({ repeated }) => repeated),
    stale: total(({ stale }) => stale),
    failed: total(({ failed }) => failed),
    failures: rows.flatMap(({ failures }) => failures),
    problems: rows.flatMap(({ problems }) => problems),
    medianS: longest(({ medianS }) => medianS),
    maxS: longest(({ maxS }) => maxS),
    hit: total(({ hit }) => hit),
    seconds: total((row) => row.seconds),
  };
}
