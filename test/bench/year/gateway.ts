import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startSimulator, type Simulator } from "../../../src/simulator/index.ts";
import { adoptCompanion, recordCompanion, type LibrarySimulator } from "../../../src/simulator/inside.ts";
import { call, type Json } from "../gateway-client.ts";
import { type BenchGateway, cpuMs, peakMb, startGatewayProcess } from "../processes.ts";
import type { Facts } from "./data.ts";
import type { Load } from "./load.ts";

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
  /** The most that the process had. */
  peakMb: number;
  /** The longest that a contact waited for an answer meanwhile; null when nobody wrote. */
  answerMs: number | null;
  /** The slowest page of a list; null when there was none. */
  pageMs: number | null;
  /** From the start of a gateway to its first answer. */
  firstAnswer?: true;
}

/** Something that is done to a gateway; resolves with the time of the slowest page when it asks for pages. */
export type Work = () => Promise<number | void>;

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
  // Light: 50,000 sends that wait go out as slowly as they would.
  const usual = { RETENTION_DAYS: "400", PACE_PER_MINUTE: "60" };
  return startGatewayProcess(sim, { dataDir, entry, env: { ...usual, ...env }, probe: PROBE });
}

/** Since it was last asked. */
async function longestStall({ child }: BenchGateway): Promise<Pick<Cost, "stallMs" | "computingMs">> {
  const answer = once(child, "message") as Promise<[Pick<Cost, "stallMs" | "computingMs">]>;
  child.send("longest stall");
  return (await answer)[0];
}

/** Does something and says what it has cost. */
export async function costOf(gateway: BenchGateway, what: string, work: Work, load?: Load): Promise<Cost> {
  await longestStall(gateway);
  load?.longestAnswerMs();
  peakMb(gateway.child);
  const cpu = cpuMs(gateway.child);
  const started = performance.now();
  const pageMs = (await work()) ?? null;
  const tookMs = performance.now() - started;
  const stall = await longestStall(gateway);
  const answerMs = load?.longestAnswerMs() ?? null;
  const used = { cpuMs: cpuMs(gateway.child) - cpu, peakMb: peakMb(gateway.child) };
  return { what, ...stall, ...used, tookMs, answerMs, pageMs };
}

/** Until it is gone. */
export async function end({ child }: BenchGateway, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

/** As an operator. */
export const asOperator =
  (gateway: BenchGateway, token: string) =>
  (method: string, path: string, body?: Json): Promise<Json> =>
    call(gateway, method, path, body, token);
