import { writeFileSync } from "node:fs";
import { readOptions } from "../_setup/program-options.ts";
import { deploys, runOverload, runRatchet, runSoak } from "./long-forms.ts";
import { POINTS } from "./points.ts";
import { runTable } from "./run-table.ts";
import { heading, markdown, sum, terminalLine } from "./table.ts";

const HELP = `Kills the gateway at every named place, many times, and judges by the simulator's transcript what that did to the messages.
Ends with 1 when anything was lost, repeated as another message, or out of order.

  npm run crash                     every place
  npm run crash -- --soak           at random moments, while everything is written that can be written
  npm run crash -- --console        the same for ten minutes, and what the console shows of every message is compared with the transcript
  npm run crash -- --overload       nothing is killed: it gets more than its webhook can take
  npm run crash -- --ratchet        nothing is killed: the everyday ratchet is compared with libsignal's
  npm run crash -- --deploys        in the middle of every kind of question, and deployed to a changed bot

  --runs N         kills at each place, default 20
  --point a,b      only these places
  --worlds N       gateways at the same time, default 3
  --kills N        of a soak, default 500; --minutes N ends it sooner
  --soak --console a soak of 500 kills that looks at the console, too
  --keep FOLDER    data of the rounds of a soak in which something was wrong
  --steps N        of the ratchet, default 1000000
  --people N       of the deploys, default 200
  --ways WAYS      everyday (default), mixed: drawn for each message, off: none takes the everyday way
  --seed TEXT      of ids, texts and choices
  --entry FILE     another build
  --json FILE      rows; --markdown the table as Markdown
`;

const CONSOLE_MINUTES = 10;

const values = readOptions(HELP, {
  runs: { type: "string", default: "20" },
  point: { type: "string" },
  seed: { type: "string", default: "crash" },
  worlds: { type: "string", default: "3" },
  entry: { type: "string" },
  json: { type: "string" },
  markdown: { type: "boolean", default: false },
  soak: { type: "boolean", default: false },
  console: { type: "boolean", default: false },
  kills: { type: "string", default: "500" },
  minutes: { type: "string" },
  overload: { type: "boolean", default: false },
  ratchet: { type: "boolean", default: false },
  keep: { type: "string" },
  steps: { type: "string", default: "1000000" },
  deploys: { type: "boolean", default: false },
  people: { type: "string", default: "200" },
  ways: { type: "string", default: "everyday" },
});

/** @throws when it is none */
function whole(name: "runs" | "worlds" | "kills" | "minutes" | "steps" | "people"): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1 up.`);
  return value;
}

if (!["everyday", "mixed", "off"].includes(values.ways))
  throw new Error("--ways must be everyday, mixed or off.");
if (values.ways === "mixed") process.env["EVERYDAY_MIX"] = values.seed;
if (values.ways === "off") process.env["EVERYDAY_PATH"] = "off";

if (values.soak || values.console) {
  const minutes =
    values.minutes === undefined ? (values.soak ? undefined : CONSOLE_MINUTES) : whole("minutes");
  const { seed, entry, keep, console } = values;
  process.exit((await runSoak({ seed, entry, keep, console, minutes, kills: whole("kills") })) ? 0 : 1);
}
if (values.ratchet) process.exit((await runRatchet(values.seed, whole("steps"))) ? 0 : 1);
if (values.deploys) process.exit((await deploys(whole("people"), values.entry)) ? 0 : 1);
if (values.overload) process.exit((await runOverload(values.entry)) ? 0 : 1);

const runs = whole("runs");
const wanted = values.point?.split(",");
const points = POINTS.filter(
  ({ name, isEveryday }) =>
    (wanted === undefined || wanted.includes(name)) && !(isEveryday && values.ways === "off"),
);
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
const where = `${took}, slowest start ${all.slowestStartS.toFixed(1)} s`;
process.stdout.write(`${terminalLine({ ...all, where })}\n`);
if (values.markdown) process.stdout.write(`\n${markdown(rows)}\n`);
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ seed: values.seed, seconds, rows }, null, 2)}\n`);
process.exit(all.lost + all.duplicated + all.outOfOrder + all.problems.length === 0 ? 0 : 1);
