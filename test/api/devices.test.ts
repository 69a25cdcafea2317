import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type Gateway } from "../_setup/gateway.ts";

/** Numbers, webhooks and bots of an account whose numbers no phone has linked. */

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    env: {
      PLAN_PRO,
      // Nobody answers there: nothing of these tests may reach WhatsApp.
      WHATSAPP_WS_URL: "ws://127.0.0.1:9/ws/chat",
    },
  });
});
afterAll(() => gateway?.dispose());

const PLAN_PRO = '{"devices":3,"keys":10,"sends_per_day":null}';
const NUMBER = "4915112345678";
const refused = (status: number, code: string) => ({ status, body: { status: false, errors: { code } } });

/** A key whose account has {@link NUMBER}. */
async function keyWithNumber(): Promise<string> {
  const { key } = await gateway.createAccount();
  await gateway.post("/devices", { device: NUMBER }, { key });
  return key;
}

describe("/devices", () => {
  it("registers a number without linking it, once, in whatever spelling", async () => {
    const { key } = await gateway.createAccount();
    const first = await gateway.post("/devices", { device: "+49 151 12345678" }, { key });
    const again = await gateway.post("/devices", { api_key: key, device: "004915112345678" });

    expect(first.body["data"]).toEqual({
      device: NUMBER,
      state: "unlinked",
      since: expect.any(String),
      last_in: null,
      last_out: null,
      lid: null,
      name: null,
      platform: null,
      reachout: null,
      waiting: null,
      new_chats: null,
      calls: "ignore",
      calls_text: null,
      proxy: null,
    });
    expect(again.body["data"]).toEqual(first.body["data"]);
    expect((await gateway.get("/devices", { key })).body).toMatchObject({ total: 1 });
  });

  it("registers no more than the plan allows, also for requests at the same time", async () => {
    // Of its own: the first requests of a fresh process wait together for their route, and pass its checks at once.
    const fresh = await startGateway({ env: { PLAN_PRO } });
    const { key } = await fresh.createAccount();
    const numbers = Array.from({ length: 20 }, (_, last) => `4915112345${String(last).padStart(3, "0")}`);

    const answers = await Promise.all(numbers.map((device) => fresh.post("/devices", { device }, { key })));
    const listed = await fresh.get("/devices", { key });
    const further = await fresh.post("/generate-qr", { device: "4915100000009" }, { key });
    await fresh.dispose();

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.find(({ status }) => status !== 200)).toMatchObject(refused(403, "PLAN_LIMIT"));
    expect(listed.body).toMatchObject({ total: 3 });
    expect(further).toMatchObject(refused(403, "PLAN_LIMIT"));
  });

  it.each(["me", "0151123", "120363041234567890@g.us", `${NUMBER}|${NUMBER}`])(
    "refuses %j",
    async (device) => {
      const { key } = await gateway.createAccount();
      expect(await gateway.post("/devices", { device }, { key })).toMatchObject(
        refused(400, "INVALID_PARAMETERS"),
      );
    },
  );

  it("shows a number, says why it is as it is, and erases it", async () => {
    const key = await keyWithNumber();
    const path = `/devices/${NUMBER}`;

    expect((await gateway.get(path, { key })).body["data"]).toMatchObject({
      device: NUMBER,
      state: "unlinked",
    });
    const why = await gateway.get(`${path}/why`, { key });
    expect(why.body["data"]).toMatchObject({ state: "unlinked", last_close: null, next_retry_at: null });
    expect(why.body["data"].advice).not.toBe("");
    expect((await gateway.post(`${path}/logout`, undefined, { key })).body["data"].state).toBe("unlinked");
    expect((await gateway.delete(path, { key })).status).toBe(200);
    expect(await gateway.get(path, { key })).toMatchObject(refused(404, "NOT_FOUND"));
    expect((await gateway.get("/devices", { key })).body).toMatchObject({ total: 0, data: [] });
  });

  it("changes what a number does with calls; what is not given stays, and what is wrong changes nothing", async () => {
    const key = await keyWithNumber();
    const path = `/devices/${NUMBER}`;
    const set = (body: object) => gateway.patch(path, body, { key });
    const calls = async () => {
      const { calls: how, calls_text: text } = (await gateway.get(path, { key })).body["data"];
      return [how, text];
    };

    expect(await calls()).toEqual(["ignore", null]);
    expect((await set({ calls: "reject", calls_text: "Please write." })).body["data"]).toMatchObject({
      device: NUMBER,
      calls: "reject",
      calls_text: "Please write.",
    });
    await set({ calls: "ignore" });
    expect(await calls()).toEqual(["ignore", "Please write."]);
    await set({ calls_text: "" });
    expect(await calls()).toEqual(["ignore", null]);
    await set({ calls: "reject", calls_text: "x" });
    await set({ calls_text: "" });
    for (const wrong of [
      { calls: "Reject" },
      { calls: "accept" },
      { calls_text: " \n" },
      { calls_text: "x".repeat(4097) },
      { calls_text: ["x"] },
      { state: "connected" },
      { call: "ignore" },
    ])
      expect(await set(wrong)).toMatchObject({
        status: 400,
        body: {
          errors: { code: "INVALID_PARAMETERS", fields: { [Object.keys(wrong)[0]!]: [expect.any(String)] } },
        },
      });
    expect((await set({ call: "ignore" })).body["errors"].fields.call[0]).toContain('"calls"');
    expect(await calls()).toEqual(["reject", null]);
    const { key: stranger } = await gateway.createAccount("Stranger");
    expect(await gateway.patch(path, { calls: "ignore" }, { key: stranger })).toMatchObject(
      refused(404, "NOT_FOUND"),
    );
  });

  it("answers another account's number like one that does not exist", async () => {
    await keyWithNumber();
    const { key } = await gateway.createAccount("Stranger");
    const texts = new Set<string>();
    for (const number of [NUMBER, "4915199999999", "nonsense"])
      for (const rest of ["", "/why", "/webhook", "/bots"]) {
        const answer = await gateway.get(`/devices/${number}${rest}`, { key });
        expect(answer).toMatchObject(refused(404, "NOT_FOUND"));
        texts.add(answer.text);
      }
    expect(texts.size).toBe(1);
  });

  it("shows a limited key its own numbers and no others", async () => {
    const key = await keyWithNumber();
    await gateway.post("/devices", { device: "4915187654321" }, { key });
    const limited = await gateway.post(
      "/api-keys",
      { name: "One", permissions: ["devices", "qr", "webhooks"], devices: [NUMBER] },
      { key },
    );
    const only = { key: limited.body["api_key"] };

    expect((await gateway.get("/devices", only)).body).toMatchObject({
      total: 1,
      data: [{ device: NUMBER }],
    });
    expect(await gateway.get("/devices/4915187654321", only)).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await gateway.delete("/devices/4915187654321", only)).toMatchObject(refused(404, "NOT_FOUND"));
    for (const path of ["/devices", "/generate-qr"])
      expect(await gateway.post(path, { device: "4915187654321" }, only)).toMatchObject(
        refused(404, "SENDER_NOT_FOUND"),
      );
  });

  it("lets the operator register and list numbers of an account", async () => {
    const { id } = await gateway.createAccount();
    const admin = { key: gateway.adminToken };
    const made = await gateway.post(`/admin/accounts/${id}/devices`, { device: NUMBER }, admin);

    expect(made.body["data"]).toMatchObject({ device: NUMBER, state: "unlinked" });
    expect((await gateway.get(`/admin/accounts/${id}/devices`, admin)).body).toMatchObject({ total: 1 });
  });
});

