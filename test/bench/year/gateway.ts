import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startSimulator, type Simulator } from "../../../src/simulator/index.ts";
import { adoptCompanion, recordCompanion, type LibrarySimulator } from "../../../src/simulator/inside.ts";
import { call, type Json } from "../gateway-client.ts";
import { type BenchGateway, cpuMs, rssMb, startGatewayProcess } from "../processes.ts";
import type { Facts } from "./data.ts";

const PROBE = fileURLToPath(new URL("./loop-delay.mjs", import.meta.url));
const SEED = "year";

/** What one thing that somebody did has cost the gateway. */
export interface Cost {
  what: string;
  /** Longest time for which the event loop stood still, whoever had the processor. */
  stallMs: number;
  /** The same, of the gateway's own computing: what a busy machine does not lengthen. */
  computingMs: number;
  cpuMs: number;
  tookMs: number;
  rssMb: number;
}

/** WhatsApp as it was when the numbers of the folder were linked. */
export async function openSimulator(facts: Pick<Facts, "companions"> | null): Promise<LibrarySimulator> {
  const sim = (await startSimulator({ seed: SEED, controlPort: false })) as LibrarySimulator;
  for (const [number, companion] of Object.entries(facts?.companions ?? {})) {
    await sim.addNumber(number, { name: "Bench" });
    adoptCompanion(sim.server, number, companion);
  }
  return sim;
}

/** What the simulator knows of a linked number, for the next one. */
export const companionOf = (sim: LibrarySimulator, number: string) => recordCompanion(sim.server, number, 1);

/**
 * A gateway on the folder that tells how long its event loop stands still.
 *
 * @param entry `index.mjs` of its build
 */
export async function startYearGateway(
  sim: Simulator,
  entry: string,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<BenchGateway> {
  return startGatewayProcess(sim, { dataDir, entry, env: { RETENTION_DAYS: "400", ...env }, probe: PROBE });
}

/** Since it was last asked. */
async function longestStall({ child }: BenchGateway): Promise<Pick<Cost, "stallMs" | "computingMs">> {
  const answer = once(child, "message") as Promise<[Pick<Cost, "stallMs" | "computingMs">]>;
  child.send("longest stall");
  return (await answer)[0];
}

/** Does something and says what it has cost. */
export async function costOf(
  gateway: BenchGateway,
  what: string,
  work: () => Promise<unknown>,
): Promise<Cost> {
  await longestStall(gateway);
  const cpu = cpuMs(gateway.child);
  const started = performance.now();
  await work();
  const tookMs = performance.now() - started;
  const stall = await longestStall(gateway);
  return { what, ...stall, cpuMs: cpuMs(gateway.child) - cpu, tookMs, rssMb: rssMb(gateway.child) };
}

/** SIGTERM, until it is gone. */
export async function end({ child }: BenchGateway): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** As an operator. */
export const asOperator =
  (gateway: BenchGateway, token: string) =>
  (method: string, path: string, body?: Json): Promise<Json> =>
    call(gateway, method, path, body, token);
