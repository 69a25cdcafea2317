import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/process/free-port.ts";
import { connectSimulator } from "../../src/simulator/client.ts";
import type { ReadyLine, Simulator } from "../../src/simulator/types.ts";
import { createClient, type GatewayClient } from "../_setup/client.ts";
import { removeFolder } from "../_setup/folders.ts";
import { programIn, testPrograms } from "../_setup/programs.ts";
import { PATIENT } from "../crash/apart.ts";
import { loopback, type Network } from "./network.ts";
import { createPart, type Part } from "./part.ts";
import { createDatabaseServer, createRedisServer, type DatabaseServer, type RedisServer } from "./servers.ts";

/** One gateway among several. */
export interface ClusterNode {
  name: string;
  /** From 1, its place in the network. */
  index: number;
  part: Part;
  client: GatewayClient;
}

/** A libSQL server, Redis, the simulator and some gateways, each in a process of its own. */
export interface Cluster {
  /** Data of all, and what each has written. */
  folder: string;
  network: Network;
  sim: Simulator;
  simulator: Part;
  database: DatabaseServer;
  redis: RedisServer;
  nodes: ClusterNode[];
  adminToken: string;
  /** Starts one more. */
  addNode(): Promise<ClusterNode>;
  /** Makes one that is not started, as {@link nodes} are. @param name of another, when it is to be taken twice */
  prepareNode(name?: string): Promise<ClusterNode>;
  /** Ends all in an orderly way, whatever has ended already, and removes the folder. */
  close(): Promise<void>;
}

export interface ClusterOptions {
  nodes: number;
  /** `index.mjs` of a build. */
  entry: string;
  seed?: string;
  network?: Network;
  /** Seconds that a lease lasts; default: the gateway's own. */
  leaseSeconds?: number | undefined;
  /** Further settings of the gateways. */
  env?: Record<string, string>;
  /** Told of each thing that is begun. */
  onStep?: (doing: string) => void;
}

/** Starts everything. @throws when a part does not start; what was started ends */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { network = loopback, onStep = () => undefined } = options;
  const folder = mkdtempSync(join(tmpdir(), "parley-cluster-"));
  const tidy = (): void => removeFolder(folder);
  process.once("exit", tidy);
  onStep("the libSQL server");
  const database = await createDatabaseServer(folder, network);
  await database.start();
  onStep("Redis");
  const redis = await createRedisServer(folder, network);
  await redis.start();
  onStep("the simulator");
  const { sim, simulator, ready } = await startSimulator(folder, options.seed ?? "cluster", network);
  const settings = { ...sharedSettings(ready), ...options.env };
  if (options.leaseSeconds !== undefined) settings["LEASE_SECONDS"] = String(options.leaseSeconds);

  const nodes: ClusterNode[] = [];
  let count = 0;
  const around = { database, redis, ready, network };
  const prepareNode = async (name?: string): Promise<ClusterNode> => {
    const index = ++count;
    const env = { ...settings, ...(await settingsOf(index, around)) };
    return createNode({ ...options, folder, network, index, name, env });
  };
  const addNode = async (): Promise<ClusterNode> => {
    const node = await prepareNode();
    await node.part.start();
    nodes.push(node);
    return node;
  };
  for (let i = 1; i <= options.nodes; i++) {
    onStep(`node ${i}`);
    await addNode();
  }
  return {
    folder,
    network,
    sim,
    simulator,
    database,
    redis,
    nodes,
    adminToken: settings["PARLEY_ADMIN_TOKEN"]!,
    addNode,
    prepareNode,
    async close() {
      await Promise.all(nodes.map(({ part }) => part.stop(10_000)));
      await Promise.all([database.part, redis.part, simulator].map((part) => part.stop(5_000)));
      tidy();
      process.off("exit", tidy);
    },
  };
}

async function startSimulator(folder: string, seed: string, network: Network) {
  let line = "";
  const program = programIn(await testPrograms(), "src/simulator/main.ts");
  const simulator = createPart({
    name: "simulator",
    command: [process.execPath, program, "--seed", seed, "--host", network.listenOn],
    logFile: join(folder, "simulator.log"),
    onFirstLine: (text) => (line = text),
    ready: async () => line !== "",
  });
  await simulator.start();
  const ready = JSON.parse(line) as ReadyLine;
  return { simulator, ready, sim: connectSimulator(ready.controlUrl, ready) };
}

/** What every node has to be told alike. */
function sharedSettings(ready: ReadyLine): Record<string, string> {
  return {
    ...PATIENT,
    NODE_ENV: "production",
    PARLEY_MASTER_KEY: randomBytes(32).toString("base64"),
    PARLEY_ADMIN_TOKEN: randomBytes(24).toString("hex"),
    WHATSAPP_NOISE_ROOT: ready.noiseRoot,
    WHATSAPP_CA_FILE: ready.caFile,
    ALLOW_PRIVATE_NETWORK: "1",
    PLAN_PRO: '{"devices":null,"keys":null,"sends_per_day":null}',
    API_RATE_PER_MINUTE: "0",
    LOG_LEVEL: "info",
  };
}

interface Around {
  database: DatabaseServer;
  redis: RedisServer;
  ready: ReadyLine;
  network: Network;
}

/** Where a node finds the others. */
async function settingsOf(
  node: number,
  { database, redis, ready, network }: Around,
): Promise<Record<string, string>> {
  const whatsapp = new URL(ready.wsUrl);
  whatsapp.hostname = await network.hostFor(node, "whatsapp", Number(whatsapp.port));
  return {
    CLUSTER: "1",
    DATABASE_URL: `http://${await network.hostFor(node, "database", database.port)}:${database.port}`,
    REDIS_URL: `redis://${await network.hostFor(node, "redis", redis.port)}:${redis.port}`,
    WHATSAPP_WS_URL: whatsapp.href,
  };
}

interface NodeOptions extends ClusterOptions {
  folder: string;
  network: Network;
  index: number;
  name?: string | undefined;
  env: Record<string, string>;
}

async function createNode(options: NodeOptions): Promise<ClusterNode> {
  const { network, index, env, folder, entry } = options;
  const { prefix, host } = await network.join(index);
  const port = await freePort();
  const own = name(index);
  const dataDir = join(folder, own);
  mkdirSync(dataDir);
  const url = `http://${host}:${port}`;
  const part = createPart({
    name: own,
    command: [...prefix, process.execPath, entry],
    env: {
      ...env,
      NODE_NAME: options.name ?? own,
      DATA_DIR: dataDir,
      HOST: host,
      PORT: String(port),
    },
    logFile: join(folder, `${own}.log`),
    ready: async () => (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) })).ok,
  });
  return {
    name: own,
    index,
    part,
    client: createClient(url, () => env["PARLEY_ADMIN_TOKEN"]!),
  };
}

const name = (index: number): string => `node-${index}`;
