import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asNodes } from "../_setup/node-services.ts";
import { startGateway, type Gateway } from "../_setup/gateway.ts";
import { until } from "../_setup/world.ts";

let gateway: Gateway;
let admin: { key: string };
beforeAll(async () => {
  gateway = await startGateway({
    env: { PLAN_BASIC: '{"devices":1,"keys":2,"sends_per_day":null}', API_RATE_PER_MINUTE: "0" },
  });
  admin = { key: gateway.adminToken };
});
afterAll(() => gateway?.dispose());

const refused = (status: number, code: string) => ({ status, body: { status: false, errors: { code } } });
const denied = (permission: string) => ({
  status: 403,
  body: { status: false, errors: { code: "PERMISSION_DENIED", permission } },
});
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("/admin/accounts", () => {
  it("makes an account and its first key, of the plan basic by default", async () => {
    const answer = await gateway.post("/admin/accounts", { name: "  Bakery  " }, admin);

    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: true,
        account: { id: expect.any(String), name: "Bakery", plan: "basic", enabled: true, created_at: time },
        api_key: expect.stringMatching(/^parley_/),
      },
    });
    const keys = await gateway.get("/api-keys", { key: answer.body["api_key"] });
    expect(keys.body).toMatchObject({
      total: 1,
      data: [{ permissions: ["*"], devices: null, recipients: null }],
    });
  });

  it.each([
    ["no name", {}, "name"],
    ["a blank name", { name: "   " }, "name"],
    ["a name of 101 characters", { name: "x".repeat(101) }, "name"],
    ["an unknown plan", { name: "x", plan: "gold" }, "plan"],
  ])("refuses %s", async (_, body, field) => {
    const answer = await gateway.post("/admin/accounts", body, admin);
    expect(answer).toMatchObject(refused(400, "INVALID_PARAMETERS"));
    expect(Object.keys(answer.body["errors"].fields)).toEqual([field]);
  });

  it("lists, shows, changes and deletes accounts", async () => {
    const { id, key } = await gateway.createAccount("Short-lived", "basic");
    const path = `/admin/accounts/${id}`;

    expect((await gateway.get("/admin/accounts", admin)).body["data"]).toContainEqual(
      expect.objectContaining({ id, name: "Short-lived" }),
    );
    expect((await gateway.get(path, admin)).body["data"]).toMatchObject({ id, plan: "basic" });
    const changed = await gateway.patch(path, { name: "Renamed", plan: "pro" }, admin);
    expect(changed.body["data"]).toMatchObject({ id, name: "Renamed", plan: "pro", enabled: true });
    expect((await gateway.delete(path, admin)).status).toBe(200);
    expect(await gateway.get(path, admin)).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await gateway.get("/account", { key })).toMatchObject(refused(401, "INVALID_API_KEY"));
  });

  it("disables an account at once, and enables it again", async () => {
    const { id, key } = await gateway.createAccount();

    await gateway.patch(`/admin/accounts/${id}`, { enabled: "0" }, admin);
    expect(await gateway.get("/account", { key })).toMatchObject(refused(403, "ACCOUNT_DISABLED"));
    await gateway.patch(`/admin/accounts/${id}`, { enabled: "1" }, admin);
    expect((await gateway.get("/account", { key })).status).toBe(200);
  });

  it.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/api-keys"],
    ["POST", "/api-keys"],
    ["DELETE", "/api-keys/x"],
    ["GET", "/devices"],
    ["POST", "/devices"],
  ])("answers %s of an account that does not exist with 404 (%s)", async (method, rest) => {
    const fields = { name: "x", permissions: ["lid"], device: "4915112345678" };
    const body = method === "PATCH" ? { name: "x" } : fields;
    const answer = await gateway.request(method, `/admin/accounts/nobody${rest}`, {
      headers: { authorization: `Bearer ${gateway.adminToken}`, "content-type": "application/json" },
      ...(method === "POST" || method === "PATCH" ? { body: JSON.stringify(body) } : {}),
    });
    expect(answer).toMatchObject(refused(404, "NOT_FOUND"));
  });

  it("takes the operator's token in the header and nothing else", async () => {
    const { key } = await gateway.createAccount();
    const wrong = refused(401, "INVALID_ADMIN_TOKEN");

    expect(await gateway.get("/admin/accounts")).toMatchObject(wrong);
    expect(await gateway.get("/admin/accounts", { key })).toMatchObject(wrong);
    expect(await gateway.get("/admin/accounts", { key: `${gateway.adminToken}x` })).toMatchObject(wrong);
    expect(await gateway.get(`/admin/accounts?api_key=${gateway.adminToken}`)).toMatchObject(wrong);
    expect(await gateway.post("/admin/accounts", { name: "x", api_key: gateway.adminToken })).toMatchObject(
      wrong,
    );
  });
});

