import type { Cost } from "./gateway.ts";

/** One row a step. */
export function row({ what, stallMs, computingMs, cpuMs, tookMs, rssMb }: Cost): string {
  const ms = (value: number): string => `${value.toFixed(0)} ms`.padStart(9);
  return `${what.padEnd(64)} stall${ms(stallMs)}, computing${ms(computingMs)}; CPU${ms(cpuMs)}, took${ms(tookMs)}; ${rssMb.toFixed(0)} MB`;
}
