import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { connectMcp, postMcp } from "../_setup/mcp.ts";
import { isLong } from "../_setup/length.ts";
import { openWorld, type World, type WorldOptions } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(options: WorldOptions = { again: true }): Promise<World> {
  const world = await openWorld(options);
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

const text = (message: string, more: object = {}) => ({ sender: SHOP, number: ANA, message, ...more });
const sending = (id: unknown, given: object) => ({
  id,
  method: "tools/call",
  params: { name: "send_text", arguments: given },
});
const inSession = (session: string) => ({ "mcp-session-id": session });
const textsOf = async ({ sim }: World): Promise<string[]> =>
  (await sim.messages(ANA)).map((message) => message.text ?? "");

describe("a send is done once", () => {
  it("by its session and request id, also over a restart of the gateway", async () => {
    const world = await openShop({});
    const { session } = await connectMcp(world);
    const send = async (id: unknown, message: string, headers = {}) =>
      (await postMcp(world, sending(id, text(message)), headers)).body.result.structuredContent;
    const first = await send(7, "once", inSession(session));
    expect(first).toMatchObject({ status: true, state: "sent" });
    await world.gateway.restart();
    await world.online(SHOP);
    expect(await send(7, "once", inSession(session))).toEqual({ ...first, replayed: true });
    expect((await send(7, "other", inSession(session))).errors.code).toBe("IDEMPOTENCY_KEY_REUSED");
    expect(await textsOf(world)).toEqual(["once"]);

    // Another id, another session, and no session are other requests.
    const other = await connectMcp(world);
    for (const [id, headers] of [
      ["7", inSession(session)],
      [7, inSession(other.session)],
      [7, {}],
      [7, {}],
    ] as const)
      expect((await send(id, "once", headers)).replayed).toBeUndefined();
    expect(await textsOf(world)).toEqual(Array(5).fill("once"));
  });

  it("when it comes twenty times at once", async () => {
    const world = await openShop();
    const { session } = await connectMcp(world);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => postMcp(world, sending("a", text("once")), inSession(session))),
    );
    const told = answers.map(({ body }) => body.result.structuredContent);
    for (const { status, errors } of told)
      expect(status || errors.code).toBeOneOf([true, "IDEMPOTENCY_IN_PROGRESS"]);
    expect(new Set(told.flatMap(({ id }) => id ?? [])).size).toBe(1);
    expect(await textsOf(world)).toEqual(["once"]);
  });

  it("by its own key in any session, and over REST; a header of the client's counts for nothing", async () => {
    const world = await openShop();
    const { gateway, key } = world;
    const [one, two] = [await connectMcp(world), await connectMcp(world)];
    const named = text("once", { idempotency_key: "order-17" });
    const first = await one.call("send_text", named);
    expect((await two.call("send_text", named)).body).toEqual({ ...first.body, replayed: true });
    const overRest = await gateway.post("/send-message", named, { key });
    expect([overRest.headers.get("idempotency-replayed"), overRest.body]).toEqual(["true", first.body]);
    const headers = { "idempotency-key": "always the same" };
    for (const message of ["one", "two"])
      expect((await postMcp(world, sending(1, text(message)), headers)).body.result.isError).toBe(false);
    expect((await textsOf(world)).toSorted()).toEqual(["once", "one", "two"].toSorted());
  });
});

