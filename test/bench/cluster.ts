import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Simulator } from "../../src/simulator/types.ts";
import { removeFolder } from "../_setup/folders.ts";
import { openWorld, type ClusterWorld } from "../cluster/world.ts";
import { call, createAccount, link } from "./gateway-client.ts";
import { BUILT, cpuMs, root, startGatewayProcess, startSimulatorProcess } from "./processes.ts";
import { roundTrips } from "./round-trips.ts";

/** How much is measured. */
export interface ClusterBenchOptions {
  messages: number;
  rounds: number;
  /** Linked numbers, each with one contact who waits for the answer before writing again. */
  numbers: number;
  say(line: string): void;
}

/** One number and whoever writes to it. */
interface Pair {
  number: string;
  contact: string;
}

/** What one message has cost. */
interface Cost {
  /** CPU milliseconds of all gateways, of the libSQL server, of Redis. */
  gateways: number;
  database: number;
  redis: number;
  /** Messages that were answered in a second. */
  perSecond: number;
  /** How long an answer took, milliseconds. */
  latency: number;
  requests: number;
  writtenBytes: number;
  redisCommands: number;
}

const BOT = `export default (b) => { b.keyword("ping", (ctx) => ctx.reply("pong")); };`;

/**
 * `npm run bench -- --cluster`: what a message costs among one, two and three nodes with a libSQL server and Redis, beside one
 * process with its own file. All of it shares this machine's cores with the simulator, so throughput shows how the work is
 * divided and what it costs in all, not how far more machines would carry.
 */
export async function benchCluster(options: ClusterBenchOptions): Promise<void> {
  const bots = mkdtempSync(join(tmpdir(), "parley-bench-bots-"));
  writeFileSync(join(bots, "bench-echo.mjs"), BOT);
  const { say, messages, rounds, numbers } = options;
  say(`text → bot reply, ${numbers} numbers at once, ${rounds} rounds of ${messages}, medians per message`);
  say(
    showLine(["", "gateways", "database", "Redis", "in all", "msg/s", "p50", "requests", "KB", "commands"]),
  );
  try {
    const alone = await benchAlone(options, bots);
    say(showCost("one process, its own file", alone));
    for (const nodes of [1, 2, 3]) {
      const { cost, commands } = await benchNodes(options, bots, nodes);
      say(showCost(`${nodes} ${nodes === 1 ? "node" : "nodes"}, libSQL server, Redis`, cost));
      say(
        `    gateways beside one process: ${(cost.gateways / alone.gateways).toFixed(2)} ×; Redis: ${commands}`,
      );
    }
  } finally {
    removeFolder(bots);
  }
}

async function benchAlone({ messages, rounds, numbers }: ClusterBenchOptions, bots: string): Promise<Cost> {
  const { sim, ready } = await startSimulatorProcess("bench-cluster");
  const gateway = await startGatewayProcess(ready, { env: { BOTS_DIR: bots } });
  const key = await createAccount(gateway);
  const contacts = await sim.addContacts(numbers, { prefix: "49151" });
  const pairs = contacts.map((contact, i) => ({ contact, number: `3160${String(i + 1).padStart(7, "0")}` }));
  for (const { number } of pairs) {
    await link(gateway, sim, key, number);
    await call(gateway, "GET", `/devices/${number}`, undefined, key);
  }
  const costs: Cost[] = [];
  for (let round = -1; round < rounds; round++) {
    const before = cpuMs(gateway.child);
    const { perSecond, latency, count } = await write(sim, pairs, messages);
    const cost = { ...NOTHING, perSecond, latency, gateways: (cpuMs(gateway.child) - before) / count };
    if (round >= 0) costs.push(cost);
  }
  const ended = new Promise((resolve) => gateway.child.once("exit", resolve));
  gateway.child.kill("SIGTERM");
  await ended;
  await sim.stop();
  return middle(costs);
}

