import { readFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkAnswer } from "../_setup/client.ts";
import { cpuMs } from "../bench/processes.ts";
import { closeWorld, keepWorld, type World } from "../_setup/world.ts";
import { isLong } from "../_setup/length.ts";
import { badRequest, show, type BadRequest } from "./bad-requests.ts";
import { nameOf } from "./requests.ts";

const SHOP = "31600000001";
/** So many requests at once, and so many times. */
const AT_ONCE = 20;
/** 10,000 requests in a long run. */
const ROUNDS = isLong ? 500 : 125;
/** Rounds after which the process has grown to what it needs. */
const WARM_UP = 200;
/** Of the gateway's own time: on a machine that others use as well an answer takes longer. */
const ANSWERS_WITHIN_MS = 15_000;
/** And whatever the machine does. */
const PATIENCE_MS = 150_000;
const LOOK_EVERY_MS = 1_000;
/** A mebibyte is read at a time for each request that is under way, and V8 collects when it likes. */
const MAY_GROW_MB = 64;

let world: World;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
beforeAll(async () => {
  world = await keepWorld({
    // Room for no second number: nothing that is asked here is to be linked.
    env: { API_RATE_PER_MINUTE: "0", PLAN_PRO: '{"devices":1,"keys":5,"sends_per_day":null}' },
  });
  await world.link(SHOP);
});
afterAll(async () => {
  agent.destroy();
  await closeWorld(world);
});

interface Raw {
  status: number;
  headers: Headers;
  text: string;
}

