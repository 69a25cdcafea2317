import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTimeLimit, limited, lowerPriority } from "../media/decoder/limits.ts";
import { builtFile, sourceFile, tsxFile } from "../model/built-file.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { systemTime, type Cancel } from "../model/time.ts";
import type { ForkAsked, Forked, ForkSaid, ForkTurn } from "../path/fork.ts";

/** The file that the build makes of the kit, see `nitro.config.ts`. */
const FILE = "fork.mjs";
/** Below what answers people, but somebody waits for it. */
const NICENESS = 5;
const MEMORY_BYTES = 768 * 1024 * 1024;
const NODE_OPTIONS = ["--max-old-space-size=256", "--v8-pool-size=1", "--no-warnings"];
const FRUGAL = { UV_THREADPOOL_SIZE: "2", MALLOC_ARENA_MAX: "1" };
/** Of a processor, and the last line of defence: it ends what has lost its gateway. */
const CPU_SECONDS = 60;
const START_MS = 30_000;
const ASKED_EVERY_MS = 200;
/** For the whole conversation. */
const WHOLE_MS = 20_000;
/** Bots may read where they are; nothing else of the gateway's surroundings, which hold its secrets. */
const KEPT_OF_ENVIRONMENT = ["PATH", "LD_LIBRARY_PATH", "TZ", "LANG"];
const MEMORY_FOLDER = "/dev/shm";

/** Where a sandbox keeps its database: in memory where there is room for it. */
function makeFolder(): string {
  try {
    accessSync(MEMORY_FOLDER, constants.W_OK);
    return mkdtempSync(join(MEMORY_FOLDER, "parley-fork-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "parley-fork-"));
  }
}

function spawnFork(folder: string): ChildProcess {
  const source = sourceFile("../testing/fork/main.ts", import.meta.url);
  const program =
    source === null
      ? [fileURLToPath(builtFile(FILE, import.meta.url))]
      : ["--import", tsxFile("loader.mjs", import.meta.url), fileURLToPath(source)];
  const [file, args] = limited(process.execPath, [...NODE_OPTIONS, ...program], {
    memoryBytes: MEMORY_BYTES,
    cpuSeconds: CPU_SECONDS,
  });
  const kept = KEPT_OF_ENVIRONMENT.map((name) => [name, process.env[name]]);
  const child = spawn(file, args, {
    cwd: folder,
    // What bots print may be what people wrote.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    env: {
      ...(Object.fromEntries(kept.filter(([, value]) => value !== undefined)) as Record<string, string>),
      ...FRUGAL,
      PARLEY_KIT_FOLDER: folder,
    },
  });
  if (child.pid !== undefined) lowerPriority(child.pid, NICENESS);
  return child;
}

const away = (): GatewayError =>
  new GatewayError("UNAVAILABLE", "The sandbox did not start. Try again in a moment.", { retryAfter: 5 });

/**
 * Tells a conversation again in a process of its own, with limits of time and memory.
 *
 * @returns when the bots exceed the limits, what was answered then, and a trouble that says so
 * @throws {GatewayError} UNAVAILABLE when the process does not start
 */
export async function runFork(asked: ForkAsked, wholeMs: number = WHOLE_MS): Promise<Forked> {
  const folder = makeFolder();
  try {
    return await talkTo(spawnFork(folder), asked, wholeMs);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

async function talkTo(child: ChildProcess, asked: ForkAsked, wholeMs: number): Promise<Forked> {
  let turns: ForkTurn[] = [];
  const ready = promised<void>();
  const ended = promised<Forked>();
  const without = (trouble: string): void =>
    ended.resolve({ turns, bots: [], troubles: [trouble], logged: [], story: "" });
  child.on("message", (said: ForkSaid) => {
    if (said.kind === "ready") ready.resolve();
    else if (said.kind === "told") turns = said.turns;
    else if (said.kind === "played") ended.resolve(said.forked);
    else without(said.problem);
  });
  const gone = (): void => {
    ready.reject(away());
    without("The bots used more memory than the sandbox has, or ended its process.");
  };
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  child.once("error", gone).once("exit", gone);
  let cancel: Cancel | null = null;
  try {
    await systemTime.deadline(START_MS, ready.promise, away);
    const isOver = createTimeLimit(child.pid, wholeMs);
    cancel = systemTime.every(ASKED_EVERY_MS, () => {
      if (isOver()) without(`The bots did not finish within ${wholeMs / 1000} s; the sandbox was stopped.`);
    });
    child.send(asked, (error) => error && gone());
    return await ended.promise;
  } finally {
    cancel?.();
    child.kill("SIGKILL");
    await closed;
  }
}

/** A promise that others keep. */
function promised<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: Error): void } {
  let keep!: { resolve(value: T): void; reject(error: Error): void };
  const promise = new Promise<T>((resolve, reject) => (keep = { resolve, reject }));
  return { promise, ...keep };
}
