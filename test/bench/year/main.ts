import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { callForKey, createTenant } from "./tenants.ts";
import { fill, readFacts, sizeOf, writeFacts, type Facts } from "./data.ts";
import { companionOf, end, openSimulator, startYearGateway, type Cost } from "./gateway.ts";
import { endAll } from "../processes.ts";
import { drive } from "./steps.ts";

/** What a run must keep to; a stall is not the number of milliseconds that a busy machine takes the processor away. */
export const LIMITS = { stallMs: 50, firstAnswerMs: 3_000, listMs: 20, memoryMb: 300 };

/** Where the data lies, and what is measured on it. */
export interface YearOptions {
  /** Made when it is not there. */
  folder: string;
  /** `index.mjs` of the build under test. */
  entry: string;
  /** In both directions; the rest of the folder grows with it. */
  messages: number;
  say(text: string): void;
}

/**
 * `npm run bench -- --year`: a data folder with a year of data, made once by the product's own code, and everything that
 * operators, customers and time do with it, under a light load of messages.
 *
 * @returns what each step has cost
 */
export async function benchYear({ folder, entry, messages, say }: YearOptions): Promise<Cost[]> {
  const facts = readFacts(folder) ?? (await makeFolder({ folder, entry, messages, say }));
  // A run erases and sweeps: it works on a copy.
  const copy = `${folder}.run`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  const sim = await openSimulator(facts);
  try {
    return await drive({ sim, facts, entry, dataDir: copy, say });
  } finally {
    // A step that failed has left its gateway behind.
    endAll();
    await sim.stop();
    for (const made of [copy, `${copy}.tar`]) rmSync(made, { recursive: true, force: true });
  }
}

async function makeFolder({ folder, entry, messages, say }: YearOptions): Promise<Facts> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const size = sizeOf(messages);
  say(`making ${folder}, once`);
  const sim = await openSimulator(null);
  const gateway = await startYearGateway(sim, entry, folder);
  const tenants = {
    busy: await createTenant(gateway, sim, "busy", "31620000001"),
    other: await createTenant(gateway, sim, "other", "31620000002"),
    light: await createTenant(gateway, sim, "light", "31620000003"),
  };
  const key = callForKey(gateway, tenants.busy.key);
  await key("PUT", `/devices/${tenants.busy.number}/webhook`, {
    url: "http://127.0.0.1:9/webhook",
    mode: "always",
  });
  await key("PUT", `/devices/${tenants.busy.number}/bots`, { bots: [] });
  await end(gateway);
  const companions = Object.fromEntries(
    Object.values(tenants).map(({ number }) => [number, companionOf(sim, number)]),
  );
  await sim.stop();
  const someMessage = await fill(folder, tenants, size, say);
  rmSync(join(folder, "ballast"), { force: true });
  const facts = { size, ...tenants, companions, someMessage };
  writeFacts(folder, facts);
  return facts;
}