/** Null when the gateway closed the connection instead, as it does while a far too long request line still comes. */
function ask({ endpoint, path, headers, body }: BadRequest): Promise<Raw | null> {
  return new Promise((resolve) => {
    const { gateway } = world;
    const asked = { at: Date.now(), cpuMs: cpuMs(gateway) };
    const outgoing = httpRequest(
      { agent, host: "127.0.0.1", port: world.gateway.port, method: endpoint.method, path, headers },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("end", () =>
          resolve({
            status: response.statusCode!,
            headers: new Headers(response.headers as Record<string, string>),
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    // Whoever can keep one request busy for so long keeps everybody waiting.
    const looking = setInterval(() => {
      if (cpuMs(gateway) - asked.cpuMs > ANSWERS_WITHIN_MS || Date.now() - asked.at > PATIENCE_MS)
        outgoing.destroy();
    }, LOOK_EVERY_MS);
    outgoing.once("close", () => clearInterval(looking));
    outgoing.once("error", () => resolve(null));
    outgoing.end(body ?? undefined);
  });
}

const isOverlong = ({ path }: BadRequest): boolean => path.length > 500_000;

const isUnreadable = ({ path }: BadRequest): boolean => /[^!-~]/.test(path);

async function check(bad: BadRequest): Promise<void> {
  const answer = await ask(bad);
  if (answer === null && isOverlong(bad)) return;
  if (answer === null) throw new Error(`No answer to\n${show(bad)}`);
  if (answer.status >= 500) throw new Error(`${answer.status} ${answer.text}\nto\n${show(bad)}`);
  // Node's own parser refuses these lines before they are a request to any endpoint.
  const isRefusedByNode =
    (isUnreadable(bad) && answer.status === 400) || (isOverlong(bad) && answer.status === 413);
  if (isRefusedByNode && JSON.parse(answer.text).status === false) return;
  // What is no JSON by its description was found, and is not looked into here.
  if (answer.status === 200 && !answer.headers.get("content-type")?.startsWith("application/json")) return;
  // Of a notification of the Model Context Protocol nothing is said.
  if (answer.status === 202 && answer.text === "") return;
  try {
    const { pathname } = new URL(`http://gateway${bad.path}`);
    checkAnswer(bad.endpoint.method, pathname, { ...answer, body: JSON.parse(answer.text) });
  } catch (error) {
    throw new Error(`${(error as Error).message}\nto\n${show(bad)}`, { cause: error });
  }
}

const memoryMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

describe("thousands of bad requests", () => {
  it(
    "get an answer in JSON below 500, send nothing, and leave the memory as it was",
    { timeout: 300_000 },
    async () => {
      const { gateway, sim } = world;
      const credentials = { key: world.key, operator: gateway.adminToken, ownNumber: SHOP };
      const { pid } = gateway;
      const asked = new Map<string, number>();
      const memory: number[] = [];
      const one = badRequest(credentials);
      const several = fc.array(one, { minLength: AT_ONCE, maxLength: AT_ONCE });
      // The same requests every time: whoever changes something must not get another's find. Others by the setting.
      const seed = Number(process.env["PARLEY_TEST_SEED"] ?? 20_261_121);

      // Not made smaller: what fails says its request, and a smaller one would need the same state of the gateway again.
      const outcome = await fc.check(
        fc.asyncProperty(several, async (requests) => {
          for (const { endpoint } of requests)
            asked.set(nameOf(endpoint), (asked.get(nameOf(endpoint)) ?? 0) + 1);
          await Promise.all(requests.map(check));
          memory.push(memoryMb(pid));
        }),
        { seed, numRuns: ROUNDS, endOnFailure: true },
      );
      if (outcome.failed)
        throw new Error(`PARLEY_TEST_SEED=${seed} repeats it: ${String(outcome.errorInstance)}`, {
          cause: outcome.errorInstance,
        });

      expect([...asked.values()].reduce((sum, count) => sum + count, 0)).toBe(AT_ONCE * ROUNDS);
      // No endpoint has much less than its share.
      const share = (AT_ONCE * ROUNDS) / asked.size;
      expect(Math.min(...asked.values())).toBeGreaterThan(share / 4);
      const growth = Math.min(...memory.slice(-50)) - Math.max(...memory.slice(0, WARM_UP));
      expect(growth, `grew by ${growth.toFixed(0)} MB`).toBeLessThan(MAY_GROW_MB);
      expect(gateway.pid).toBe(pid);
      expect((await gateway.get("/account", { key: world.key })).status).toBe(200);
      expect((await gateway.get(`/devices/${SHOP}`, { key: world.key })).body["data"].state).toBe(
        "connected",
      );
      expect(await sim.countStanzas({ number: SHOP, device: 1, tag: "message", direction: "in" })).toBe(0);
      expect(await sim.transcript({ direction: "to_contact" })).toEqual([]);
      expect(gateway.output()).not.toMatch(/unhandled|uncaught|request crashed/i);
    },
  );
});

describe("a field that is named like what every object has", () => {
  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "%s is an unknown field",
    async (name) => {
      for (const field of [`${name}[__proto__]=1`, `${name}=1`])
        expect((await world.gateway.get(`/devices?${field}`, { key: world.key })).status).toBe(200);
      // Bytes that are not UTF-8 are refused whatever field they stand in, as in a body.
      const answer = await world.gateway.get(`/devices?${name}=%ff`, { key: world.key });
      expect(answer).toMatchObject({
        status: 400,
        body: { errors: { fields: { [name]: ["Is not UTF-8."] } } },
      });
    },
  );
});

describe("JSON that is nested deeper than a stack is high", () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  const ping = (config: string) => `{"bots":[{"id":"ping","enabled":true,"config":${config}}]}`;
  const send = `{"sender":"${SHOP}","number":"|","message":"hi","idempotency_key":"deep","extra":${deep}}`;

  it.each([
    ["the settings of a bot", "PUT", `/devices/${SHOP}/bots`, ping(deep)],
    ["an unknown field of a send", "POST", "/send-message", send],
  ])("is refused in %s", async (_, method, path, body) => {
    const headers = { authorization: `Bearer ${world.key}`, "content-type": "application/json" };
    const answer = await world.gateway.request(method, path, { headers, body });
    expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_JSON" } } });
  });

  it("is refused as well when it has more values than any request needs", async () => {
    const body = `{"sender":"${SHOP}","number":"|","message":"hi","extra":[${"{},".repeat(100_000)}{}]}`;
    const headers = { authorization: `Bearer ${world.key}`, "content-type": "application/json" };
    const answer = await world.gateway.request("POST", "/send-message", { headers, body });
    expect(answer).toMatchObject({ status: 400, body: { errors: { code: "INVALID_JSON" } } });
    expect(answer.text).toContain("more than 100000 values");
  });

  it("is taken when it is only as deep as settings are", async () => {
    const config = `${'{"a":'.repeat(20)}1${"}".repeat(20)}`;
    const answer = await world.gateway.put(`/devices/${SHOP}/bots`, JSON.parse(ping(config)), {
      key: world.key,
    });
    expect(answer.status).toBe(200);
  });
});
