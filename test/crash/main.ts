import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { runOverload, runRatchet, runSoak } from "./long-forms.ts";
import { POINTS } from "./points.ts";
import { runTable } from "./run-table.ts";
import { heading, markdown, sum, terminalLine } from "./table.ts";

/**
 * `npm run crash`: kills the gateway at every named place, many times, and judges by the simulator's transcript what
 * that did to the messages. Ends with 1 when anything was lost, repeated as another message, or out of order.
 * With `--soak [--kills 500] [--minutes m]` it is killed at random moments instead, while everything is written that can be
 * written; with `--overload` it gets more than its webhook can take. With `--ratchet [--steps 1000000]` nothing is killed:
 * the everyday ratchet is compared with libsignal's.
 */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    point: { type: "string" },
    seed: { type: "string", default: "crash" },
    worlds: { type: "string", default: "3" },
    entry: { type: "string" },
    json: { type: "string" },
    markdown: { type: "boolean", default: false },
    soak: { type: "boolean", default: false },
    kills: { type: "string", default: "500" },
    minutes: { type: "string" },
    overload: { type: "boolean", default: false },
    ratchet: { type: "boolean", default: false },
    steps: { type: "string", default: "1000000" },
  },
});

/** @throws when it is none */
function whole(name: "runs" | "worlds" | "kills" | "minutes" | "steps"): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1 up.`);
  return value;
}

if (values.soak) {
  const minutes = values.minutes === undefined ? undefined : whole("minutes");
  const { seed, entry } = values;
  process.exit((await runSoak({ seed, entry, minutes, kills: whole("kills") })) ? 0 : 1);
}
if (values.ratchet) process.exit((await runRatchet(values.seed, whole("steps"))) ? 0 : 1);
if (values.overload) process.exit((await runOverload(values.entry)) ? 0 : 1);

const runs = whole("runs");
const points = POINTS.filter(({ name }) => values.point === undefined || name === values.point);
if (points.length === 0) {
  const known = POINTS.map(({ name }) => name).join(", ");
  process.stderr.write(`There is no point "${values.point}"; there are ${known}.\n`);
  process.exit(1);
}

// Whatever was started ends with this process, however it is ended.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const started = Date.now();
process.stdout.write(`${heading()}\n`);
const rows = await runTable({
  points,
  runs,
  seed: values.seed,
  worlds: whole("worlds"),
  entry: values.entry,
  onRow(row) {
    process.stdout.write(`${terminalLine(row)}\n`);
    for (const problem of row.problems) process.stdout.write(`    ${problem}\n`);
  },
});
const all = sum(rows);
const seconds = Math.round((Date.now() - started) / 1000);
const took = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
process.stdout.write(`${terminalLine({ ...all, where: took })}\n`);
if (values.markdown) process.stdout.write(`\n${markdown(rows)}\n`);
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ seed: values.seed, seconds, rows }, null, 2)}\n`);
process.exit(all.lost + all.duplicated + all.outOfOrder + all.problems.length === 0 ? 0 : 1);
