import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./temporary.ts";

export interface RedisServer {
  url: string;
  port: number;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A real redis-server of this test's own, without persistence. Install it with `apt-get install redis-server`. */
export async function startRedis(port?: number): Promise<RedisServer> {
  const chosen = port ?? (await freePort());
  const child = spawn(
    "redis-server",
    [
      "--port",
      String(chosen),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      temporaryFolder(),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const failed = once(child, "error").then(([error]) => {
    throw new Error(
      `redis-server does not run: ${error.message}. Install it with: apt-get install redis-server`,
    );
  });
  let output = "";
  while (!output.includes("Ready to accept connections"))
    output += String((await Promise.race([once(child.stdout, "data"), failed]))[0]);
  const closed = once(child, "close");
  child.stdout.resume();
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    port: chosen,
    url: `redis://127.0.0.1:${chosen}`,
    async stop() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