describe("a number that no phone has linked", () => {
  it.each([
    ["/send-message", { number: "4915100000001", message: "hi" }],
    ["/groups", {}],
    ["/resolve-lid", { lid: "123@lid" }],
  ])("makes %s answer 409 in the documented words", async (path, fields) => {
    const key = await keyWithNumber();
    const answer = await gateway.post(path, { api_key: key, sender: NUMBER, ...fields });
    expect(answer).toMatchObject({
      status: 409,
      body: { status: false, msg: "Invalid data!", errors: { code: "SENDER_NOT_CONNECTED" } },
    });
  });

  it("is told to wait while WhatsApp cannot be reached", async () => {
    const key = await keyWithNumber();
    const answer = await gateway.post("/generate-qr", { api_key: key, device: NUMBER });
    expect(answer).toMatchObject({
      status: 200,
      body: { status: false, state: "processing", message: "Processing", msg: "Processing" },
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});

describe("/devices/{number}/webhook", () => {
  const path = `/devices/${NUMBER}/webhook`;
  // A public address; nothing is ever posted to it here.
  const url = "https://93.184.215.14/hook";

  it("is 404 until it is set, keeps its secret, and shows a new one when it is rotated", async () => {
    const key = await keyWithNumber();
    expect(await gateway.get(path, { key })).toMatchObject(refused(404, "NOT_FOUND"));

    const made = await gateway.put(path, { url, headers: { "X-Shop": "1" } }, { key });
    const changed = await gateway.put(path, { url, mode: "always", events: ["message"] }, { key });
    const rotated = await gateway.post(`${path}/rotate`, undefined, { key });

    expect(made.body["secret"]).toMatch(/^whsec_/);
    expect(made.body["data"]).toMatchObject({ url, mode: "fallback", headers: { "X-Shop": "1" } });
    expect(changed.body).not.toHaveProperty("secret");
    // PUT replaces all of it.
    expect(changed.body["data"]).toMatchObject({ mode: "always", headers: {} });
    expect(rotated.body["secret"]).toMatch(/^whsec_/);
    expect(rotated.body["secret"]).not.toBe(made.body["secret"]);
    expect((await gateway.get(path, { key })).body["data"]).toEqual(changed.body["data"]);
    expect((await gateway.delete(path, { key })).status).toBe(200);
    expect(await gateway.delete(path, { key })).toMatchObject(refused(404, "NOT_FOUND"));
  });

  it.each([
    "http://127.0.0.1:8080/",
    "http://10.1.2.3/",
    "http://[::1]/",
    "http://localhost/",
    "http://169.254.169.254/",
  ])("refuses the private address %s with 422", async (url) => {
    const key = await keyWithNumber();
    expect(await gateway.put(path, { url }, { key })).toMatchObject(refused(422, "URL_NOT_ALLOWED"));
    expect(await gateway.get(path, { key })).toMatchObject(refused(404, "NOT_FOUND"));
  });
});

describe("/deliveries and /messages", () => {
  it("are empty, and 404 for what does not exist", async () => {
    const key = await keyWithNumber();
    expect((await gateway.get("/deliveries", { key })).body).toMatchObject({ total: 0, data: [] });
    expect(await gateway.get("/deliveries/msg_0", { key })).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await gateway.post("/deliveries/msg_0/replay", {}, { key })).toMatchObject(
      refused(404, "NOT_FOUND"),
    );
    expect(await gateway.get("/messages/3EB0AA", { key })).toMatchObject(refused(404, "NOT_FOUND"));
  });
});

describe("/bots", () => {
  it("lists the shipped bots, which are off until they are bound", async () => {
    const key = await keyWithNumber();
    const bots = await gateway.get("/bots", { key });
    const path = `/devices/${NUMBER}/bots`;
    const before = await gateway.get(path, { key });
    const bound = await gateway.put(path, { bots: [{ id: "ping", enabled: true, priority: 5 }] }, { key });

    expect(bots.body["data"]).toContainEqual(expect.objectContaining({ id: "ping", enable: "bound" }));
    expect(before.body["data"].every(({ enabled }: { enabled: boolean }) => !enabled)).toBe(true);
    expect(bound.body["data"]).toContainEqual({
      id: "ping",
      enabled: true,
      priority: 5,
      config: null,
      enable: "bound",
      routes: [{ kind: "keyword", pattern: "ping" }],
      warnings: [],
      schema: null,
    });
    expect((await gateway.get(path, { key })).body["data"]).toEqual(bound.body["data"]);
    expect(await gateway.put(path, { bots: [{ id: "nobody", enabled: true }] }, { key })).toMatchObject(
      refused(400, "INVALID_PARAMETERS"),
    );
  });

  it("looks at the addresses in a bot's settings when they are saved", async () => {
    const key = await keyWithNumber();
    const path = `/devices/${NUMBER}/bots`;
    const save = (lookupUrl: unknown) =>
      gateway.put(path, { bots: [{ id: "order-status", enabled: true, config: { lookupUrl } }] }, { key });
    for (const inside of ["127.0.0.1", "[::1]", "localhost", "169.254.169.254", "10.0.0.1", "0x7f.1"])
      expect(await save(`http://${inside}/{order}`), inside).toMatchObject(refused(422, "URL_NOT_ALLOWED"));
    for (const none of ["shop", "ftp://shop.example/{order}", "https://shop.example/", "file:///{order}", 7])
      expect(await save(none), String(none)).toMatchObject(refused(400, "INVALID_PARAMETERS"));
    const changed = await gateway.patch(
      path,
      { bots: [{ id: "shop", enabled: true, config: { ordersUrl: "http://127.0.0.1:9/" } }] },
      { key },
    );
    expect(changed).toMatchObject(refused(422, "URL_NOT_ALLOWED"));
    expect(changed.body.errors.fields.bots[0]).toContain('Bot "shop": config ordersUrl');
    expect((await gateway.get(path, { key })).body["data"]).not.toContainEqual(
      expect.objectContaining({ enabled: true }),
    );
    expect(await save("https://198.51.100.7.example/{order}")).toMatchObject({ status: 200 });
  });
});
