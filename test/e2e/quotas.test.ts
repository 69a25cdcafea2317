import { describe, expect, it } from "vitest";
import { openWorld } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

describe("a plan's limits", () => {
  it("let through as many sends a day as it allows, however many come at once, and say what is left", async () => {
    const { gateway, key, sim, link } = await openWorld({
      env: { PLAN_PRO: '{"devices":1,"keys":2,"sends_per_day":5}' },
    });
    await link(SHOP);
    await sim.addContact(ANA);
    const send = (number: string) =>
      gateway.post("/send-message", { sender: SHOP, number, message: "hi" }, { key });

    const first = await send(ANA);
    const many = await Promise.all(Array.from({ length: 12 }, () => send(ANA)));
    const refused = many.filter(({ status }) => status === 429);
    const late = await send(ANA);

    expect(first.headers.get("x-quota-limit")).toBe("5");
    expect(first.headers.get("x-quota-remaining")).toBe("4");
    expect(many.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(refused).toHaveLength(8);
    expect(late.body["errors"].code).toBe("QUOTA_EXCEEDED");
    expect(late.headers.get("x-quota-remaining")).toBe("0");
    expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(late.headers.get("retry-after"))).toBeLessThanOrEqual(86_400);
    expect(await sim.messages(ANA)).toHaveLength(5);
    expect((await gateway.get("/account", { key })).body["data"].used.sends_per_day).toBe(5);
  });

  it("count every destination, and refuse the whole request that goes beyond", async () => {
    const { gateway, key, sim, link } = await openWorld({
      env: { PLAN_PRO: '{"devices":1,"keys":2,"sends_per_day":3}' },
    });
    await link(SHOP);
    await sim.addContact(ANA);
    const send = (number: string) =>
      gateway.post("/send-message", { sender: SHOP, number, message: "hi" }, { key });

    const four = await send("4915100000001|4915100000002|4915100000003|4915100000004");

    expect(four).toMatchObject({ status: 429, body: { errors: { code: "QUOTA_EXCEEDED" } } });
    expect(four.headers.get("x-quota-remaining")).toBe("3");
    expect(await sim.messages(ANA)).toEqual([]);
  });

  it("say how many numbers and keys there may be", async () => {
    const { gateway, key } = await openWorld({ env: { PLAN_PRO: '{"devices":1,"keys":2}' } });
    const newKey = { name: "k", permissions: ["messages"] };
    const answers = [
      await gateway.post("/devices", { device: SHOP }, { key }),
      await gateway.post("/devices", { device: SHOP }, { key }),
      await gateway.post("/devices", { device: "31600000002" }, { key }),
      await gateway.post("/generate-qr", { device: "31600000002" }, { key }),
      await gateway.post("/api-keys", newKey, { key }),
      await gateway.post("/api-keys", newKey, { key }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 403, 200, 403]);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused.map(({ body }) => [body["errors"].code, body["errors"].limit])).toEqual([
      ["PLAN_LIMIT", 1],
      ["PLAN_LIMIT", 1],
      ["PLAN_LIMIT", 2],
    ]);
    for (const { body } of refused) expect(body["msg"]).toMatch(/plan .*allows [12] /);
  });
});