async function benchNodes(options: ClusterBenchOptions, bots: string, nodes: number) {
  const world = await openWorld({
    nodes,
    numbers: options.numbers,
    seed: "bench-cluster",
    entry: join(root, BUILT),
    env: { BOTS_DIR: bots, LOG_LEVEL: "warn" },
  });
  try {
    const costs: Cost[] = [];
    let commands = "";
    for (let round = -1; round < options.rounds; round++) {
      const before = await look(world);
      const { perSecond, latency, count } = await write(world.cluster.sim, world.numbers, options.messages);
      const after = await look(world);
      const each = (pick: (one: Looked) => number): number => (pick(after) - pick(before)) / count;
      commands = busiest(before.commands, after.commands, count);
      if (round < 0) continue;
      costs.push({
        perSecond,
        latency,
        gateways: each((one) => one.gateways),
        database: each((one) => one.database),
        redis: each((one) => one.redis),
        requests: each((one) => one.requests),
        writtenBytes: each((one) => one.writtenBytes),
        redisCommands: each((one) => total(one.commands)),
      });
    }
    return { cost: middle(costs), commands };
  } finally {
    await world.close();
  }
}

/** @returns how many were answered, how many of them in a second, and how long one took in the middle */
async function write(sim: Simulator, pairs: Pair[], messages: number) {
  const each = Math.ceil(messages / pairs.length);
  const started = performance.now();
  const took = await Promise.all(
    pairs.map(({ contact, number }) => roundTrips(sim, [contact], number, "ping", each)),
  );
  const seconds = (performance.now() - started) / 1_000;
  const count = each * pairs.length;
  return { count, perSecond: count / seconds, latency: median(took.flat()) };
}

interface Looked {
  gateways: number;
  database: number;
  redis: number;
  requests: number;
  writtenBytes: number;
  commands: Map<string, number>;
}

async function look({ cluster }: ClusterWorld): Promise<Looked> {
  const metrics = await cluster.database.metrics();
  const { part } = cluster.database;
  const io = readFileSync(`/proc/${part.pid}/io`, "utf8");
  const stats = String(await cluster.redis.command("INFO", "commandstats"));
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  return {
    gateways: cluster.nodes.reduce((sum, node) => sum + node.part.cpuMs(), 0),
    database: part.cpuMs(),
    redis: cluster.redis.part.cpuMs(),
    requests: metrics["libsql_server_libsql_execute_program"] ?? Number.NaN,
    writtenBytes: Number(/^wchar: (\d+)/m.exec(io)![1]),
    commands: new Map(calls.map(([, name, count]) => [name!, Number(count)])),
  };
}

const total = (commands: Map<string, number>): number =>
  [...commands.values()].reduce((sum, count) => sum + count, 0);

function busiest(before: Map<string, number>, after: Map<string, number>, count: number): string {
  return [...after]
    .map(([name, calls]) => [name, (calls - (before.get(name) ?? 0)) / count] as const)
    .filter(([, each]) => each >= 0.05)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 6)
    .map(([name, each]) => `${each.toFixed(1)} ${name}`)
    .join(", ");
}

const NOTHING: Cost = {
  gateways: 0,
  database: 0,
  redis: 0,
  perSecond: 0,
  latency: 0,
  requests: 0,
  writtenBytes: 0,
  redisCommands: 0,
};

const median = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const middle = (costs: Cost[]): Cost =>
  Object.fromEntries(
    Object.keys(NOTHING).map((name) => [name, median(costs.map((cost) => cost[name as keyof Cost]))]),
  ) as unknown as Cost;

function showCost(name: string, cost: Cost): string {
  const { gateways, database, redis, perSecond, latency, requests, writtenBytes, redisCommands } = cost;
  const ms = [gateways, database, redis, gateways + database + redis].map(
    (value) => `${value.toFixed(2)} ms`,
  );
  const rest = [requests, writtenBytes / 1_024, redisCommands].map((value) => value.toFixed(1));
  return showLine([name, ...ms, perSecond.toFixed(0), `${latency.toFixed(0)} ms`, ...rest]);
}

const showLine = (words: string[]): string =>
  words.map((word, index) => (index === 0 ? word.padEnd(32) : word.padStart(10))).join("");
