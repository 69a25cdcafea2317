import { Webhook } from "standardwebhooks";
import { describe, expect, it, vi } from "vitest";
import { ACCOUNT, DEVICE, gateway, receiver, status, storeWithNumber } from "./gateway.ts";

const started = async (options: Parameters<typeof gateway>[1] = {}) => {
  const store = await storeWithNumber();
  return { store, parley: await gateway(store, options) };
};

describe("setting a webhook", () => {
  it("needs a url only; the rest has its defaults, and put replaces all", async () => {
    const { parley } = await started();
    const defaults = {
      url: "https://shop.example/hook",
      mode: "fallback",
      replyTo: "chat",
      events: ["message", "poll_vote"],
      headers: {},
      timeoutMs: 15_000,
      replyMaxAge: 3600,
      read: false,
      typing: false,
      enabled: true,
    };
    const first = await parley.configure("https://shop.example/hook");
    const health = { state: "ok", failures: 0, failingSince: null, pausedUntil: null, reason: null };
    expect(first).toEqual({ config: { ...defaults, health }, secret: expect.stringMatching(/^whsec_/) });

    const other = {
      mode: "always",
      replyTo: "sender",
      events: ["own"],
      headers: { authorization: "x" },
      timeoutMs: 2000,
      replyMaxAge: 5,
      read: true,
      typing: true,
      enabled: false,
    } as const;
    await parley.configure("http://other.example/", { ...other, events: [...other.events] });
    expect(await parley.webhooks.get(DEVICE)).toEqual({
      url: "http://other.example/",
      ...other,
      health: { ...health, state: "disabled" },
    });
    await parley.configure("https://shop.example/hook");
    expect(await parley.webhooks.get(DEVICE)).toEqual({ ...defaults, health });
  });

  it("is there after a restart, secret included", async () => {
    const { store, parley } = await started();
    const shop = await receiver();
    const { secret } = await parley.configure(shop.url, { headers: { "x-a": "b" }, read: true });
    await parley.stop();
    const again = await gateway(store);
    expect(await again.webhooks.get(DEVICE)).toEqual(await parley.webhooks.get(DEVICE));
    await again.webhooks.test(DEVICE);
    const { body, headers } = shop.posts[0]!;
    expect(() => new Webhook(secret!).verify(body, headers as Record<string, string>)).not.toThrow();
  });

  it.each([
    ["url", { url: "not an address" }],
    ["url", { url: "ftp://shop.example/" }],
    ["mode", { mode: "sometimes" }],
    ["reply_to", { replyTo: "all" }],
    ["events", { events: ["message", "everything"] }],
    ["headers", { headers: { "bad name": "x" } }],
    ["headers", { headers: { "x-split": "a\r\nx-injected: b" } }],
    ["headers", { headers: { "Webhook-Signature": "v1,forged" } }],
    ["headers", { headers: { "Content-Length": "0" } }],
    ["timeout_ms", { timeoutMs: 999 }],
    ["timeout_ms", { timeoutMs: 30_001 }],
    ["reply_max_age", { replyMaxAge: 1.5 }],
  ])("a wrong %s is refused: %j", async (field, change) => {
    const { parley } = await started();
    const input = { url: "https://shop.example/", ...change } as { url: string };
    await expect(parley.webhooks.put(DEVICE, input)).rejects.toMatchObject({
      code: "INVALID_PARAMETERS",
      details: { fields: { [field]: [expect.any(String)] } },
    });
    expect(await parley.webhooks.get(DEVICE)).toBeNull();
  });

  it("keeps user and password of an address as a header, where they are sealed", async () => {
    const { parley } = await started();
    const { config } = await parley.configure("https://user:p%40ss@shop.example/hook?a=1");
    expect(config).toMatchObject({
      url: "https://shop.example/hook?a=1",
      headers: { authorization: `Basic ${Buffer.from("user:p@ss").toString("base64")}` },
    });
  });

  it("a number without one: nothing to get, rotate, test", async () => {
    const { parley } = await started();
    const { get, rotate, test, remove, replyMaxAge } = parley.webhooks;
    expect([await get(9), await rotate(9), await test(9), await remove(9), replyMaxAge(9)]).toEqual([
      null,
      null,
      null,
      false,
      3600,
    ]);
  });
});

