import { createPaint, showTable, wantsColour, type Output } from "../../src/cli/terminal.ts";
import type { Simulator } from "../../src/simulator/types.ts";
import type { ClusterNode } from "./cluster.ts";
import type { ClusterWorld } from "./world.ts";

const DRAW_EVERY_MS = 1_000;
/** Without a terminal nothing is drawn again, so lines come seldom. */
const SAY_EVERY_MS = 10_000;
const ASK_MS = 2_000;

interface LiveOptions {
  perSecond: number;
  output: Output;
}

/** What `GET /admin/nodes` says of one node. */
interface NodeRecord {
  node: string;
  partitions: number;
  numbers: number;
  lag_ms: number | null;
}

/** People write, programs send, and a table shows who does the work, until Ctrl-C, SIGTERM or a closed terminal. */
export async function showLive(world: ClusterWorld, { perSecond, output }: LiveOptions): Promise<void> {
  const paint = createPaint(wantsColour(output));
  const ended = untilEnded();
  output.write(`\n${addresses(world)}\n\n`);
  const { cluster } = world;
  for (const part of [cluster.database.part, cluster.redis.part, cluster.simulator])
    part.onEnd = (how) => output.write(`  ${paint.red("✗")} ${part.name} ended ${how}\n`);
  const endTraffic = world.startTraffic(perSecond);
  const traffic = createTraffic(cluster.sim);
  let drawn = 0;
  const state = { over: false };
  void ended.then(() => (state.over = true));
  while (!state.over) {
    const rows = await nodeRows(world);
    const table = showTable(paint, ["node", "pid", "address", "partitions", "numbers", "lag"], rows);
    const text = `${table}\n\n${await traffic.look()}\n`.replace(/^(?=.)/gm, "  ");
    // Up to where the last one began, and each line over the old one: nothing flickers.
    const up = output.isTTY && drawn > 0 ? `\u001B[${drawn}A` : "";
    output.write(up + (output.isTTY ? text.replace(/$/gm, "\u001B[K") : text));
    drawn = text.split("\n").length - 1;
    await Promise.race([ended, pause(output.isTTY ? DRAW_EVERY_MS : SAY_EVERY_MS)]);
  }
  output.write("\n  ending\n");
  // Whoever waits for a node that is gone waits no longer.
  await Promise.race([endTraffic().catch(() => undefined), pause(ASK_MS)]);
}

function addresses({ cluster, key }: ClusterWorld): string {
  const { database, redis, simulator, sim, nodes, adminToken, folder } = cluster;
  const lines = [
    ["libSQL server", `${database.url}  pid ${database.part.pid}`],
    ["Redis", `${redis.url}  pid ${redis.part.pid}`],
    ["simulator", `${sim.controlUrl}  pid ${simulator.pid}`],
    ...nodes.map(({ name, client, part }) => [name, `${client.url}  pid ${part.pid}`]),
    ["API key", key],
    ["admin token", adminToken],
    ["logs", folder],
    ["try", `kill -9 ${nodes[0]!.part.pid}`],
  ];
  return lines.map(([name, text]) => `  ${name!.padEnd(15)}${text}`).join("\n");
}

/** Whoever answers tells of all; a node that has ended is shown as that. */
async function nodeRows({ cluster }: ClusterWorld): Promise<string[][]> {
  const records = await firstAnswer(cluster.nodes, cluster.adminToken);
  return cluster.nodes.map(({ name, part, client }) => {
    const found = part.pid === 0 ? undefined : records.find(({ node }) => node === name);
    const { partitions, numbers, lag_ms: lag } = found ?? {};
    const shown = [partitions, numbers, lag === null || lag === undefined ? undefined : `${lag} ms`];
    return [
      name,
      part.pid === 0 ? "ended" : String(part.pid),
      client.url,
      ...shown.map((one) => String(one ?? "–")),
    ];
  });
}

async function firstAnswer(nodes: ClusterNode[], token: string): Promise<NodeRecord[]> {
  for (const { client, part } of nodes) {
    if (part.pid === 0) continue;
    const init = { headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(ASK_MS) };
    const answer = await client.request("GET", "/admin/nodes", init).catch(() => null);
    if (answer?.status === 200) return answer.body["data"] as NodeRecord[];
  }
  return [];
}

/** Counts what people wrote and what came to them, as the simulator has seen it. */
function createTraffic(sim: Simulator) {
  let since = 0;
  let before = Date.now();
  const total = { written: 0, arrived: 0 };
  return {
    async look(): Promise<string> {
      const entries = await sim.transcript({ since }).catch(() => []);
      const written = entries.filter(
        ({ direction, ordinal }) => direction === "to_companion" && ordinal === 1,
      );
      const arrived = entries.filter(({ direction, device }) => direction === "to_contact" && device === 0);
      since = entries.at(-1)?.seq ?? since;
      total.written += written.length;
      total.arrived += arrived.length;
      const seconds = Math.max(1_000, Date.now() - before) / 1_000;
      before = Date.now();
      return (
        `people wrote ${total.written} (${(written.length / seconds).toFixed(1)}/s), ` +
        `to them came ${total.arrived} (${(arrived.length / seconds).toFixed(1)}/s)`
      );
    },
  };
}

function untilEnded(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => {
        resolve();
        process.once(signal, () => process.exit(130));
      });
    process.stdout.once("error", resolve);
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
