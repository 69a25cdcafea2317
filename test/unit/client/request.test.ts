import { describe, expect, it } from "vitest";
import { createClient, ParleyError, type ClientOptions } from "../../../src/client/index.ts";

interface Asked {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}
type Step = Response | Error | ((init: RequestInit) => Promise<Response>);

/** A client whose requests are answered one after the other with these. */
function script(steps: Step[], options: ClientOptions = {}) {
  const asked: Asked[] = [];
  const client = createClient({
    baseUrl: "http://gateway",
    apiKey: "parley_key",
    ...options,
    async fetch(url, init) {
      const { method = "GET", headers, body } = init;
      asked.push({
        url,
        method,
        headers: { ...(headers as Record<string, string>) },
        body: body === undefined ? undefined : JSON.parse(body as string),
      });
      const step = steps[asked.length - 1];
      if (step === undefined) throw new Error("asked once too often");
      if (step instanceof Error) throw step;
      return typeof step === "function" ? await step(init) : step;
    },
  });
  return { client, asked };
}

const ok = (fields: object = {}): Response =>
  Response.json({ status: true, msg: "Fine.", message: "Fine.", ...fields });
const refused = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}) =>
  Response.json(
    { status: false, msg: "No.", message: "No.", errors: { code, ...more } },
    { status, headers: { "x-request-id": "req-1", ...headers } },
  );
const hello = { body: { sender: "31600000001", number: "31600000002", message: "Hello" } };
const failed = async (call: Promise<unknown>): Promise<ParleyError> => {
  const error = await call.then(
    () => new Error("It did not fail."),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ParleyError);
  return error as ParleyError;
};

describe("a request", () => {
  it("fills its path, repeats the values of a list, and leaves out what is undefined", async () => {
    const { client, asked } = script([ok(), ok()], { baseUrl: "http://gateway/parley/" });

    await client.get("/devices/{number}/why", { path: { number: "1/2 ü" } });
    await client.get("/messages", { query: { sender: "1", limit: 20 } });

    expect(asked.map(({ url }) => url)).toEqual([
      "http://gateway/parley/devices/1%2F2%20%C3%BC/why",
      "http://gateway/parley/messages?sender=1&limit=20",
    ]);
    expect(() => client.url("get", "/devices/{number}/why", { path: { number: "" } })).toThrow(/path.number/);
  });

  it("may have a path that is filled already", async () => {
    const { client, asked } = script([ok()]);

    await client.request({
      method: "POST",
      path: "/send-message",
      body: hello.body,
      query: { a: null, b: 1 },
    });

    expect(asked[0]).toMatchObject({
      url: "http://gateway/send-message?b=1",
      method: "POST",
      body: hello.body,
    });
    expect(asked[0]!.headers["idempotency-key"]).toMatch(/^[0-9a-f]{32}$/);
  });

  it("carries the operator's token where operators are asked, and the key elsewhere", async () => {
    const { client, asked } = script([ok(), ok()], { adminToken: () => "operator" });

    await client.get("/admin/accounts");
    await client.get("/account");

    expect(asked.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer operator",
      "Bearer parley_key",
    ]);
  });

  it("of a session carries its token with whatever changes something, and no key", async () => {
    const { client, asked } = script([ok(), ok()], { apiKey: () => null, csrfToken: () => "csrf" });

    await client.get("/account");
    await client.delete("/devices/{number}", { path: { number: "1" } });

    expect(asked.map(({ headers }) => headers)).toEqual([{}, { "x-csrf-token": "csrf" }]);
  });
});

describe("a failure", () => {
  it("says the gateway's words, its code and what stands beside it", async () => {
    const fields = { number: ["Must have at least one destination."] };
    const { client } = script([refused(400, "INVALID_PARAMETERS", {}, { fields, limit: 3 })]);

    const error = await failed(client.post("/send-message", hello));

    expect(error).toMatchObject({
      status: 400,
      code: "INVALID_PARAMETERS",
      fields,
      requestId: "req-1",
      retryAfter: null,
      details: { limit: 3 },
      message: "No. number: Must have at least one destination.",
    });
  });

  it("of something that is not the gateway has a code of its own", async () => {
    const { client } = script([new Response("<html>", { status: 404 }), new Response("<html>")]);

    expect(await failed(client.get("/account"))).toMatchObject({ status: 404, code: "UNEXPECTED_ANSWER" });
    expect(await failed(client.get("/account"))).toMatchObject({ status: 200, code: "UNEXPECTED_ANSWER" });
  });

  it("is not made of an answer that says no with HTTP 200", async () => {
    const { client } = script([ok({ status: false, number: null })]);

    const answer = await client.post("/resolve-lid", { body: { sender: "1", lid: "2@lid" } });

    expect(answer).toMatchObject({ status: false, number: null });
  });
});