describe("/account", () => {
  it("shows limits and what is used of them to any key", async () => {
    const { id } = await gateway.createAccount("Small", "basic");
    const created = await gateway.post(
      `/admin/accounts/${id}/api-keys`,
      { name: "Weak", permissions: "lid" },
      admin,
    );

    expect((await gateway.get("/account", { key: created.body["api_key"] })).body["data"]).toEqual({
      id,
      name: "Small",
      plan: "basic",
      limits: { devices: 1, keys: 2, sends_per_day: null },
      used: { devices: 0, keys: 2, sends_per_day: 0 },
    });
  });
});

describe("/api-keys", () => {
  it("makes a key, shows it once, and lists it without its secret", async () => {
    const { key } = await gateway.createAccount();
    const created = await gateway.post("/api-keys", {
      api_key: key,
      name: "Shop",
      permissions: ["messages", "qr", "messages"],
      devices: ["+49 151 12345678"],
      recipients: ["+49*", "120363041234567890@g.us"],
      expires_at: "2099-01-01T00:00:00+01:00",
    });
    const secret: string = created.body["api_key"];

    expect(created.body["data"]).toEqual({
      id: expect.any(String),
      name: "Shop",
      permissions: ["messages", "qr"],
      devices: ["4915112345678"],
      recipients: ["49*", "120363041234567890@g.us"],
      expires_at: "2098-12-31T23:00:00.000Z",
      created_at: time,
      last_used_at: null,
      prefix: secret.slice(0, created.body["data"].prefix.length),
    });
    const listed = await gateway.get("/api-keys", { key });
    expect(listed.body).toMatchObject({ total: 2 });
    expect(listed.text).not.toContain(secret);
  });

  it.each([
    ["no permissions", { permissions: [] }, "permissions"],
    ["an unknown permission", { permissions: ["messages", "everything"] }, "permissions.1"],
    ["a device that is none", { devices: ["me"] }, "devices.0"],
    ["a recipient that is none", { recipients: ["me"] }, "recipients.0"],
    ["a time that is none", { expires_at: "tomorrow" }, "expires_at"],
    ["a time without a zone", { expires_at: "2099-01-01T00:00:00" }, "expires_at"],
    ["no name", { name: "" }, "name"],
    ["permissions that are an object", { permissions: { a: "lid" } }, "permissions"],
  ])("refuses %s", async (_, change, field) => {
    const { key } = await gateway.createAccount();
    const answer = await gateway.post("/api-keys", { name: "x", permissions: ["lid"], ...change }, { key });
    expect(answer).toMatchObject(refused(400, "INVALID_PARAMETERS"));
    expect(Object.keys(answer.body["errors"].fields)).toEqual([field]);
  });

  it("ends a deleted key and the old secret of a rotated one at once", async () => {
    const { key } = await gateway.createAccount();
    const first = await gateway.post("/api-keys", { name: "a", permissions: ["lid"] }, { key });
    const old: string = first.body["api_key"];
    const path = `/api-keys/${first.body["data"].id}`;
    expect((await gateway.get("/account", { key: old })).status).toBe(200);

    const rotated = await gateway.post(`${path}/rotate`, undefined, { key });
    expect(await gateway.get("/account", { key: old })).toMatchObject(refused(401, "INVALID_API_KEY"));
    expect((await gateway.get("/account", { key: rotated.body["api_key"] })).status).toBe(200);

    expect((await gateway.delete(path, { key })).status).toBe(200);
    const gone = await gateway.get("/account", { key: rotated.body["api_key"] });
    expect(gone).toMatchObject(refused(401, "INVALID_API_KEY"));
    expect(await gateway.delete(path, { key })).toMatchObject(refused(404, "NOT_FOUND"));
    expect(await gateway.post(`${path}/rotate`, {}, { key })).toMatchObject(refused(404, "NOT_FOUND"));
  });

  it("refuses an expired key", async () => {
    const { key } = await gateway.createAccount();
    const expired = await gateway.post(
      "/api-keys",
      { name: "old", permissions: ["*"], expires_at: "2020-01-01T00:00:00Z" },
      { key },
    );
    const answer = await gateway.get("/account", { key: expired.body["api_key"] });
    expect(answer).toMatchObject(refused(401, "INVALID_API_KEY"));
  });

  it("lets a key grant no more than it has: permissions, devices, recipients", async () => {
    const { key } = await gateway.createAccount();
    const limits = { permissions: ["keys", "messages"], devices: ["4915112345678"], recipients: ["49*"] };
    const created = await gateway.post("/api-keys", { name: "Limited", ...limits }, { key });
    const grant = (change: object) =>
      gateway.post("/api-keys", { name: "x", ...limits, ...change }, { key: created.body["api_key"] });

    expect((await grant({})).status).toBe(200);
    expect((await grant({ recipients: ["49151*", "4930123456"] })).status).toBe(200);
    expect(await grant({ permissions: ["*"] })).toMatchObject(denied("*"));
    expect(await grant({ permissions: ["groups"] })).toMatchObject(denied("groups"));
    expect(await grant({ devices: null })).toMatchObject(denied("devices"));
    expect(await grant({ devices: ["4915112345678", "4915187654321"] })).toMatchObject(denied("devices"));
    expect(await grant({ recipients: null })).toMatchObject(denied("recipients"));
    expect(await grant({ recipients: ["4*"] })).toMatchObject(denied("recipients"));
  });

  it("does not hand out the secret of a mightier key by rotating it", async () => {
    const { key } = await gateway.createAccount();
    const [first] = (await gateway.get("/api-keys", { key })).body["data"];
    const weak = await gateway.post("/api-keys", { name: "weak", permissions: ["keys"] }, { key });

    const answer = await gateway.post(`/api-keys/${first.id}/rotate`, {}, { key: weak.body["api_key"] });
    expect(answer).toMatchObject(refused(403, "PERMISSION_DENIED"));
    expect((await gateway.get("/account", { key })).status).toBe(200);
  });

  it("makes no more keys than the plan allows", async () => {
    const { key } = await gateway.createAccount("Small", "basic");
    const make = () => gateway.post("/api-keys", { name: "x", permissions: ["lid"] }, { key });

    const answers = await Promise.all([make(), make(), make()]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403]);
    expect(answers.find(({ status }) => status === 403)).toMatchObject(refused(403, "PLAN_LIMIT"));
  });

  it("answers another account's key id with 404", async () => {
    const mine = await gateway.createAccount();
    const other = await gateway.createAccount();
    const [theirs] = (await gateway.get("/api-keys", { key: other.key })).body["data"];

    expect(await gateway.delete(`/api-keys/${theirs.id}`, { key: mine.key })).toMatchObject(
      refused(404, "NOT_FOUND"),
    );
    expect((await gateway.get("/account", { key: other.key })).status).toBe(200);
  });

  it("lets the operator make and delete keys of an account", async () => {
    const { id } = await gateway.createAccount("Served");
    const path = `/admin/accounts/${id}/api-keys`;
    const made = await gateway.post(path, { name: "x", permissions: ["lid"] }, admin);

    expect((await gateway.get(path, admin)).body).toMatchObject({ total: 2 });
    expect((await gateway.delete(`${path}/${made.body["data"].id}`, admin)).status).toBe(200);
    expect((await gateway.get(path, admin)).body).toMatchObject({ total: 1 });
  });
});

