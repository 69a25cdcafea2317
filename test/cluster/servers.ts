import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { Redis } from "ioredis";
import { freePort } from "../../src/process/free-port.ts";
import { findSqld } from "../_setup/sqld.ts";
import type { ReadRows } from "../../src/demo/judge/judge.ts";
import type { Network } from "./network.ts";
import { createPart, type Part } from "./part.ts";
import { can } from "./tools.ts";

/** The libSQL server, with strong durability after each start. */
export interface DatabaseServer {
  part: Part;
  port: number;
  /** As we see it. */
  url: string;
  rows: ReadRows;
  execute(sql: string): Promise<void>;
  /** Starts it again and makes its commits durable, as the operator of one has to. */
  start(): Promise<void>;
  /** Refuses every write, as a server does whose disk is full, or that was told to. */
  blockWrites(blocked: boolean): Promise<void>;
  /** Counters of its admin API, by name. */
  metrics(): Promise<Record<string, number>>;
}

/** Redis with an append-only file, as nodes ask for it. */
export interface RedisServer {
  part: Part;
  port: number;
  url: string;
  start(): Promise<void>;
  /** What redis-cli would say. */
  command(name: string, ...args: string[]): Promise<unknown>;
}

/** @throws with what to do when there is no such server here */
export async function createDatabaseServer(folder: string, network: Network): Promise<DatabaseServer> {
  const binary = findSqld();
  if (binary === null)
    throw new Error("There is no libSQL server for this system: set SQLD to the program (docs/scaling.md).");
  const [port, adminPort] = [await freePort(), await freePort()];
  const admin = `http://127.0.0.1:${adminPort}`;
  const settings = {
    "http-listen-addr": `${network.listenOn}:${port}`,
    "admin-listen-addr": `127.0.0.1:${adminPort}`,
    "db-path": join(folder, "sqld"),
  };
  const part = createPart({
    name: "libSQL server",
    command: [binary, ...asArguments(settings), "--no-welcome"],
    env: { RUST_LOG: "warn" },
    logFile: join(folder, "sqld.log"),
    ready: async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok,
  });
  const client = createClient({ url: `http://127.0.0.1:${port}` });
  const configure = async (change: object): Promise<void> => {
    const all = { durability_mode: "strong", block_reads: false, block_writes: false, ...change };
    const answer = await fetch(`${admin}/v1/namespaces/default/config`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(all),
    });
    if (!answer.ok) throw new Error(`The libSQL server refused its settings: ${await answer.text()}`);
  };
  return {
    part,
    port,
    url: `http://127.0.0.1:${port}`,
    rows: async (sql, ...args) => (await client.execute({ sql, args })).rows as never,
    execute: async (sql) => void (await client.executeMultiple(sql)),
    async start() {
      await part.start();
      await configure({});
    },
    blockWrites: (blocked) => configure({ block_writes: blocked, ...(blocked && { block_reason: "drill" }) }),
    async metrics() {
      const text = await (await fetch(`${admin}/metrics`)).text();
      const lines = [...text.matchAll(/^(\w+) (\d+(?:\.\d+)?)$/gm)];
      return Object.fromEntries(lines.map(([, name, value]) => [name!, Number(value)]));
    },
  };
}

/** @throws with what to do when there is none here */
export async function createRedisServer(folder: string, network: Network): Promise<RedisServer> {
  if (!can("redis-server", "--version"))
    throw new Error("There is no redis-server here. Install it with: apt-get install redis-server");
  const port = await freePort();
  const data = join(folder, "redis");
  mkdirSync(data);
  const settings = {
    port: String(port),
    bind: network.listenOn,
    "protected-mode": "no",
    dir: data,
    save: "",
    appendonly: "yes",
    "maxmemory-policy": "noeviction",
  };
  const command = async (name: string, ...args: string[]): Promise<unknown> => {
    const redis = new Redis(port, "127.0.0.1", { retryStrategy: () => null, maxRetriesPerRequest: 1 });
    redis.on("error", () => undefined);
    try {
      return await redis.call(name, ...args);
    } finally {
      redis.disconnect();
    }
  };
  const part = createPart({
    name: "Redis",
    command: ["redis-server", ...asArguments(settings)],
    logFile: join(folder, "redis.log"),
    ready: async () => (await command("PING")) === "PONG",
  });
  return {
    part,
    port,
    url: `redis://127.0.0.1:${port}`,
    start: () => part.start(),
    command,
  };
}

const asArguments = (settings: Record<string, string>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
