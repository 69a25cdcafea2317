import { parseArgs } from "node:util";
import { startSimulator } from "../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { runCrowd } from "./_crowd.ts";

/**
 * What the simulator holds: `tsx test/simulator/crowd.ts [--numbers 500] [--contacts 10000] [--writers 10000]`. Every number is
 * logged in and every writer sends one text. Prints one line of JSON: counts, milliseconds, and megabytes of the process.
 */
const { values } = parseArgs({
  options: {
    numbers: { type: "string", default: "500" },
    contacts: { type: "string", default: "10000" },
    writers: { type: "string", default: "10000" },
  },
});
const [numbers, contacts, writers] = [values.numbers, values.contacts, values.writers].map(Number) as [
  number,
  number,
  number,
];

const sim = (await startSimulator({ controlPort: false })) as LibrarySimulator;
const cost = await runCrowd(sim, { numbers, contacts, writers });
const violations = await sim.violations();
await sim.stop();
if (violations.length > 0) throw new Error(JSON.stringify(violations.slice(0, 5)));
process.stdout.write(`${JSON.stringify(cost)}\n`);