describe("another attempt", () => {
  const cut = new TypeError("fetch failed");

  it("of a send has the key of the first, and another call another key", async () => {
    const busy = refused(409, "IDEMPOTENCY_IN_PROGRESS", { "retry-after": "0" });
    const { client, asked } = script([cut, busy, ok(), ok()]);

    await client.post("/send-message", hello);
    await client.post("/send-message", hello);

    const keys = asked.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it("of a send with a key of the caller's keeps that", async () => {
    const { client, asked } = script([ok(), ok()]);

    await client.post("/send-message", { ...hello, idempotencyKey: "order-17" });
    await client.post("/send-message", { body: { ...hello.body, idempotency_key: "order-18" } });

    expect(asked.map(({ headers }) => headers["idempotency-key"])).toEqual(["order-17", "order-18"]);
  });

  it.each([
    ["a lost line", cut],
    ["a proxy's 502", new Response("Bad gateway", { status: 502 })],
    ["a fault", refused(500, "INTERNAL_ERROR")],
  ])("is made after %s where twice is once, and not where it would be twice", async (_, step) => {
    const again = () => (step instanceof Error ? step : step.clone());
    const reading = script([again(), ok()]);
    const setting = script([again(), ok()]);
    const making = script([again(), ok()]);

    await reading.client.get("/devices");
    await setting.client.put("/devices/{number}/webhook", {
      path: { number: "1" },
      body: { url: "https://x" },
    });
    await failed(making.client.post("/api-keys", { body: { name: "Shop", permissions: ["messages"] } }));

    expect([reading, setting, making].map(({ asked }) => asked.length)).toEqual([2, 2, 1]);
  });

  it("is made of anything that the gateway says it did not do", async () => {
    const { client, asked } = script([refused(503, "UNAVAILABLE"), refused(408, "REQUEST_TIMEOUT"), ok()]);

    await client.post("/api-keys", { body: { name: "Shop", permissions: ["messages"] } });

    expect(asked).toHaveLength(3);
  });

  it("is not made when the gateway has had its last word, or asks for more patience than there is", async () => {
    const final = script([refused(502, "WHATSAPP_REFUSED", {}, { whatsapp_code: 406 })]);
    const tomorrow = script([refused(429, "QUOTA_EXCEEDED", { "retry-after": "40000" })]);

    expect((await failed(final.client.post("/send-message", hello))).details).toEqual({ whatsapp_code: 406 });
    expect((await failed(tomorrow.client.post("/send-message", hello))).retryAfter).toBe(40_000);
    expect([final, tomorrow].map(({ asked }) => asked.length)).toEqual([1, 1]);
  });

  it("ends with the number of them, and with the caller's signal", async () => {
    const { client, asked } = script([cut, cut, cut], { retries: 1 });
    const given = new AbortController();

    expect(await failed(client.get("/devices"))).toMatchObject({ code: "NETWORK_ERROR", status: 0 });
    expect(asked).toHaveLength(2);
    const waiting = client.get("/devices", { signal: given.signal });
    given.abort(new Error("enough"));

    await expect(waiting).rejects.toThrow("enough");
  });

  it("is made of an attempt that hangs", async () => {
    const hangs = ({ signal }: RequestInit) =>
      new Promise<Response>((_, reject) => {
        signal!.addEventListener("abort", () => reject(signal!.reason));
      });
    const { client, asked } = script([hangs, ok()], { timeoutMs: 20 });

    await client.get("/devices");

    expect(asked).toHaveLength(2);
  });
});

describe("a list", () => {
  it("goes on with `next` until there is none, and keeps its filters", async () => {
    const { client, asked } = script([
      ok({ data: [{ id: "c" }, { id: "b" }], next: "2" }),
      ok({ data: [{ id: "a" }], next: null }),
    ]);
    const ids: string[] = [];

    for await (const { id } of client.list("/messages", { query: { sender: "1" } })) ids.push(id);

    expect(ids).toEqual(["c", "b", "a"]);
    expect(asked.map(({ url }) => url.split("?")[1])).toEqual(["sender=1", "sender=1&before=2"]);
  });

  it("is asked for no further than its reader reads", async () => {
    const { client, asked } = script([ok({ data: [{ id: "c" }], next: "2" })]);

    for await (const _ of client.list("/messages")) break;

    expect(asked).toHaveLength(1);
  });
});
