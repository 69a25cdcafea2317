import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { PARTITIONS } from "../../src/model/nodes/cluster.ts";
import { atExit } from "./at-exit.ts";
import { createClient, type GatewayClient } from "./client.ts";
import { removeFolder } from "./folders.ts";
import { freePort } from "./free-port.ts";
import { endServices, nodeSettings } from "./node-services.ts";
import { gatewayProgram } from "./runtimes.ts";

export interface GatewayOptions {
  /** Settings; `DATA_DIR` and `PORT` are given already. */
  env?: Record<string, string>;
  /** Default: a folder of its own, removed at the end. */
  dataDir?: string;
  /** Default: the build that vitest's global setup has made. */
  entry?: string;
  /** Default 60 s. */
  readyWithinMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One gateway process, and what tests do to it. Requests are those of {@link GatewayClient}. */
export interface Gateway extends GatewayClient {
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  readonly adminToken: string;
  /** Its database as `createClient` takes it: a file, or the server of a node. */
  readonly databaseUrl: string;
  /** Environment of `npm run parley -- …` as its operator on the same machine calls it. */
  readonly operatorEnv: Record<string, string>;
  /** From launch to ready, the longest of all its starts. */
  readonly slowestStartMs: number;
  /** Everything it has written so far, stdout and stderr of all its starts. */
  output(): string;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<Exit>;
  /** SIGTERM. Resolves when the process is gone. */
  stop(): Promise<Exit>;
  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone, whatever ended it. */
  exited(): Promise<Exit>;
  /** Starts it again on the same data and port, with further settings if given; ends it first when it still runs. */
  restart(env?: Record<string, string>): Promise<void>;
  /** It runs, with the settings of its first start. */
  isAsStarted(): boolean;
  /** Ends it and removes its data. */
  dispose(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;
/** And which way messages take: `npm run test:baileys` and `npm run crash -- --ways` say so of every gateway. */
const WAYS = ["EVERYDAY_PATH", "EVERYDAY_MIX"];
const INHERITED = ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SystemRoot", ...WAYS];
const running = new Set<ChildProcess>();
atExit(() => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts the built gateway on a free port and waits until `/health/ready` answers 200.
 *
 * @throws with everything that it wrote when it ended or did not become ready
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const ownFolder = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), "parley-test-")) : null;
  const dataDir = options.dataDir ?? ownFolder!;
  const entry = options.entry ?? inject("serverEntry");
  const port = options.env?.["PORT"] ? Number(options.env["PORT"]) : await freePort();
  const url = `http://127.0.0.1:${port}`;
  const services = await nodeSettings(dataDir, options.env);
  const program = await gatewayProgram();
  let env: Settings = {
    DATA_DIR: dataDir,
    PORT: String(port),
    NODE_ENV: "production",
    ...services,
    ...options.env,
  };
  const firstEnv = env;
  let started = launch(program, entry, env);
  let before = "";

  const exited = () => started.exit;
  const end = async (signal: NodeJS.Signals): Promise<Exit> => {
    started.child.kill(signal);
    return started.exit;
  };
  const adminToken = () =>
    env.PARLEY_ADMIN_TOKEN ?? readFileSync(join(dataDir, "admin-token"), "utf8").trim();
  let slowestStartMs = 0;
  const whenReady = async (): Promise<void> => {
    const launchedAt = Date.now();
    await ready(url, started, options.readyWithinMs ?? READY_WITHIN_MS);
    if ("DATABASE_URL" in services) await hasEveryNumber(url, adminToken());
    slowestStartMs = Math.max(slowestStartMs, Date.now() - launchedAt);
  };
  const discard = async (): Promise<void> => {
    await end("SIGKILL");
    if (ownFolder === null) return;
    await endServices(ownFolder);
    removeFolder(ownFolder);
  };
  await whenReady().catch(async (error: unknown) => {
    await discard();
    throw error;
  });

  return {
    ...createClient(url, adminToken, () => env["MPWA_COMPAT"] !== "1"),
    port,
    dataDir,
    get pid() {
      return started.child.pid!;
    },
    get adminToken() {
      return adminToken();
    },
    get databaseUrl() {
      return env["DATABASE_URL"] || `file:${join(dataDir, "parley.db")}`;
    },
    get operatorEnv() {
      // The token of a node is in no file.
      const token: Record<string, string> =
        "DATABASE_URL" in services ? { PARLEY_ADMIN_TOKEN: adminToken() } : {};
      return { PATH: process.env["PATH"]!, PORT: String(port), DATA_DIR: dataDir, ...token };
    },
    get slowestStartMs() {
      return slowestStartMs;
    },
    output: () => before + started.output(),
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    signal: (signal) => void started.child.kill(signal),
    exited,
    async restart(more = {}) {
      if (started.child.exitCode === null && started.child.signalCode === null) await end("SIGTERM");
      before += started.output();
      if (Object.keys(more).length > 0) env = { ...env, ...more };
      started = launch(program, entry, env);
      await whenReady();
    },
    isAsStarted: () =>
      env === firstEnv && started.child.exitCode === null && started.child.signalCode === null,
    dispose: discard,
  };
}

/** A node that is alone takes what nobody has, and what a killed one had when that one's lease has ended. */
async function hasEveryNumber(url: string, token: string): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(`${url}/admin/nodes`, { headers: { authorization: `Bearer ${token}` } });
    const { data } = (await answer.json()) as { data: { partitions: number }[] };
    if (data.some(({ partitions }) => partitions === PARTITIONS)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A start that is expected to fail, or that ends by itself. */
export async function runGateway(
  options: GatewayOptions = {},
): Promise<Exit & { stdout: string; stderr: string }> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "parley-test-"));
  const port = String(await freePort());
  const env = { DATA_DIR: dataDir, PORT: port, NODE_ENV: "production", ...options.env };
  const started = launch(await gatewayProgram(), options.entry ?? inject("serverEntry"), env);
  const late = setTimeout(() => started.child.kill("SIGKILL"), READY_WITHIN_MS);
  const exit = await started.exit;
  clearTimeout(late);
  if (options.dataDir === undefined) removeFolder(dataDir);
  return { ...exit, stdout: started.stdout(), stderr: started.stderr() };
}

interface Started {
  child: ChildProcess;
  exit: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  output(): string;
}

type Settings = Record<string, string> & { PARLEY_ADMIN_TOKEN?: string };

/** Of our own environment it gets only what every program needs: a test must not depend on somebody's settings. */
function launch(program: string, entry: string, env: Settings): Started {
  const inherited = INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  const child = spawn(program, [entry], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const written = { stdout: "", stderr: "", all: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]!.setEncoding("utf8").on("data", (text: string) => {
      written[name] += text;
      written.all += text;
    });
  const exit = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    child,
    exit,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    output: () => written.all,
  };
}

async function ready(url: string, started: Started, withinMs: number): Promise<void> {
  const state = { gone: false };
  void started.exit.then(() => (state.gone = true));
  const deadline = Date.now() + withinMs;
  while (!state.gone && Date.now() < deadline) {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => null,
    );
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  started.child.kill("SIGKILL");
  const what = state.gone ? "ended" : `did not become ready within ${withinMs / 1000} s`;
  throw new Error(`The gateway ${what}. It wrote:\n${started.output()}`);
}
