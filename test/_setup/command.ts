import { spawn } from "node:child_process";
import { once } from "node:events";
import { repositoryRoot } from "../../src/config.ts";
import { programFile } from "./program-file.ts";

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Everything it wrote, to standard output and standard error. */
  text: string;
}

export interface CommandOptions {
  env: Record<string, string>;
  /** Ends itself by SIGKILL there, see `src/model/failpoint.ts`. */
  crashAt?: string;
}

/** `npm run parley -- …` as an operator calls it, to its end. */
export async function runCommand({ env, crashAt }: CommandOptions, ...args: string[]): Promise<Ended> {
  const failpoints = ["--import", "data:text/javascript,globalThis.__FAILPOINTS__=true"];
  const child = spawn(
    process.execPath,
    [...(crashAt ? failpoints : []), programFile("src/cli/main.ts"), ...args],
    {
      cwd: repositoryRoot(),
      env: { PATH: process.env["PATH"], ...env, ...(crashAt ? { CRASH_AT: crashAt } : {}) },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, text };
}

/** {@link runCommand} that must succeed. @returns what it wrote */
export async function command(options: CommandOptions, ...args: string[]): Promise<string> {
  const { code, text } = await runCommand(options, ...args);
  if (code !== 0) throw new Error(`parley ${args.join(" ")} ended with ${code}: ${text}`);
  return text;
}
