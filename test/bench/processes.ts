import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { connectSimulator } from "../../src/simulator/client.ts";
import type { ReadyLine, Simulator } from "../../src/simulator/types.ts";
import { atExit } from "../_setup/at-exit.ts";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";

/** `npm run build` makes it. */
export const BUILT = ".output/server/index.mjs";

/** Ends the process with one sentence when there is no build to be measured. */
export function requireBuild(): void {
  if (existsSync(join(root, BUILT))) return;
  process.stderr.write(`There is no build to measure (${BUILT}). Run "npm run build" first.\n`);
  process.exit(1);
}

export const root = fileURLToPath(new URL("../../", import.meta.url));
const children = new Set<ChildProcess>();
const folders = new Set<string>();

export function endAll(): void {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) removeFolder(folder);
}
atExit(endAll);

function spawnNode(
  command: string[],
  options: Parameters<typeof spawn>[2],
  program: string = process.execPath,
): ChildProcess {
  const child = spawn(program, command, { cwd: root, ...options });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** CPU milliseconds that a process has used so far, all threads; from /proc, in steps of 10 ms. */
export function cpuMs({ pid }: Pick<ChildProcess, "pid">): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, in MB. */
export function rssMb(child: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024;
}

/** The most that it has had since it was last asked, in MB; Linux resets its own count. */
export function peakMb(child: ChildProcess): number {
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1];
  writeFileSync(`/proc/${child.pid}/clear_refs`, "5");
  return Number(peak) / 1024;
}

export interface RunningSimulator {
  sim: Simulator;
  ready: ReadyLine;
}

/** @param program what `node` is given for it; default: the sources, read with `tsx` */
export async function startSimulatorProcess(
  seed: string,
  program: string[] = ["--import", "tsx", "src/simulator/main.ts"],
): Promise<RunningSimulator> {
  const child = spawnNode([...program, "--seed", seed], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let line = "";
  for await (const chunk of child.stdout!) {
    line += chunk;
    if (line.includes("\n")) break;
  }
  const ready = JSON.parse(line) as ReadyLine;
  return { sim: await connectSimulator(ready.controlUrl), ready };
}

export interface BareEcho {
  child: ChildProcess;
  send(to: string, text: string): Promise<void>;
}

/** @param program what runs it; default: what runs the bench */
export async function startBareEcho(
  { sim, ready }: RunningSimulator,
  number: string,
  program?: string,
): Promise<BareEcho> {
  const owner = await sim.addNumber(number, { name: "Bare" });
  const child = spawnNode(
    ["test/bench/bare-echo.mjs", JSON.stringify(ready)],
    { env: { ...process.env, NODE_ENV: "production" }, stdio: ["ignore", "ignore", "ignore", "ipc"] },
    program,
  );
  let scanned = false;
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`The bare echo ended with ${code}`)));
    child.on("message", (message: { qr?: string; open?: boolean }) => {
      if (message.qr && !scanned) {
        scanned = true;
        owner.scan(message.qr).catch(reject);
      }
      if (message.open) resolve();
    });
  });
  return {
    child,
    async send(to, text) {
      child.send({ to, text });
      await once(child, "message");
    },
  };
}

export interface BenchGateway {
  child: ChildProcess;
  url: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** What runs it. */
  program: string;
}

/** How a gateway is started for a measurement. */
export interface GatewayStart {
  /** One that has ended: the same data and port. */
  again?: BenchGateway;
  /** Data that was made before, and stays; default: a folder that goes with the run. */
  dataDir?: string;
  env?: Record<string, string>;
  /** For the gateway's own process, as `--cpu-prof`. */
  nodeOptions?: string[];
  /** A module that is loaded first and talks to the bench over IPC. */
  probe?: string;
  /** `index.mjs` of a build; default: that of `npm run build`. */
  entry?: string;
  /** What runs it; default: what runs the bench, or what ran it before. */
  program?: string;
}

export async function startGatewayProcess(
  ready: Pick<ReadyLine, "wsUrl" | "noiseRoot" | "caFile">,
  { again, nodeOptions = [], probe, entry, ...start }: GatewayStart = {},
): Promise<BenchGateway> {
  const dataDir = again?.dataDir ?? start.dataDir ?? mkdtempSync(join(tmpdir(), "parley-bench-"));
  if (start.dataDir === undefined) folders.add(dataDir);
  const port = again ? Number(new URL(again.url).port) : await freePort();
  const env = {
    ...process.env,
    NODE_ENV: "production",
    PORT: String(port),
    DATA_DIR: dataDir,
    LOG_LEVEL: "warn",
    ALLOW_PRIVATE_NETWORK: "1",
    API_RATE_PER_MINUTE: "0",
    PACE_PER_MINUTE: "0",
    LOOP_GUARD_PER_MINUTE: "0",
    PLAN_BASIC: '{"devices":null,"keys":null,"sends_per_day":null}',
    WHATSAPP_WS_URL: ready.wsUrl,
    WHATSAPP_NOISE_ROOT: ready.noiseRoot,
    WHATSAPP_CA_FILE: ready.caFile,
    ...start.env,
  };
  const preload = probe === undefined ? [] : ["--import", pathToFileURL(probe).href];
  const program = start.program ?? again?.program ?? process.execPath;
  const stdio: StdioOptions = [
    "ignore",
    "ignore",
    "inherit",
    ...(probe === undefined ? [] : ["ipc" as const]),
  ];
  const child = spawnNode([...nodeOptions, ...preload, entry ?? BUILT], { env, stdio }, program);
  const gateway = { child, url: `http://127.0.0.1:${port}`, dataDir, env, program };
  const deadline = Date.now() + 120_000;
  for (;;) {
    const ok = await fetch(`${gateway.url}/health/ready`).then(
      (r) => r.ok,
      () => false,
    );
    if (ok) return gateway;
    if (Date.now() > deadline || child.exitCode !== null) throw new Error("The gateway did not become ready");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