describe("a session", () => {
  it("is another one at each initialize, and ends for nobody", async () => {
    const world = await openShop();
    const initialize = {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    };
    const begin = async (headers = {}) => {
      const answer = await postMcp(world, initialize, headers);
      expect(answer.body.result).toMatchObject({
        protocolVersion: "2025-11-25",
        serverInfo: { name: "parley" },
        instructions: expect.stringContaining("from_contact"),
      });
      return answer.headers.get("mcp-session-id")!;
    };
    const first = await begin();
    const second = await begin(inSession(first));
    expect(second).not.toBe(first);
    for (const session of [first, second, first])
      expect((await postMcp(world, { id: 2, method: "ping" }, inSession(session))).body).toEqual({
        jsonrpc: "2.0",
        id: 2,
        result: {},
      });
  });

  it("is its key's own, and nothing that a client makes up", async () => {
    const world = await openShop();
    const { session } = await connectMcp(world);
    const { body } = await world.gateway.post("/api-keys", { name: "b", permissions: ["*"] }, world);
    const other = { ...world, key: body.api_key as string };
    const [payload, signature] = session.split(".");
    const longer = `${Number.parseInt(payload!.split("-")[0]!, 36) + 1}`;
    const wrong: [typeof world, string][] = [
      [other, session],
      [world, "1"],
      [world, `${payload}.${"A".repeat(43)}`],
      [world, `${longer}-${payload!.split("-")[1]}.${signature}`],
      [world, "x".repeat(5_000)],
    ];
    for (const [who, id] of wrong) {
      const answer = await postMcp(who, sending(1, text("no")), inSession(id));
      expect(answer).toMatchObject({ status: 404, body: { errors: { code: "NOT_FOUND" } } });
    }
    expect(await textsOf(world)).toEqual([]);
  });
});

describe("a client that is broken, or wants to break something", () => {
  it("is answered as the protocol says, and sends nothing", async () => {
    const world = await openShop();
    const { gateway, key } = world;
    for (const wrongKey of [undefined, "parley_nonsense", gateway.adminToken])
      expect(
        await gateway.post("/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, { key: wrongKey! }),
      ).toMatchObject({ status: 401, body: { errors: { code: "INVALID_API_KEY" } } });
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await gateway.request(method, "/mcp", {
        headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
      });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    }
    const notified = await postMcp(world, { method: "notifications/initialized" });
    expect([notified.status, notified.text]).toEqual([202, ""]);

    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`field${n}`, n]));
    const refused: [string, object | string, number, string][] = [
      ["a batch", JSON.stringify([{ jsonrpc: "2.0", ...sending(1, text("no")) }]), 400, "INVALID_JSON"],
      ["half a message", '{"jsonrpc":"2.0","id":1', 400, "INVALID_JSON"],
      ["nothing", {}, 400, "INVALID_PARAMETERS"],
      ["another protocol", { jsonrpc: "1.0", ...sending(1, text("no")) }, 400, "INVALID_PARAMETERS"],
      ["an answer", { jsonrpc: "2.0", id: 1, result: {} }, 400, "INVALID_PARAMETERS"],
      ["an id that is none", { jsonrpc: "2.0", ...sending({}, text("no")) }, 400, "INVALID_PARAMETERS"],
      ["many fields", { jsonrpc: "2.0", id: 1, method: "ping", params: many }, 400, "INVALID_PARAMETERS"],
      ["many arguments", { jsonrpc: "2.0", ...sending(1, many) }, 400, "INVALID_PARAMETERS"],
      [
        "wrong _meta",
        { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: 1 } },
        400,
        "INVALID_PARAMETERS",
      ],
    ];
    for (const [what, body, status, code] of refused) {
      const answer = await gateway.post("/mcp", body, { key });
      expect([what, answer.status, answer.body.errors?.code]).toEqual([what, status, code]);
    }
    const version = { "mcp-protocol-version": "1999-01-01" };
    expect((await postMcp(world, sending(1, text("no")), version)).status).toBe(400);

    const wrong: [object, number][] = [
      [{ method: "nothing/such" }, -32601],
      [{ method: "tools/call", params: {} }, -32602],
      [{ method: "tools/call", params: { name: "send_text", arguments: [] } }, -32602],
      // Of this the SDK speaks as of a fault of its own.
      [{ method: "resources/read", params: { uri: 1 } }, -32603],
      [{ method: "prompts/list" }, -32601],
    ];
    for (const [message, code] of wrong)
      expect([message, (await postMcp(world, { id: 1, ...message })).body]).toMatchObject([
        message,
        { id: 1, error: { code } },
      ]);
    expect(await textsOf(world)).toEqual([]);
    // Who wants a task of a server that has none is answered as others are.
    const asTask = { ...sending(1, text("yes")).params, task: { ttl: 60_000 } };
    const task = await postMcp(world, { id: 1, method: "tools/call", params: asTask });
    expect(task.body.result).toMatchObject({ structuredContent: { status: true } });
    expect(gateway.output()).not.toMatch(/request crashed|unhandled|uncaught/i);
  });

  it("is held to the key's requests a minute: a tool says so, and all else is 429", async () => {
    const world = await openShop({ env: { API_RATE_PER_MINUTE: "40" } });
    const limited = { name: "few", permissions: ["*"] };
    const { body } = await world.gateway.post("/api-keys", limited, world);
    const few = { ...world, key: body.api_key as string };
    const { call } = await connectMcp(few);
    const answers = [];
    for (let count = 0; count < 45; count++) answers.push(await call("list_numbers"));
    const refused = answers.filter(({ isError }) => isError);
    // Beside the two requests that begin a session.
    expect(refused).toHaveLength(45 - 38);
    expect(refused[0]!.body.errors).toEqual({
      code: "RATE_LIMITED",
      message: expect.any(String),
      retry_after: expect.any(Number),
    });
    const listed = await postMcp(few, { id: 1, method: "tools/list" });
    expect([listed.status, listed.headers.get("ratelimit-limit")]).toEqual([429, "40"]);
    expect(Number(listed.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("is held to its plan", async () => {
    const world = await openShop({ env: { PLAN_PRO: '{"devices":1,"keys":5,"sends_per_day":1}' } });
    const { call } = await connectMcp(world);
    expect((await call("send_text", text("one"))).isError).toBe(false);
    expect((await call("send_text", text("two"))).body.errors.code).toBe("QUOTA_EXCEEDED");
    expect(await textsOf(world)).toEqual(["one"]);
  });

  it("reads no more than a mebibyte to anybody, and no stream to its end", async () => {
    const world = await openShop();
    const large = text("x".repeat(1_100_000));
    expect((await postMcp(world, sending(1, large))).status).toBe(413);
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(Buffer.alloc(65_536, "x")),
    });
    const answer = await fetch(`${world.gateway.url}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.key}`, "content-type": "application/json" },
      body: endless,
      duplex: "half",
    } as RequestInit).then(
      ({ status }) => status,
      () => "closed",
    );
    expect(answer).toBeOneOf([413, "closed"]);
    expect((await (await connectMcp(world)).tools()).length).toBe(11);
  });
});

const memoryMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

/** 10,000 in a long run. */
const MANY = isLong ? 10_000 : 1_500;
const LOOK_EVERY = MANY / 20;
const PATIENCE_MS = isLong ? 900_000 : 300_000;

it(
  "thousands of requests leave the memory as it was, and hold up nobody",
  { timeout: PATIENCE_MS },
  async () => {
    const world = await openShop({ env: { API_RATE_PER_MINUTE: "0" } });
    const { gateway, key } = world;
    const { session } = await connectMcp(world);
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "mcp-session-id": session,
    };
    const client = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    };
    const messages = [
      { method: "initialize", params: client },
      { method: "ping" },
      { method: "tools/list" },
      { method: "tools/call", params: { name: "list_chats", arguments: {} } },
      { method: "tools/call", params: { name: "nothing", arguments: { x: "x".repeat(10_000) } } },
    ];
    let asked = 0;
    const memory: number[] = [];
    const ask = async (): Promise<void> => {
      while (asked < MANY) {
        const id = asked++;
        if (id % LOOK_EVERY === 0) memory.push(memoryMb(gateway.pid));
        const body = JSON.stringify({ jsonrpc: "2.0", id, ...messages[id % messages.length] });
        const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers, body });
        expect([answer.status, ((await answer.json()) as { id: number }).id]).toEqual([200, id]);
      }
    };
    const askers = Promise.all(Array.from({ length: 16 }, ask));
    const { call } = await connectMcp(world);
    for (let count = 0; count < 20; count++)
      expect((await call("send_text", text(`meanwhile ${count}`))).body.status).toBe(true);
    await askers;
    const growth = Math.min(...memory.slice(-6)) - Math.max(...memory.slice(0, 6));
    expect(growth, `grew by ${growth.toFixed(0)} MB`).toBeLessThan(64);
  },
);
