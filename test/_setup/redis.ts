import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { endsWithUs } from "./at-exit.ts";
import { removeFolder } from "./folders.ts";
import { freePort } from "./free-port.ts";

export interface RedisOptions {
  /** Writes down what it is told before it answers, so that `kill` and `start` lose nothing. Default: it is empty after that. */
  appendOnly?: boolean;
  /** `maxmemory-policy`. Default `noeviction` */
  policy?: "noeviction" | "allkeys-lru" | "volatile-lru";
  /** `maxmemory`, as `20mb`. Default: no limit */
  maxMemory?: string;
  /** Who ends it: `afterAll` at the top of a file whose tests share it. Default: the test that it was started in. */
  until?: (end: () => Promise<void>) => void;
}

/** A real redis-server of one test, or of one file. */
export interface RedisServer {
  url: string;
  port: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** On the same port: empty, or with what it had where `appendOnly` is set. Resolves when it takes commands. */
  start(): Promise<void>;
  /** SIGSTOP: connections stand and nothing answers, until `goOn`. */
  freeze(): void;
  goOn(): void;
  /** What redis-cli would say: `command("FLUSHALL")`. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
}

/** Install redis-server with `apt-get install redis-server`. Its port is the system's choice. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const { until = onTestFinished } = options;
  const data = mkdtempSync(join(tmpdir(), "parley-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  let closed: Promise<unknown> = Promise.resolve();

  async function start(): Promise<void> {
    child = spawn("redis-server", settings(port, data, options), { stdio: ["ignore", "pipe", "inherit"] });
    endsWithUs(child);
    closed = once(child, "close").catch(() => undefined);
    await takesCommands(child);
  }
  async function kill(): Promise<void> {
    child?.kill("SIGKILL");
    await closed;
  }

  until(async () => {
    await kill();
    removeFolder(data);
  });
  await start();
  return {
    url,
    port,
    kill,
    start,
    freeze: () => void child?.kill("SIGSTOP"),
    goOn: () => void child?.kill("SIGCONT"),
    async command(name, ...args) {
      const redis = new Redis(url, { retryStrategy: () => null });
      try {
        return await redis.call(name, ...args);
      } finally {
        redis.disconnect();
      }
    },
  };
}

function settings(port: number, data: string, options: RedisOptions): string[] {
  const { appendOnly = false, policy = "noeviction", maxMemory = "0" } = options;
  return Object.entries({
    port: String(port),
    bind: "127.0.0.1",
    dir: data,
    save: "",
    appendonly: appendOnly ? "yes" : "no",
    appendfsync: "always",
    maxmemory: maxMemory,
    "maxmemory-policy": policy,
  }).flatMap(([name, value]) => [`--${name}`, value]);
}

async function takesCommands(child: ChildProcess): Promise<void> {
  const failed = Promise.race([
    once(child, "error").then(([error]) => (error as Error).message),
    once(child, "close").then(([code]) => `it ended with ${code}`),
  ]).then((reason) => {
    throw new Error(`redis-server does not run: ${reason}. Install it with: apt-get install redis-server`);
  });
  let output = "";
  while (!output.includes("Ready to accept connections"))
    output += String((await Promise.race([once(child.stdout!, "data"), failed]))[0]);
  failed.catch(() => undefined);
  child.stdout!.resume();
}
