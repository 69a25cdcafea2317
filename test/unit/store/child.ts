import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { programFile } from "../../_setup/program-file.ts";

export interface Child {
  process: ChildProcess;
  /** Everything that it printed so far. */
  output(): string;
  /** Resolves when the output satisfies the condition; rejects when it ends before. */
  printed(condition: (output: string) => boolean): Promise<void>;
  /** SIGKILL; resolves when it is gone and its output is read to the end. */
  kill(): Promise<void>;
}

/** Runs a program of this folder as a process of its own. Killed at the end of the test when it is still there. */
export function runChild(script: string, ...args: string[]): Child {
  return watched([programFile(`test/unit/store/${script}`), ...args]);
}

/** The same for a script of any folder, read with `tsx`. @param env beside what this process has */
export function runScript(path: string, args: string[], env: Record<string, string> = {}): Child {
  return watched(["--import", "tsx", path, ...args], env);
}

function watched(args: string[], env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    process: child,
    output: () => output,
    async printed(condition) {
      while (!condition(output)) {
        const ended = await Promise.race([
          once(child.stdout, "data").then(() => false),
          closed.then(() => true),
        ]);
        if (ended && !condition(output)) throw new Error(`The process ended early: ${output}`);
      }
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
