import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { buildIfStale } from "../cli/build.ts";
import { createGatewayClient, type GatewayClient } from "../cli/gateway-client.ts";
import type { Steps } from "../cli/terminal.ts";
import { freePort } from "../process/free-port.ts";
import { connectSimulator } from "../simulator/client.ts";
import type { ReadyLine, Simulator } from "../simulator/types.ts";
import type { Cleanup } from "./cleanup.ts";
import { keepRunning, type Kept } from "./kept-program.ts";
import { startProgram, type Program, type ProgramOptions } from "./programs.ts";

/** The number that the gateway links, digits. */
export const NUMBER = "31600000001";
/** The name that WhatsApp shows of its owner. */
export const SHOP = "Demo shop";
/** The person who writes to it: number in digits, and the name that WhatsApp shows. */
export const CONTACT = { number: "31600000002", name: "Ana" };

const GATEWAY_START_MS = 60_000;
const SIMULATOR_START_MS = 30_000;

/** How `npm run dev` has its gateway. */
export interface Development {
  /** Of the bots, absolute. */
  folder: string;
  /** Of the built console; without it there is none. */
  consoleDir?: string;
  /** Gets what the gateway writes. */
  onLine(line: string): void;
}

/** A gateway with an account, and the simulator that it takes for WhatsApp. Nothing is linked yet. */
export interface Services {
  simulator: Simulator;
  /** Asks as the demo's account. */
  gateway: GatewayClient;
  apiKey: string;
  adminToken: string;
  /** The demo's own folder, removed at its end. */
  folder: string;
  /** Of the gateway. */
  dataDir: string;
  /** The gateway's process, when it may be killed. */
  kept: Kept | null;
}

/** What is started, and where it is written down. */
export interface ServicesOptions {
  /** Repository root. */
  root: string;
  steps: Steps;
  /** Gets an entry for everything that must not outlive the demo. */
  cleanup: Cleanup;
  /** Gets a promise of each program that rejects when it ends by itself. */
  watch(crashed: Promise<never>): void;
  /** The gateway is that of `nitro dev`. Default: the built one. */
  dev?: Development | undefined;
  /** Where the console leads whoever wants to write from a phone. */
  playground?: string;
  /** The gateway is started again whenever it ends. Default false: its end is the demo's. */
  restarts?: boolean;
}

type Start = (options: Omit<ProgramOptions, "cwd" | "logFile">) => Program;

/** Builds when needed, starts simulator and gateway, and makes an account. @throws Error of the step that failed */
export async function openServices(options: ServicesOptions): Promise<Services> {
  const { root, steps, cleanup, watch, dev, playground } = options;
  if (dev === undefined)
    await steps.run("build", async (report) => {
      const seconds = await buildIfStale(root, report);
      return seconds === null ? "up to date" : `${seconds.toFixed(1)} s`;
    });
  const folder = await ownFolder(root, cleanup);
  const dataDir = join(folder, "data");
  const start: Start = (program) =>
    startProgram({ ...program, cwd: root, logFile: join(folder, `${program.name}.log`) });
  const simulator = await openSimulator(watched(start, options), steps);
  const port = await freePort();
  const adminToken = randomBytes(24).toString("hex");
  const operator = createGatewayClient(`http://127.0.0.1:${port}`, adminToken);
  const given = gatewayProgram({ port, adminToken, dataDir, simulator, dev, folder, playground });
  let kept: Kept | null = null;
  await steps.run("gateway", async (report) => {
    report("starting");
    const late = tooLate("The gateway", GATEWAY_START_MS);
    if (options.restarts) {
      kept = keepRunning(
        () => overheard(start(given), dev),
        () => untilReady(operator),
      );
      cleanup.add(() => kept!.stop());
      watch(kept.givenUp);
      await Promise.race([kept.up(), kept.givenUp, late]);
    } else {
      const program = overheard(watched(start, { cleanup, watch })(given), dev);
      await Promise.race([untilReady(operator), program.crashed, late]);
    }
    return operator.baseUrl;
  });
  const apiKey = await makeAccount(operator, steps);
  return { simulator, gateway: operator.as(apiKey), apiKey, adminToken, folder, dataDir, kept };
}

function overheard(program: Program, dev: Development | undefined): Program {
  if (dev && program.child.stdout) createInterface({ input: program.child.stdout }).on("line", dev.onLine);
  return program;
}

