import type { Verdict } from "../../src/demo/judge/judge.ts";

/** What came of all runs of one crash point. */
export interface Row extends Omit<Verdict, "mark"> {
  point: string;
  where: string;
  runs: number;
  seconds: number;
  /** Until a gateway was ready, the longest of all starts. */
  slowestStartS: number;
}

const COLUMNS = [
  "point",
  "where",
  "runs",
  "messages",
  "lost",
  "duplicated",
  "out of order",
  "repeated",
] as const;
const WIDTHS = [24, 50, 5, 9, 5, 11, 13, 9];

const cells = (row: Row): string[] =>
  [row.point, row.where, row.runs, row.messages, row.lost, row.duplicated, row.outOfOrder, row.repeated].map(
    String,
  );

export const heading = (): string => line([...COLUMNS]) + "\n" + "─".repeat(line([...COLUMNS]).length);

/** One row as a terminal shows it: words to the left, numbers to the right. */
export const terminalLine = (row: Row): string => line(cells(row));

function line(words: string[]): string {
  return words
    .map((word, index) => (index < 2 ? word.padEnd(WIDTHS[index]!) : word.padStart(WIDTHS[index]!)))
    .join(" ");
}

export function markdown(rows: Row[]): string {
  const right = COLUMNS.map((_, index) => (index < 2 ? "---" : "--:"));
  const code = (row: Row): string[] => [`\`${row.point}\``, ...cells(row).slice(1)];
  return [
    [...COLUMNS],
    right,
    ...rows.map(code),
    [
      "**all**",
      "",
      ...cells(sum(rows))
        .slice(2)
        .map((n) => `**${n}**`),
    ],
  ]
    .map((words) => `| ${words.join(" | ")} |`)
    .join("\n");
}

export function sum(rows: Row[]): Row {
  const total = (pick: (row: Row) => number): number => rows.reduce((all, row) => all + pick(row), 0);
  return {
    point: "all",
    where: "",
    runs: total(({ runs }) => runs),
    messages: total(({ messages }) => messages),
    lost: total(({ lost }) => lost),
    duplicated: total(({ duplicated }) => duplicated),
    outOfOrder: total(({ outOfOrder }) => outOfOrder),
    repeated: total(({ repeated }) => repeated),
    problems: rows.flatMap(({ problems }) => problems),
    seconds: total(({ seconds }) => seconds),
    slowestStartS: Math.max(0, ...rows.map(({ slowestStartS }) => slowestStartS)),
  };
}
