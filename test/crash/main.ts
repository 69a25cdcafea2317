import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { seededRandom } from "../../src/simulator/random.ts";
import { openArena, type Arena } from "./arena.ts";
import { runOverload, runSoak } from "./long-forms.ts";
import { POINTS, type CrashPoint } from "./points.ts";
import { heading, markdown, sum, terminalLine, type Row } from "./table.ts";

/**
 * `npm run crash`: kills the gateway at every named place, many times, and judges by the simulator's transcript what
 * that did to the messages. Ends with 1 when anything was lost, repeated as another message, or out of order.
 * With `--soak [--kills 500] [--minutes m]` it is killed at random moments instead, while everything is written that can be
 * written; with `--overload` it gets more than its webhook can take.
 */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    point: { type: "string" },
    seed: { type: "string", default: "crash" },
    worlds: { type: "string", default: "2" },
    entry: { type: "string" },
    json: { type: "string" },
    markdown: { type: "boolean", default: false },
    soak: { type: "boolean", default: false },
    kills: { type: "string", default: "500" },
    minutes: { type: "string" },
    overload: { type: "boolean", default: false },
  },
});

/** @throws when it is none */
function whole(name: "runs" | "worlds" | "kills" | "minutes"): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1 up.`);
  return value;
}

if (values.soak) {
  const minutes = values.minutes === undefined ? undefined : whole("minutes");
  const { seed, entry } = values;
  process.exit((await runSoak({ seed, entry, minutes, kills: whole("kills") })) ? 0 : 1);
}
if (values.overload) process.exit((await runOverload(values.entry)) ? 0 : 1);

const runs = whole("runs");
const points = POINTS.filter(({ name }) => values.point === undefined || name === values.point);
if (points.length === 0) {
  const known = POINTS.map(({ name }) => name).join(", ");
  process.stderr.write(`There is no point "${values.point}"; there are ${known}.\n`);
  process.exit(1);
}

async function crashAt(arena: Arena, point: CrashPoint): Promise<Row> {
  const { name, where } = point;
  const row: Row = { ...EMPTY, point: name, where, problems: [] };
  const random = seededRandom(`${values.seed} ${name}`);
  const started = Date.now();
  for (let run = 0; run < runs; run++) {
    const verdict = await point.run(arena, () => random.integer(2 ** 32) / 2 ** 32);
    row.runs++;
    row.messages += verdict.messages;
    row.lost += verdict.lost;
    row.duplicated += verdict.duplicated;
    row.outOfOrder += verdict.outOfOrder;
    row.repeated += verdict.repeated;
    row.problems.push(...verdict.problems.map((what) => `${name}, run ${run + 1}: ${what}`));
  }
  row.seconds = (Date.now() - started) / 1000;
  return row;
}

const EMPTY = { runs: 0, messages: 0, lost: 0, duplicated: 0, outOfOrder: 0, repeated: 0, seconds: 0 };

/** Takes points until there is none left. */
async function work(index: number, waiting: CrashPoint[], done: Map<string, Row>): Promise<void> {
  const arena = await openArena(`${values.seed} ${index}`, values.entry);
  try {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const row = await crashAt(arena, point);
      done.set(point.name, row);
      process.stdout.write(`${terminalLine(row)}\n`);
      for (const problem of row.problems) process.stdout.write(`    ${problem}\n`);
    }
  } finally {
    await arena.close();
  }
}

const started = Date.now();
process.stdout.write(`${heading()}\n`);
const waiting = [...points];
const done = new Map<string, Row>();
const worlds = Math.min(whole("worlds"), points.length);
await Promise.all(Array.from({ length: worlds }, (_, index) => work(index, waiting, done)));

const rows = points.map(({ name }) => done.get(name)!);
const all = sum(rows);
const seconds = Math.round((Date.now() - started) / 1000);
process.stdout.write(
  `${terminalLine({ ...all, where: `${Math.floor(seconds / 60)} min ${seconds % 60} s` })}\n`,
);
if (values.markdown) process.stdout.write(`\n${markdown(rows)}\n`);
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ seed: values.seed, seconds, rows }, null, 2)}\n`);
process.exit(all.lost + all.duplicated + all.outOfOrder + all.problems.length === 0 ? 0 : 1);
