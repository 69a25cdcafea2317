import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type Gateway } from "../_setup/gateway.ts";

const NUMBER = "31600000001";
const SECRET = "s3cret-of-somebody";

let gateway: Gateway;
let operator: { key: string };
beforeAll(async () => {
  gateway = await startGateway({
    env: {
      ALLOW_PRIVATE_NETWORK: "1",
      API_RATE_PER_MINUTE: "0",
      PLAN_PRO: '{"devices":9,"keys":99,"sends_per_day":null}',
      WHATSAPP_WS_URL: "ws://127.0.0.1:9/ws/chat",
    },
  });
  operator = { key: gateway.adminToken };
});
afterAll(() => gateway?.dispose());

const own = async (key: string) => (await gateway.get("/log", { key })).body["data"];

describe("the log of changes", () => {
  it("says who has changed what, from where, by which request, and no secret", async () => {
    const { id, key } = await gateway.createAccount("Shop");
    await gateway.post("/devices", { device: NUMBER }, { key });
    const webhook = {
      url: `http://127.0.0.1:9/${SECRET}`,
      headers: { authorization: SECRET },
      mode: "always",
    };
    await gateway.put(`/devices/${NUMBER}/webhook`, webhook, { key, headers: { "x-request-id": "my-own" } });
    const bots = [{ id: "ping", enabled: true, config: { password: SECRET } }];
    await gateway.put(`/devices/${NUMBER}/bots`, { bots }, { key });
    await gateway.post("/console/session", { key });
    await gateway.patch(`/admin/accounts/${id}`, { name: "Corner shop" }, operator);

    const log = await own(key);
    const by = (action: string) => log.find((entry: { what: string }) => entry.what === action);
    const who = { kind: "key", id: expect.any(String), name: "First key" };
    expect(by("putWebhook")).toMatchObject({
      who,
      account: id,
      target: NUMBER,
      changes: { url: "http://127.0.0.1:9/…", headers: "(given)", mode: "always" },
      request_id: "my-own",
      address: "127.0.0.1",
    });
    expect(by("createDevice")).toMatchObject({ who, target: NUMBER, changes: { device: NUMBER } });
    expect(by("createSession")).toMatchObject({ who, changes: { key: "(given)" } });
    expect(by("createAccount")).toMatchObject({
      who: { kind: "operator", id: null },
      account: id,
      target: id,
    });
    expect(by("changeAccount")).toMatchObject({ changes: { name: "Corner shop" }, target: id });
    for (const secret of [SECRET, key]) expect(JSON.stringify(log)).not.toContain(secret);
    const all = (await gateway.get(`/admin/log?account=${id}`, operator)).body["data"];
    expect(all).toEqual(log);
  });

  it("has neither what is refused, nor what only reads or sends", async () => {
    const { key } = await gateway.createAccount();
    const before = await own(key);
    await gateway.get("/devices", { key });
    await gateway.delete("/api-keys/nobody", { key });
    await gateway.post("/api-keys", {}, { key });
    await gateway.post("/send-message", { sender: NUMBER, number: NUMBER, message: "x" }, { key });
    await gateway.post("/groups", { sender: NUMBER }, { key });

    expect(await own(key)).toEqual(before);
  });

  it("has a number that asking for a QR code has registered, once", async () => {
    const { key } = await gateway.createAccount();
    for (let times = 0; times < 3; times++) await gateway.post("/generate-qr", { device: NUMBER }, { key });

    const log = (await own(key)).filter(({ what }: { what: string }) => what === "generateQr");
    expect(log).toMatchObject([{ changes: { device: NUMBER } }]);
  });

  it("says by which link, and that it was the operator who worked in an account", async () => {
    const { id, key } = await gateway.createAccount();
    await gateway.post("/devices", { device: NUMBER }, { key });
    const link = (await gateway.post(`/devices/${NUMBER}/magic-link`, {}, { key })).body;
    const sessionBy = async (body: object) => {
      const answer = await gateway.post("/console/session", body);
      const cookie = answer.headers.get("set-cookie")!.split(";")[0]!;
      return { headers: { cookie, "x-csrf-token": answer.body["data"].csrf as string } };
    };
    const customer = await sessionBy({ link: link["url"].split("#")[1] });
    await gateway.put(`/devices/${NUMBER}/webhook`, { url: "http://127.0.0.1:9/" }, customer);
    const person = await sessionBy({ token: gateway.adminToken });
    await gateway.put("/console/session/account", { account: id }, person);
    await gateway.delete(`/devices/${NUMBER}/webhook`, person);

    const log = await own(key);
    expect(log).toContainEqual(
      expect.objectContaining({
        what: "putWebhook",
        who: { kind: "link", id: link["data"].id, name: null },
      }),
    );
    expect(log).toContainEqual(
      expect.objectContaining({
        what: "deleteWebhook",
        who: { kind: "operator", id: null, name: null },
        account: id,
      }),
    );
  });

  it("is read in pages, newest first, by those who manage keys; what was asked for by those who may do everything", async () => {
    const { key } = await gateway.createAccount();
    const { body } = await gateway.post("/api-keys", { name: "small", permissions: ["keys"] }, { key });
    const small = { key: body["api_key"] as string };
    const whole = await own(key);
    expect(whole[0]).toMatchObject({ what: "createKey", changes: { permissions: ["keys"] } });
    const limits = { name: "limited", permissions: ["*"], devices: [NUMBER] };
    const limited = await gateway.post("/api-keys", limits, { key });
    expect(await gateway.get("/log", { key: limited.body["api_key"] })).toMatchObject({
      status: 403,
      body: { errors: { code: "PERMISSION_DENIED", permission: "devices" } },
    });
    whole.unshift(...(await own(key)).slice(0, 1));
    expect(await own(small.key)).toEqual(whole.map((entry: object) => ({ ...entry, changes: null })));

    const first = (await gateway.get("/log?limit=1", { key })).body;
    const second = (await gateway.get(`/log?limit=1&before=${first["next"]}`, { key })).body;
    expect([...first["data"], ...second["data"]]).toEqual(whole.slice(0, 2));
    expect(first["total"]).toBe(whole.length);
    expect((await gateway.get("/log?limit=101", { key })).status).toBe(400);
  });

  it("keeps of an account that is erased what the operator did, and nothing of its keys", async () => {
    const { id, key } = await gateway.createAccount();
    await gateway.post("/devices", { device: NUMBER }, { key });
    await gateway.delete(`/admin/accounts/${id}`, operator);

    const { data } = (await gateway.get(`/admin/log?account=${id}`, operator)).body;
    expect(data.map(({ what }: { what: string }) => what)).toEqual(["deleteAccount", "createAccount"]);
  });
});
