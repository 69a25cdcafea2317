import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { freePort } from "../_setup/free-port.ts";
import { runGateway, startGateway, type Gateway } from "../_setup/gateway.ts";

const started: Gateway[] = [];
const start = async (options?: Parameters<typeof startGateway>[0]): Promise<Gateway> => {
  const gateway = await startGateway(options);
  started.push(gateway);
  return gateway;
};
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway.dispose();
});

/** A request that the gateway has begun to answer, and whose body ends when `finish` is called. */
async function unfinishedRequest(
  gateway: Gateway,
): Promise<{ finish(): void; answer: Promise<{ status: number; text: string }> }> {
  const request = httpRequest(`${gateway.url}/admin/accounts`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      "content-type": "application/json",
      // The gateway's own word that it has the request.
      expect: "100-continue",
    },
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ status: response.statusCode!, text });
    });
  });
  request.flushHeaders();
  await new Promise((resolve) => request.once("continue", resolve));
  request.write('{"name":');
  return { finish: () => void request.end('"late"}'), answer };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Resolves as soon as somebody listens there. */
async function listens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      socket.destroy();
    }
  }
}

describe("the gateway process", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "ends with exit code 0 on %s, also where CI is set",
    async (signal) => {
      const gateway = await start({ env: { CI: "true", TEST: "1" } });

      gateway.signal(signal);

      expect(await gateway.exited()).toEqual({ code: 0, signal: null });
    },
  );

  it("ends with exit code 0 on a signal that comes while it starts", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "parley-test-"));
    onTestFinished(() => removeFolder(dataDir));
    for (let start = 0; start < 5; start++) {
      const port = await freePort();
      const run = runGateway({ dataDir, env: { PORT: String(port) } });
      await listens(port);
      process.kill(Number(readFileSync(join(dataDir, "lock.pid"), "utf8")), "SIGTERM");

      expect(await run).toMatchObject({ code: 0, signal: null });
    }
  });

  it("refuses new requests with 503 until what is under way has been answered, then ends", async () => {
    const gateway = await start();
    const slow = await unfinishedRequest(gateway);

    gateway.signal("SIGTERM");
    await until(async () => (await gateway.get("/health/ready")).status === 503);
    const refused = await gateway.post("/send-message", {});
    const ready = await gateway.get("/health/ready");
    const alive = await gateway.get("/health/live");
    slow.finish();
    const answer = await slow.answer;

    expect(refused).toMatchObject({ status: 503, body: { status: false, errors: { code: "UNAVAILABLE" } } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(ready.body).toMatchObject({ status: false, checks: { draining: true } });
    expect(alive.status).toBe(200);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ account: { name: "late" } });
    expect(await gateway.exited()).toEqual({ code: 0, signal: null });
  });

  it("keeps accounts and keys over SIGKILL and a new start", async () => {
    const gateway = await start();
    const { key } = await gateway.createAccount("Kept");

    expect(await gateway.kill()).toEqual({ code: null, signal: "SIGKILL" });
    await gateway.restart();

    expect((await gateway.get("/account", { key })).body).toMatchObject({ data: { name: "Kept" } });
  });

  it("does not start on a wrong setting: exit code 1, one line that names it, no stack", async () => {
    const run = await runGateway({ env: { SEND_WAIT_MS: "soon" } });

    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^[^\n]*SEND_WAIT_MS[^\n]*\n$/);
  });

  it("does not start on a port in use: exit code 1, one line that names PORT", async () => {
    const other = createServer().listen(await freePort(), "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as { port: number };

    const run = await runGateway({ env: { PORT: String(port) } });
    other.close();

    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^[^\n]*PORT[^\n]*\n$/);
  });

  it("does not start on a folder that another gateway uses: exit code 1, one line", async () => {
    const gateway = await start();

    const run = await runGateway({ dataDir: gateway.dataDir });

    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^[^\n]+\n$/);
    expect((await gateway.get("/health/ready")).status).toBe(200);
  });
});