async function makeAccount(operator: GatewayClient, steps: Steps): Promise<string> {
  let apiKey = "";
  await steps.run("account", async () => {
    const made = await operator.post<{ api_key: string }>("/admin/accounts", { name: "demo" });
    apiKey = made.api_key;
    return "demo, with its first API key";
  });
  return apiKey;
}

/** Programs whose end by themselves is the demo's. */
const watched =
  (start: Start, { cleanup, watch }: Pick<ServicesOptions, "cleanup" | "watch">): Start =>
  (options) => {
    const program = start(options);
    cleanup.add(() => program.stop());
    watch(program.crashed);
    return program;
  };

/** `.demo/<process id>`: two demos do not disturb each other, and what a killed one left behind is removed. */
async function ownFolder(root: string, cleanup: Cleanup): Promise<string> {
  const parent = join(root, ".demo");
  await mkdir(parent, { recursive: true });
  for (const name of await readdir(parent)) {
    if (!isRunning(Number(name))) await rm(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, String(process.pid));
  await mkdir(join(folder, "data"), { recursive: true });
  // After a failure the logs stay until the next run.
  cleanup.add((failed) => rm(failed ? join(folder, "data") : folder, { recursive: true, force: true }));
  return folder;
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function openSimulator(start: Start, steps: Steps): Promise<Simulator> {
  let simulator!: Simulator;
  await steps.run("simulator", async (report) => {
    report("starting an offline WhatsApp");
    const program = start({
      name: "simulator",
      args: ["--import", "tsx", "src/simulator/main.ts", "--with-parent"],
      env: {},
      readOutput: true,
    });
    const late = tooLate("The simulator", SIMULATOR_START_MS);
    const ready = await Promise.race([readReadyLine(program), program.crashed, late]);
    simulator = connectSimulator(ready.controlUrl, ready);
    await simulator.addNumber(NUMBER, { name: SHOP });
    return `offline WhatsApp at ${ready.wsUrl}`;
  });
  return simulator;
}

async function readReadyLine(program: Program): Promise<ReadyLine> {
  const output = program.child.stdout;
  if (!output) throw new Error("The simulator's output cannot be read.");
  const [line] = (await once(createInterface({ input: output }), "line")) as [string];
  return JSON.parse(line) as ReadyLine;
}

interface GatewayFacts {
  port: number;
  adminToken: string;
  dataDir: string;
  simulator: Simulator;
  /** The demo's own. */
  folder: string;
  dev: Development | undefined;
  playground: string | undefined;
}

function gatewayProgram({
  port,
  adminToken,
  dataDir,
  simulator,
  folder,
  dev,
  playground,
}: GatewayFacts): Parameters<Start>[0] {
  return {
    name: "gateway",
    args: dev ? devServer(port) : ["--import", "./src/demo/end-with-parent.mjs", ".output/server/index.mjs"],
    readOutput: dev !== undefined,
    env: {
      NODE_ENV: dev ? "development" : "production",
      ...(dev && {
        PARLEY_DEV_BOTS: dev.folder,
        // Two of them at the same time would build into one folder. Its frames are no author's, as those of packages.
        PARLEY_DEV_BUILD: join(folder, "node_modules/.nitro"),
      }),
      ...(dev?.consoleDir !== undefined && { CONSOLE_DIR: dev.consoleDir }),
      HOST: "127.0.0.1",
      PORT: String(port),
      DATA_DIR: dataDir,
      PARLEY_ADMIN_TOKEN: adminToken,
      WHATSAPP_WS_URL: simulator.wsUrl,
      WHATSAPP_NOISE_ROOT: simulator.noiseRoot,
      WHATSAPP_CA_FILE: simulator.caFile,
      ...(playground !== undefined && { PLAYGROUND_URL: playground }),
      PASSKEY_LINKING: "1",
      // The demo's webhook receiver listens on loopback.
      ALLOW_PRIVATE_NETWORK: "1",
    },
  };
}

const devServer = (port: number): string[] => [
  "--import",
  "./src/demo/end-with-parent.mjs",
  "node_modules/nitro/dist/cli/index.mjs",
  "dev",
  "--host",
  "127.0.0.1",
  "--port",
  String(port),
];

async function untilReady(gateway: GatewayClient): Promise<void> {
  const deadline = Date.now() + GATEWAY_START_MS;
  while (Date.now() < deadline) {
    const ready = await gateway.get("/health/ready").catch(() => null);
    if (ready) return;
    await pause(50);
  }
}

async function tooLate(who: string, afterMs: number): Promise<never> {
  await pause(afterMs, undefined, { ref: false });
  throw new Error(`${who} did not start within ${afterMs / 1_000} seconds.`);
}
