import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";

/** A gateway as somebody starts it by hand. */
interface Shown {
  url: string;
  dataDir: string;
  /** Everything that stood on the screen so far. */
  said(): string;
}

/** Starts the built gateway on a terminal of its own, which `script` makes. It ends with the test. */
export async function startOnTerminal(env: Record<string, string> = {}): Promise<Shown> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const command = `exec ${process.execPath} ${inject("serverEntry")}`;
  const child: ChildProcess = spawn("script", ["-qfec", command, "/dev/null"], {
    env: {
      PATH: process.env["PATH"]!,
      DATA_DIR: dataDir,
      PORT: new URL(url).port,
      NODE_ENV: "production",
      ...env,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    // As Ctrl-C does: the terminal tells the gateway.
    child.stdin!.write("\u0003");
    await gone;
  });
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (part: string) => (text += part));
  return { url, dataDir, said: () => text };
}
