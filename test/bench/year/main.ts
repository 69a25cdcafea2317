import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { removeFolder } from "../../_setup/folders.ts";
import { callForKey, createTenant } from "./tenants.ts";
import { fill, readFacts, sizeOf, writeFacts, type Facts } from "./data.ts";
import { companionOf, end, openSimulator, startYearGateway, type Cost } from "./gateway.ts";
import type { LibrarySimulator } from "../../../src/simulator/inside.ts";
import { endAll, rssMb } from "../processes.ts";
import { age } from "./ageing.ts";
import { overLimits } from "./row.ts";
import { drive } from "./steps.ts";

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
  const copy = `${folder}.run`;
  const sim = await openSimulator(facts);
  try {
    const emptyMb = await memoryOfEmpty(sim, entry, copy);
    say(`A gateway without data: ${emptyMb.toFixed(0)} MB`);
    const run = { sim, facts, entry, dataDir: copy, say };
    // A run erases and sweeps: it works on copies.
    const copyAnew = (): void => {
      removeFolder(copy);
      cpSync(folder, copy, { recursive: true });
    };
    copyAnew();
    const costs = await drive(run);
    copyAnew();
    costs.push(...(await age(run)));
    for (const line of overLimits(costs, emptyMb)) say(line);
    return costs;
  } finally {
    // A step that failed has left its gateway behind.
    endAll();
    await sim.stop();
    for (const made of [copy, `${copy}.tar`]) removeFolder(made);
  }
}

async function memoryOfEmpty(sim: LibrarySimulator, entry: string, folder: string): Promise<number> {
  removeFolder(folder);
  const gateway = await startYearGateway(sim, entry, folder);
  const memory = rssMb(gateway.child);
  await end(gateway);
  return memory;
}

async function makeFolder({ folder, entry, messages, say }: YearOptions): Promise<Facts> {
  removeFolder(folder);
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
  const some = await fill(folder, tenants, size, say);
  rmSync(join(folder, "ballast"), { force: true });
  const facts = { size, ...tenants, companions, ...some, made: Date.now() };
  writeFacts(folder, facts);
  return facts;
}