it.runIf(asNodes)("leaves backups of a libSQL server to that server, and says so", async () => {
  const { status, body } = await gateway.post("/admin/backup", {}, admin);
  expect(status).toBe(503);
  expect(body.message).toContain("DATABASE_URL names a libSQL server: back it up");
});

describe.skipIf(asNodes)("/admin/backup", () => {
  const folder = () => join(gateway.dataDir, "backup");
  const made = () => (existsSync(folder()) ? readdirSync(folder()) : []);

  /** Asks for one, and is gone as soon as it is being made. @returns whether the answer had begun by then */
  async function leave(): Promise<boolean> {
    const client = connect(gateway.port, "127.0.0.1");
    client.end(
      `POST /admin/backup HTTP/1.1\r\nhost: parley\r\nauthorization: Bearer ${admin.key}\r\ncontent-length: 0\r\n\r\n`,
    );
    while (made().length === 0) await new Promise((resolve) => setImmediate(resolve));
    client.destroy();
    return client.bytesRead > 0;
  }

  it("is made for the next who asks when a client has left before its answer began", async () => {
    await until(async () => {
      await until(() => made().length === 0);
      return !(await leave());
    });

    const headers = { authorization: `Bearer ${admin.key}` };
    await until(async () => {
      const answer = await fetch(`${gateway.url}/admin/backup`, { method: "POST", headers });
      return answer.status === 200 && (await answer.arrayBuffer()).byteLength > 0;
    });
    await until(() => made().length === 0);
    expect(gateway.isAsStarted()).toBe(true);
  });
});

