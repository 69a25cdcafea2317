import type { FailedTest, OutsideError, UnfinishedFile } from "../_setup/verdict.ts";
import type { MachineReport } from "./machine.ts";

/** All that the closing lines are made of. */
export interface Outcome {
  steps: FailedStep[];
  passed: number;
  failed: FailedTest[];
  unhandled: OutsideError[];
  withoutVerdict: UnfinishedFile[];
  /** Tests that failed, and passed when their file was run once more by itself. */
  flaky: FailedTest[];
  machine: MachineReport;
  /** Null: this is no checkout of git. */
  treeChanged: boolean | null;
}

/** A command that failed for another reason than its tests. */
export interface FailedStep {
  command: string;
  /** What it ended with, and the lines that say why. */
  why: string[];
}

/** How many things are wrong: what the last line counts. */
export const wrongs = ({ steps, failed, unhandled, withoutVerdict }: Outcome): number =>
  steps.length + failed.length + unhandled.length + withoutVerdict.length;

/** The last lines of the gate: every reason for red, the machine, flaky tests, and the count. */
export function closingLines(outcome: Outcome): string {
  const { steps, passed, failed, unhandled, withoutVerdict, flaky } = outcome;
  const lines = [
    ...steps.flatMap(({ command, why }) => [` FAIL  ${command}`, ...why.map(indented)]),
    ...failed.flatMap((test) => [` FAIL  ${titleOf(test)}`, indented(test.error)]),
    ...unhandled.flatMap(({ place, error }) => [
      ` FAIL  Unhandled error outside of any test, at ${place ?? "a place that its stack does not name"}`,
      indented(error),
    ]),
    ...withoutVerdict.flatMap((file) => [
      ` FAIL  ${file.file} [${file.project}] has no verdict`,
      indented(unfinishedText(file)),
    ]),
    ` Machine: ${machineText(outcome.machine)}; ${treeText(outcome.treeChanged)}`,
    ...flaky.map((test) => ` FLAKY ${titleOf(test)}: ${test.error}`),
  ];
  return `\n${lines.join("\n")}\n\n${passed} passed, ${wrongs(outcome)} failed\n`;
}

const indented = (text: string): string => `         ${text}`;
const titleOf = ({ file, project, test }: FailedTest): string =>
  `${file} [${project}]${test === null ? "" : ` > ${test}`}`;

const unfinishedText = ({ done, tests }: UnfinishedFile): string =>
  tests === 0
    ? "It was never read: its worker ended before, or the run was broken off."
    : `Its worker ended after ${done} of ${tests} tests: killed, out of memory, or process.exit.`;

const gigabytes = (bytes: number): string => (bytes / 1024 ** 3).toFixed(1);

const machineText = (machine: MachineReport): string =>
  [
    `load ${machine.load.toFixed(1)} on ${machine.cores} cores`,
    `steal ${machine.stealPercent.toFixed(1)} %`,
    `memory free ${gigabytes(machine.memoryFree)} GB (least ${gigabytes(machine.memoryLeast)})`,
    `/dev/shm free ${gigabytes(machine.sharedFree)} GB (least ${gigabytes(machine.sharedLeast)})`,
  ].join(", ");

function treeText(changed: boolean | null): string {
  if (changed === null) return "not a checkout of git";
  return changed
    ? "THE TREE CHANGED while it ran: run it again on a tree that rests"
    : "the tree did not change";
}