describe("private addresses", () => {
  it.each([
    "http://127.0.0.1:9/",
    "http://2130706433/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/",
    "http://localhost/",
  ])("%s is refused when it is set", async (url) => {
    const { parley } = await started({ privateNetwork: false });
    await expect(parley.configure(url)).rejects.toMatchObject({ code: "URL_NOT_ALLOWED" });
    expect(await parley.webhooks.get(DEVICE)).toBeNull();
  });

  it("one that got in before is not posted to, and the delivery says why", async () => {
    const store = await storeWithNumber();
    const shop = await receiver();
    const open = await gateway(store);
    await open.configure(shop.url);
    await open.stop();

    const guarded = await gateway(store, { privateNetwork: false });
    await guarded.receive();
    await vi.waitFor(async () => expect(await guarded.deliveries()).toHaveLength(1));
    expect(shop.posts).toEqual([]);
    expect(await guarded.deliveries()).toMatchObject([
      { state: "dead", attempts: [{ statusCode: null, error: expect.stringMatching(/private or local/) }] },
    ]);
  });
});

describe("the test post", () => {
  it("shows what a real event would get, sends nothing and leaves no delivery", async () => {
    const { parley } = await started();
    const shop = await receiver();
    await parley.configure(shop.url, { mode: "off" });
    shop.answer(status(200, { message: "Hello" }));
    const seen = await parley.webhooks.test(DEVICE);

    expect(seen).toMatchObject({
      statusCode: 200,
      answer: '{"message":"Hello"}',
      understood: true,
      error: null,
      replies: [{ kind: "text", text: "Hello", quoted: false }],
      ignored: [],
      hold: null,
    });
    // What is shown is what was posted, signature and all.
    const [{ headers, body }] = shop.posts as [(typeof shop.posts)[0]];
    expect(seen!.request).toEqual({ url: shop.url, body, headers: expect.any(Object) });
    expect(headers).toMatchObject(seen!.request.headers);
    expect(Object.keys(seen!.request.headers)).toContain("webhook-signature");
    expect(seen!.durationMs).toBeGreaterThanOrEqual(0);
    expect(shop.posts[0]!.event).toMatchObject({
      type: "text",
      device: "4930555",
      message: expect.any(String),
    });
    expect(await parley.sent()).toEqual([]);
    expect(await parley.deliveries()).toEqual([]);
  });

  it.each([
    ["no JSON", status(200, "OK"), { statusCode: 200, answer: "OK", understood: false }],
    [
      "an error",
      status(500, "down"),
      { statusCode: 500, answer: "down", understood: false, error: "HTTP 500" },
    ],
    ["a long answer, of which 4 KiB are kept", status(200, "x".repeat(5000)), { answer: "x".repeat(4096) }],
    [
      "no answer",
      (response: import("node:http").ServerResponse) => void response.destroy(),
      { statusCode: null, answer: null, understood: false },
    ],
  ])("%s", async (_what, behaviour, expected) => {
    const { parley } = await started();
    const shop = await receiver();
    await parley.configure(shop.url);
    shop.answer(behaviour);
    expect(await parley.webhooks.test(DEVICE)).toMatchObject(expected);
  });
});

describe("the list of deliveries", () => {
  it("is newest first, by number and state, in pages", async () => {
    const { parley } = await started();
    const shop = await receiver();
    await parley.configure(shop.url);
    shop.answer(status(200), status(404), status(200), status(404));
    for (const text of ["a", "b", "c", "d"]) await parley.receive({ text, id: `3A${text}` });
    await vi.waitFor(async () => expect(await parley.deliveries()).toHaveLength(4));

    const { list } = parley.webhooks.deliveries;
    const ids = async (filter: Partial<Parameters<typeof list>[0]>) => {
      const { total, deliveries } = await list({ deviceIds: [DEVICE], limit: 100, ...filter });
      return [total, deliveries.map(({ messageId }) => messageId).join(" ")];
    };
    expect(await ids({})).toEqual([4, "3Ad 3Ac 3Ab 3Aa"]);
    expect(await ids({ state: "dead" })).toEqual([2, "3Ad 3Ab"]);
    expect(await ids({ deviceIds: [] })).toEqual([0, ""]);
    const [, second] = (await list({ deviceIds: [DEVICE], limit: 2 })).deliveries;
    expect(await ids({ limit: 1 })).toEqual([4, "3Ad"]);
    expect(await ids({ before: second!.id })).toEqual([4, "3Ab 3Aa"]);
    expect(await ids({ before: new Date(Date.now() + 1000).toISOString() })).toEqual([4, "3Ad 3Ac 3Ab 3Aa"]);
    expect(await ids({ before: "2020-01-01T00:00:00Z" })).toEqual([4, ""]);
    await expect(ids({ before: "yesterday" })).rejects.toMatchObject({ code: "INVALID_PARAMETERS" });
    expect(await parley.webhooks.deliveries.find(ACCOUNT, second!.id)).toEqual(second);
  });
});