describe("/admin/health, /admin/devices and /admin/stats", () => {
  it("show the operator what there is, and nobody else", async () => {
    const name = "Overseen";
    const { id, key } = await gateway.createAccount(name, "basic");
    await gateway.post("/devices", { device: "4915177777777" }, { key });

    const overview = (await gateway.get("/admin/health", admin)).body["data"];
    expect(overview).toMatchObject({
      version: expect.any(String),
      node: process.version,
      uptime_seconds: expect.any(Number),
      queues: { inbox: { waiting: 0, oldest_at: null }, deliveries: { pending: 0, retrying: 0, dead: 0 } },
      stalls: { latest: expect.any(Array) },
      storage: { free_bytes: expect.any(Number) },
      retention: { days: 30 },
      nodes: [{ version: expect.any(String) }],
    });
    expect(overview.numbers.total).toBeGreaterThan(0);
    expect(overview.numbers.by_state.unlinked).toBeGreaterThan(0);

    const record = { device: "4915177777777", state: "unlinked", account: { id, name } };
    const find = (query: string) => gateway.get(`/admin/devices?${query}`, admin);
    expect((await find("q=777777")).body).toMatchObject({ total: 1, next: null, data: [record] });
    expect((await find(`account=${id}&state=unlinked`)).body["data"]).toMatchObject([record]);
    expect((await find(`account=${id}&state=connected`)).body["data"]).toEqual([]);
    expect(await find("state=asleep")).toMatchObject(refused(400, "INVALID_PARAMETERS"));
    expect((await find("limit=1")).body["data"]).toHaveLength(1);

    const { body: stats } = await gateway.get("/admin/stats", admin);
    expect(stats).toMatchObject({ total: 24, sum: { in: 0, p50_ms: null } });
    expect(stats["data"]).toHaveLength(24);
    for (const path of ["/admin/health", "/admin/devices", "/admin/stats"])
      expect(await gateway.get(path, { key })).toMatchObject(refused(401, "INVALID_ADMIN_TOKEN"));
  });

  it.skipIf(asNodes)("say when somebody took a backup", async () => {
    const at = async () => (await gateway.get("/admin/health", admin)).body["data"].backup;
    const before = await at();
    const answer = await fetch(`${gateway.url}/admin/backup`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin.key}` },
    });
    const { byteLength } = await answer.arrayBuffer();
    await until(async () => (await at()) !== null && (await at()).at !== before?.at);
    expect(await at()).toMatchObject({ at: time, bytes: byteLength });
  });
});

describe("/stats", () => {
  it("has an entry for each hour, of one number or of all that the key may use", async () => {
    const { key } = await gateway.createAccount("Charts", "basic");
    await gateway.post("/devices", { device: "4915166666666" }, { key });
    const { body } = await gateway.get("/stats?hours=48&sender=4915166666666", { key });
    expect(body).toMatchObject({ total: 48, partial: false, complete_since: time, sum: { in: 0, out: 0 } });
    expect(body["data"]).toHaveLength(48);
    const [first, second] = body["data"];
    expect(Date.parse(second.at) - Date.parse(first.at)).toBe(3_600_000);
    expect(first).toMatchObject({
      at: time,
      in: 0,
      out: 0,
      failed: 0,
      p50_ms: null,
      p95_ms: null,
      answered_by: { bot: 0, webhook: 0, nobody: 0 },
    });
    expect((await gateway.get("/stats", { key })).body["data"]).toHaveLength(24);
    expect(await gateway.get("/stats?sender=4915111111111", { key })).toMatchObject(
      refused(404, "SENDER_NOT_FOUND"),
    );
    expect(await gateway.get("/stats?hours=0", { key })).toMatchObject(refused(400, "INVALID_PARAMETERS"));
  });

  it("needs the permission for messages, and no other", async () => {
    const { key } = await gateway.createAccount("Charts of some", "pro");
    const may = async (permission: string) => {
      const made = await gateway.post("/api-keys", { name: permission, permissions: [permission] }, { key });
      return gateway.get("/stats", { key: made.body["api_key"] });
    };
    expect((await may("messages")).status).toBe(200);
    expect(await may("devices")).toMatchObject(refused(403, "PERMISSION_DENIED"));
  });
});
