import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates } from "../../src/simulator/inside.ts";
import type { Simulator } from "../../src/simulator/types.ts";
import { atExit } from "./at-exit.ts";
import { removeFolder } from "./folders.ts";
import type { Gateway } from "./gateway.ts";

/** A gateway that a test has left in order: no account, no number, and a simulator that is gone. */
interface Idle {
  gateway: Gateway;
  /** Where it looks for WhatsApp: the next simulator has to listen there. */
  wsUrl: string;
}

const idle = new Map<string, Idle>();

/** @param settings what the gateway must have been started with */
export function takeIdle(settings: string): Idle | null {
  const found = idle.get(settings);
  idle.delete(settings);
  return found ?? null;
}

/** Erases what a test had, and keeps the gateway; one that is not as it was started, or does not get rid of it, ends. */
export async function giveBack(settings: string, gateway: Gateway, sim: Simulator): Promise<void> {
  const isInOrder = gateway.isAsStarted() && (await erased(gateway, sim).catch(() => false));
  if (isInOrder && !idle.has(settings)) idle.set(settings, { gateway, wsUrl: sim.wsUrl });
  else await gateway.dispose();
}

async function erased(gateway: Gateway, sim: Simulator): Promise<boolean> {
  await sim.faults.clear();
  const operator = { key: gateway.adminToken };
  const { body } = await gateway.get("/admin/accounts", operator);
  if (body["next"] !== null) return false;
  for (const { id } of body.data as { id: string }[]) {
    const { status } = await gateway.delete(`/admin/accounts/${id}`, operator);
    if (status !== 200) return false;
  }
  return true;
}

/** In `afterAll`. */
export async function disposeIdle(): Promise<void> {
  const gateways = [...idle.values()].map(({ gateway }) => gateway);
  idle.clear();
  await Promise.all(gateways.map((gateway) => gateway.dispose()));
}

let made: { certificates: ReturnType<typeof makeCertificates>; caFile: string } | undefined;

/** One media authority for all simulators of a test file: a gateway reads at its start whom it trusts. */
export function certificatesOfTests(): NonNullable<typeof made> {
  if (made) return made;
  const certificates = makeCertificates();
  const folder = mkdtempSync(join(tmpdir(), "parley-authority-"));
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, certificates.ca);
  atExit(() => removeFolder(folder));
  made = { certificates, caFile };
  return made;
}
