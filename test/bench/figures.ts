import type { ChildProcess } from "node:child_process";
import { cpuMs } from "./processes.ts";

/** One round of some work: CPU milliseconds per message, and the median of how long one took where the work tells. */
export interface Round {
  cpu: number;
  latency: number;
}

export const median = (list: readonly number[]): number =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;

export const range = (list: readonly number[]): string =>
  `${Math.min(...list).toFixed(2)}–${Math.max(...list).toFixed(2)}`;

/**
 * What some work costs a process.
 *
 * @param count messages that the work is of
 * @param work  may tell how long each took, milliseconds
 */
export async function measure(
  child: Pick<ChildProcess, "pid">,
  count: number,
  work: () => Promise<number[] | void>,
): Promise<Round> {
  const before = cpuMs(child);
  const took = await work();
  return { cpu: (cpuMs(child) - before) / count, latency: took ? median(took) : Number.NaN };
}
