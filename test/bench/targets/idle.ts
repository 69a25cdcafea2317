import { once } from "node:events";
import { createAccount, link } from "../gateway-client.ts";
import { rssMb, startGatewayProcess, type RunningSimulator } from "../processes.ts";
import type { Figure } from "./table.ts";

const NUMBERS = 50;
const SETTLE_MS = 5_000;
const numberOf = (i: number): string => `3163${String(i).padStart(7, "0")}`;
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

/** What a linked number that nobody writes to holds in memory. */
export async function idleTargets({ sim, ready }: RunningSimulator): Promise<Figure[]> {
  let gateway = await startGatewayProcess(ready);
  const key = await createAccount(gateway);
  await settled();
  const empty = rssMb(gateway.child);
  for (let i = 0; i < NUMBERS; i++) await link(gateway, sim, key, numberOf(i));
  await settled();
  const linked = rssMb(gateway.child);
  gateway.child.kill("SIGTERM");
  await once(gateway.child, "exit");
  gateway = await startGatewayProcess(ready, { again: gateway });
  for (let i = 0; i < NUMBERS; i++) await sim.waitOnline(numberOf(i), 60_000);
  await settled();
  const restarted = rssMb(gateway.child);
  gateway.child.kill("SIGTERM");
  const of = (all: number): string =>
    `${NUMBERS} numbers: ${all.toFixed(0)} MB, without numbers ${empty.toFixed(0)} MB`;
  return [
    { id: "idle-restarted", value: (restarted - empty) / NUMBERS, of: of(restarted) },
    { id: "idle-linked", value: (linked - empty) / NUMBERS, of: of(linked) },
  ];
}
