import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

/** One process that the demo started. */
export interface Program {
  name: string;
  /** Lines of standard output, when it was asked for. */
  child: ChildProcess;
  /** Never resolves; rejects when the program ends before {@link Program.stop}. */
  crashed: Promise<never>;
  /** SIGKILL, as the machine may. Resolves when the process is gone; {@link Program.crashed} tells of it. */
  kill(): Promise<void>;
  /** SIGTERM, then SIGKILL after eight seconds. Resolves when the process is gone. */
  stop(): Promise<void>;
}

/** How to start one program of the demo. */
export interface ProgramOptions {
  name: string;
  /** Arguments of `node`. */
  args: string[];
  /** Repository root. */
  cwd: string;
  /** Its settings. Of our own environment it gets only what every program needs: a demo must not depend on a user's settings. */
  env: Record<string, string>;
  /** File that takes what it writes. */
  logFile: string;
  /** Hand its standard output to us instead of the log. Default false. */
  readOutput?: boolean;
}

const INHERITED = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "TZ", "SystemRoot"];
const STOP_WITHIN_MS = 8_000;

/** Starts `node` with its own process group, so that Ctrl-C reaches the demo alone, which then ends it in order. */
export function startProgram(options: ProgramOptions): Program {
  const log = openSync(options.logFile, "a");
  const child = spawn(process.execPath, options.args, {
    cwd: options.cwd,
    env: { ...inheritedEnvironment(), ...options.env },
    stdio: ["pipe", options.readOutput ? "pipe" : log, log],
    detached: true,
  });
  closeSync(log);
  child.stdin?.on("error", () => {});

  let stopping = false;
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ? `by ${signal}` : `with exit code ${code}`));
  });
  const crashed = gone.then((how) => {
    if (stopping) return new Promise<never>(() => {});
    throw new Error(`The ${options.name} ended ${how}. ${lastWords(options.logFile)}`.trim());
  });
  crashed.catch(() => {});

  const killGroup = () => endGroup(child, "SIGKILL");
  process.once("exit", killGroup);
  void gone.then(() => process.off("exit", killGroup));
  return {
    name: options.name,
    child,
    crashed,
    async kill() {
      killGroup();
      await gone;
    },
    async stop() {
      stopping = true;
      endGroup(child, "SIGTERM");
      const impatient = setTimeout(killGroup, STOP_WITHIN_MS);
      await gone;
      clearTimeout(impatient);
    },
  };
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended by itself a moment ago.
  }
}

/** The line of a log that most likely is the reason: that of an error, else the last. */
function lastWords(logFile: string): string {
  const lines = readFileSync(logFile, "utf8").trim().split("\n");
  return lines.findLast((line) => /^(parley:|\w*Error\b)/.test(line)) ?? lines.at(-1) ?? "";
}
