import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync, closeSync, openSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { atExit } from "../_setup/at-exit.ts";
import { setPriv } from "./tools.ts";

/** How a process of the cluster is started. */
export interface PartOptions {
  name: string;
  /** Program and arguments. */
  command: string[];
  env?: Record<string, string>;
  /** File that takes what it writes. */
  logFile: string;
  /** Resolves when it does its work; asked again and again until then. */
  ready: () => Promise<boolean>;
  readyWithinMs?: number;
  /** Told of the first line of its standard output, at each start. */
  onFirstLine?: (line: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One process of the cluster, which can end and be started again under the same name, with the same data. */
export interface Part {
  readonly name: string;
  readonly logFile: string;
  /** 0 while it does not run. */
  readonly pid: number;
  /** Told when it ends without having been asked to, with the reason. */
  onEnd: (how: string) => void;
  /** Starts it, and resolves when it is ready. @throws with its last words when it ends or takes too long */
  start(env?: Record<string, string>): Promise<void>;
  /** SIGSTOP, SIGCONT and the like. */
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL, however it is; resolves when it is gone. */
  kill(): Promise<Exit>;
  /** SIGTERM, and SIGKILL when that takes too long. */
  stop(withinMs?: number): Promise<Exit>;
  /** CPU milliseconds that it has used so far. */
  cpuMs(): number;
}

const INHERITED = ["PATH", "HOME", "TMPDIR", "LANG", "TZ"];
const READY_WITHIN_MS = 120_000;
const STOP_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
const GONE: Exit = { code: null, signal: null };

const running = new Set<ChildProcess>();
atExit(() => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Of our own environment it gets only what every program needs. It has a group of its own, so that Ctrl-C reaches the drill
 * alone, which then ends it in order; and where the system can it is killed with the drill, however that ends.
 */
export function createPart(options: PartOptions): Part {
  let child: ChildProcess | null = null;
  let exit: Promise<Exit> = Promise.resolve(GONE);
  let asked = false;

  const isGone = (): boolean => child === null || child.exitCode !== null || child.signalCode !== null;
  const part: Part = {
    name: options.name,
    logFile: options.logFile,
    get pid() {
      return isGone() ? 0 : child!.pid!;
    },
    onEnd: () => undefined,
    async start(env = {}) {
      if (!isGone()) return;
      asked = false;
      child = launch(options, env);
      exit = ended(child);
      void exit.then((how) => {
        const told = how.signal ? `by ${how.signal}` : `with exit code ${how.code}`;
        appendFileSync(options.logFile, `--- ended ${told}\n`);
        if (!asked) part.onEnd(told);
      });
      await untilReady(options, isGone);
    },
    signal: (signal) => void (isGone() || child!.kill(signal)),
    async kill() {
      asked = true;
      if (!isGone()) child!.kill("SIGKILL");
      return exit;
    },
    async stop(withinMs = STOP_WITHIN_MS) {
      asked = true;
      if (isGone()) return exit;
      child!.kill("SIGCONT");
      child!.kill("SIGTERM");
      const impatient = setTimeout(() => child!.kill("SIGKILL"), withinMs);
      const how = await exit;
      clearTimeout(impatient);
      return how;
    },
    cpuMs: () => (isGone() ? 0 : usedCpuMs(child!.pid!)),
  };
  return part;
}

function launch({ command, env, logFile, onFirstLine }: PartOptions, more: Record<string, string>) {
  const inherited = INHERITED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  const log = openSync(logFile, "a");
  const [program, ...args] = [...setPriv(), ...command];
  const child = spawn(program!, args, {
    env: { ...Object.fromEntries(inherited), ...env, ...more },
    stdio: ["ignore", onFirstLine ? "pipe" : log, log],
    detached: true,
  });
  closeSync(log);
  running.add(child);
  if (onFirstLine) createInterface({ input: child.stdout! }).once("line", onFirstLine);
  return child;
}

function ended(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    const done = (how: Exit): void => {
      running.delete(child);
      resolve(how);
    };
    child.once("error", () => done(GONE));
    child.once("exit", (code, signal) => done({ code, signal }));
  });
}

async function untilReady({ name, ready, logFile, readyWithinMs }: PartOptions, isGone: () => boolean) {
  const deadline = Date.now() + (readyWithinMs ?? READY_WITHIN_MS);
  while (!(await ready().catch(() => false))) {
    const words = readFileSync(logFile, "utf8").trim().split("\n").slice(-25).join("\n");
    if (isGone()) throw new Error(`The ${name} ended before it was ready. ${words}`);
    if (Date.now() > deadline) throw new Error(`The ${name} did not become ready in time. ${words}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** All threads; from /proc, in steps of 10 ms. 0 where there is none. */
function usedCpuMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}
