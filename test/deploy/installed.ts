import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** A release as a server has it: installed by npm into a folder of its own, run by one Node. */
export interface Installed {
  /** `parley …` to its end. @returns what it wrote @throws Error when it fails */
  parley(env: Record<string, string>, ...args: string[]): Promise<string>;
  /** `parley start`; resolves when it is ready. */
  start(env: Record<string, string> & { PORT: string }): Promise<Running>;
}

/** A gateway of it. */
export interface Running {
  readyAfterMs: number;
  child: ChildProcess;
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>;
}

/** Downloaded by every server: a package that grows beyond this has something in it that it should not have. */
export const MOST_BYTES = 20 * 1024 * 1024;
const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** `npm i -g`, as the guide says. @param prefix folder that stands for the server's `/usr/local` */
export async function install(
  tarball: string,
  prefix: string,
  node: string = process.execPath,
): Promise<Installed> {
  const npm = ["install", "--global", "--prefix", prefix, "--no-audit", "--no-fund", tarball];
  await promisify(execFile)("npm", npm, { env: { ...process.env, npm_config_prefix: prefix } });
  const program = join(prefix, "bin/parley");
  const base = { PATH: `${dirname(node)}:${process.env["PATH"]!}`, HOME: prefix };

  return {
    async parley(env, ...args) {
      const { stdout } = await promisify(execFile)(program, args, { cwd: prefix, env: { ...base, ...env } });
      return stdout;
    },

    async start(env) {
      const began = performance.now();
      const child = spawn(program, ["start"], {
        cwd: prefix,
        env: { ...base, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let said = "";
      for (const output of [child.stdout, child.stderr])
        output.setEncoding("utf8").on("data", (text: string) => (said += text));
      const ended = once(child, "close").then(([code]) => code as number | null);
      const stop = (): Promise<number | null> => (child.kill("SIGTERM"), ended);
      for (;;) {
        const answer = await fetch(`http://127.0.0.1:${env.PORT}/health/ready`).catch(() => null);
        if (answer?.ok) return { readyAfterMs: performance.now() - began, child, stop };
        if (child.exitCode !== null || performance.now() - began > READY_WITHIN_MS) {
          child.kill("SIGKILL");
          throw new Error(`The installed gateway did not become ready:\n${said}`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    },
  };
}
