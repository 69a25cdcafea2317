import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type Gateway } from "../_setup/gateway.ts";

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { API_RATE_PER_MINUTE: "3", WRONG_KEYS_PER_MINUTE: "5" } });
});
afterAll(() => gateway?.dispose());

describe("API_RATE_PER_MINUTE", () => {
  it("counts per key, says how much is left, and refuses with Retry-After", async () => {
    const { key } = await gateway.createAccount("Busy");
    const other = await gateway.createAccount("Idle");
    const left: (string | null)[] = [];
    for (let request = 0; request < 3; request++)
      left.push((await gateway.get("/account", { key })).headers.get("ratelimit-remaining"));

    const refused = await gateway.get("/account", { key });
    const denied = await gateway.post("/send-message", {}, { key: other.key });

    expect(left).toEqual(["2", "1", "0"]);
    expect(refused).toMatchObject({ status: 429, body: { status: false, errors: { code: "RATE_LIMITED" } } });
    const { headers } = refused;
    expect(headers.get("ratelimit-limit")).toBe("3");
    expect(headers.get("ratelimit-remaining")).toBe("0");
    expect(Number(headers.get("ratelimit-reset"))).toBeGreaterThan(0);
    expect(Number(headers.get("ratelimit-reset"))).toBeLessThanOrEqual(60);
    expect(headers.get("retry-after")).toBe(headers.get("ratelimit-reset"));
    // A refusal for another reason counts as well, and says so.
    expect(denied).toMatchObject({ status: 400 });
    expect(denied.headers.get("ratelimit-remaining")).toBe("2");
  });

  it("counts what a person clicks apart from what programs ask with the same key", async () => {
    const { key } = await gateway.createAccount("Both");
    for (let request = 0; request < 3; request++) await gateway.get("/account", { key });
    const signedIn = await gateway.post("/console/session", { key });
    const headers = { cookie: signedIn.headers.get("set-cookie")!.split(";")[0]! };

    expect((await gateway.get("/account", { key })).status).toBe(429);
    const answer = await gateway.get("/account", { headers });
    expect([answer.status, answer.headers.get("ratelimit-remaining")]).toEqual([200, "2"]);
  });

  it("is off at 0, without headers", async () => {
    const free = await startGateway({ env: { API_RATE_PER_MINUTE: "0" } });
    const { key } = await free.createAccount();
    const answer = await free.get("/account", { key });
    await free.dispose();

    expect(answer.status).toBe(200);
    expect(answer.headers.has("ratelimit-limit")).toBe(false);
  });
});

describe("WRONG_KEYS_PER_MINUTE", () => {
  it("counts wrong keys and tokens per address, refuses with Retry-After, and lets right ones pass", async () => {
    const { key } = await gateway.createAccount("Behind the same proxy");
    const wrong = "parley_notakeyatall";
    const guesses = [
      () => gateway.get("/account", { key: wrong }),
      () => gateway.post("/send-message", { api_key: wrong }),
      () => gateway.get(`/send-message?api_key=${wrong}`),
      () => gateway.post("/send-message", { api_key: key }, { key: wrong }),
      () => gateway.get("/admin/accounts", { key: wrong }),
    ];
    const nobody = await gateway.get("/account");
    const first = [];
    for (const guess of guesses) first.push((await guess()).status);
    const refused = [];
    for (const guess of guesses) refused.push(await guess());
    const right = await gateway.get("/account", { key });
    const operator = await gateway.get("/admin/accounts", { key: gateway.adminToken });

    expect(nobody.status).toBe(401);
    expect(first).toEqual([401, 401, 401, 401, 401]);
    for (const answer of refused) {
      expect(answer).toMatchObject({
        status: 429,
        body: { status: false, errors: { code: "RATE_LIMITED" } },
      });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect([right.status, operator.status]).toEqual([200, 200]);
  });

  it("counts wrong attempts at signing in with them, and lets right ones pass", async () => {
    const { key } = await gateway.createAccount("At a browser");
    for (let guess = 0; guess < 5; guess++) await gateway.get("/account", { key: "parley_wrong" });

    expect(await gateway.post("/console/session", { key: "parley_wrong" })).toMatchObject({
      status: 429,
      body: { errors: { code: "RATE_LIMITED" } },
    });
    expect((await gateway.post("/console/session", { key })).status).toBe(200);
  });
});
