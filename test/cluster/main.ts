import { mkdirSync, cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOptions } from "../_setup/program-options.ts";
import { buildIfStale } from "../../src/cli/build.ts";
import { createPaint, createSteps, wantsColour } from "../../src/cli/terminal.ts";
import { seededRandom } from "../../src/simulator/inside.ts";
import { root } from "../_setup/made-once.ts";
import { isInside, runInside } from "./apart.ts";
import { runDrill, warmUp, type DrillOptions, type Row } from "./drill.ts";
import { FAULTS, faultsNamed } from "./faults/index.ts";
import { showLive } from "./live.ts";
import { loopback, namespaces } from "./network.ts";
import { relays } from "./relays.ts";
import { heading, markdown, sum, terminalLine } from "./table.ts";
import { openWorld, type ClusterWorld } from "./world.ts";

const HELP = `Several gateways with a libSQL server, Redis and an offline WhatsApp, on this machine.

  npm run cluster                      three nodes and a table of what they do; Ctrl-C ends all
  npm run cluster -- --drill           every fault under load, judged by what the phones have seen

  --nodes N          gateways, default 3
  --numbers N        linked numbers, default 20, in a drill 100
  --lease SECONDS    how long a lease lasts, default 15
  --rate N           messages and sends in a second, default 5, in a drill 12
  --seed TEXT        of keys, texts and choices
  --faults a,b       only these: ${FAULTS.map(({ name }) => name).join(", ")}
  --json FILE        rows, what failed and what is wrong
  --page             writes the table into docs/guarantees.md, in place of the last one
  --keep FOLDER      what every part has written goes there
`;

const values = readOptions(HELP, {
  drill: { type: "boolean", default: false },
  nodes: { type: "string", default: "3" },
  numbers: { type: "string" },
  lease: { type: "string" },
  rate: { type: "string" },
  seed: { type: "string", default: "cluster" },
  faults: { type: "string" },
  json: { type: "string" },
  page: { type: "boolean", default: false },
  keep: { type: "string" },
});

const DEFAULT_LEASE_S = 15;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const interrupted = (): never => process.exit(130);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** @throws when it is none */
function whole(name: "nodes" | "numbers" | "lease" | "rate", fallback: number): number {
  const value = Number(values[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1 up.`);
  return value;
}

/** Replaces the table of docs/guarantees.md that begins with the same columns. */
function writeIntoPage(rows: Row[]): void {
  const place = join(root, "docs/guarantees.md");
  const table = markdown(rows);
  const [columns] = table.split("\n");
  const text = readFileSync(place, "utf8");
  const from = text.indexOf(columns!);
  if (from === -1) throw new Error("docs/guarantees.md has no table of a drill.");
  const to = text.indexOf("\n\n", from);
  writeFileSync(place, text.slice(0, from) + table + text.slice(to));
}

/** What every part has written, for whoever looks for the cause. */
function keepLogs(folder: string): void {
  if (values.keep === undefined) return;
  mkdirSync(values.keep, { recursive: true });
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".log")))
    cpSync(join(folder, name), join(values.keep, name));
}

async function open(numbers: number): Promise<ClusterWorld> {
  const steps = createSteps(process.stdout, createPaint(wantsColour(process.stdout)));
  await steps.run("build", async (report) => {
    const seconds = await buildIfStale(root, report);
    return seconds === null ? "up to date" : `${seconds.toFixed(1)} s`;
  });
  let world!: ClusterWorld;
  await steps.run("cluster", async (report) => {
    world = await openWorld({
      nodes: whole("nodes", 3),
      numbers,
      seed: values.seed,
      entry: join(root, ".output/server/index.mjs"),
      network: isInside() ? namespaces() : values.drill ? relays() : loopback,
      leaseSeconds: values.lease === undefined ? undefined : whole("lease", DEFAULT_LEASE_S),
      onStep: (doing) => report(`starting ${doing}`),
    });
    return `${world.cluster.nodes.length} nodes, ${numbers} numbers`;
  });
  return world;
}

async function drill(): Promise<number> {
  const faults = values.faults === undefined ? FAULTS : faultsNamed(values.faults.split(","));
  if (!isInside())
    say("  No networks of their own here (unshare, nsenter, ip): a relay of ours cuts instead.");
  const world = await open(whole("numbers", 100));
  say(`\n${heading()}`);
  let rows: Row[] = [];
  const save = (): void => {
    const { seed } = values;
    if (values.json) writeFileSync(values.json, `${JSON.stringify({ seed, rows }, null, 2)}\n`);
  };
  const options: DrillOptions = {
    world,
    faults,
    random: seededRandom(values.seed),
    leaseMs: whole("lease", DEFAULT_LEASE_S) * 1_000,
    perSecond: whole("rate", 12),
    onRow(row) {
      say(terminalLine(row));
      rows = [...rows, row];
      save();
      keepLogs(world.cluster.folder);
    },
  };
  await warmUp(options);
  await runDrill(options);
  say(terminalLine({ ...sum(rows), problems: [] }));
  if (values.page) writeIntoPage(rows);
  await world.close();
  const wrong = sum(rows);
  return wrong.lost + wrong.duplicated + wrong.outOfOrder + wrong.stale + wrong.problems.length === 0 ? 0 : 1;
}

async function live(): Promise<number> {
  const world = await open(whole("numbers", 20));
  // The table ends in its own way.
  for (const signal of SIGNALS) process.off(signal, interrupted);
  await showLive(world, { perSecond: whole("rate", 5), output: process.stdout });
  keepLogs(world.cluster.folder);
  await world.close();
  return 0;
}

if (values.drill && !isInside()) {
  const code = await runInside(import.meta.url, process.argv.slice(2));
  if (code !== null) process.exit(code);
}
// Whatever was started ends with this process, however it is ended, and this one with whoever has started it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(130), 1_000).unref();
for (const signal of SIGNALS) process.once(signal, interrupted);
try {
  process.exit(await (values.drill ? drill() : live()));
} catch (error) {
  process.stderr.write(`\n  ${(error as Error).message}\n`);
  process.exit(1);
}
