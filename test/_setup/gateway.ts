import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { atExit } from "./at-exit.ts";
import { createClient, type GatewayClient } from "./client.ts";

export interface GatewayOptions {
  /** Settings; `DATA_DIR` and `PORT` are given already. */
  env?: Record<string, string>;
  /** Default: a folder of its own, removed at the end. */
  dataDir?: string;
  /** Default: the build that vitest's global setup has made. */
  entry?: string;
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
const INHERITED = ["PATH", "HOME", "TMPDIR", "LANG", "TZ", "SystemRoot"];
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
  let env: Settings = { DATA_DIR: dataDir, PORT: String(port), NODE_ENV: "production", ...options.env };
  const firstEnv = env;
  let started = launch(entry, env);
  let before = "";

  const exited = () => started.exit;
  const end = async (signal: NodeJS.Signals): Promise<Exit> => {
    started.child.kill(signal);
    return started.exit;
  };
  const adminToken = () =>
    env.PARLEY_ADMIN_TOKEN ?? readFileSync(join(dataDir, "admin-token"), "utf8").trim();
  await ready(url, started);

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
    output: () => before + started.output(),
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    signal: (signal) => void started.child.kill(signal),
    exited,
    async restart(more = {}) {
      if (started.child.exitCode === null && started.child.signalCode === null) await end("SIGTERM");
      before += started.output();
      if (Object.keys(more).length > 0) env = { ...env, ...more };
      started = launch(entry, env);
      await ready(url, started);
    },
    isAsStarted: () =>
      env === firstEnv && started.child.exitCode === null && started.child.signalCode === null,
    async dispose() {
      await end("SIGKILL");
      if (ownFolder !== null) rmSync(ownFolder, { recursive: true, force: true });
    },
  };
}

/** A start that is expected to fail, or that ends by itself. */
export async function runGateway(
  options: GatewayOptions = {},
): Promise<Exit & { stdout: string; stderr: string }> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "parley-test-"));
  const port = String(await freePort());
  const env = { DATA_DIR: dataDir, PORT: port, NODE_ENV: "production", ...options.env };
  const started = launch(options.entry ?? inject("serverEntry"), env);
  const late = setTimeout(() => started.child.kill("SIGKILL"), READY_WITHIN_MS);
  const exit = await started.exit;
  clearTimeout(late);
  if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
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
function launch(entry: string, env: Settings): Started {
  const inherited = INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  const child = spawn(process.execPath, [entry], {
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

async function ready(url: string, started: Started): Promise<void> {
  const state = { gone: false };
  void started.exit.then(() => (state.gone = true));
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!state.gone && Date.now() < deadline) {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => null,
    );
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  started.child.kill("SIGKILL");
  const what = state.gone ? "ended" : `did not become ready within ${READY_WITHIN_MS / 1000} s`;
  throw new Error(`The gateway ${what}. It wrote:\n${started.output()}`);
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
