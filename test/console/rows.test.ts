import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";

/** The console's own rows of the interface, from outside: fields, defaults, limits and refusals. */
const SHOP = "31600000001";
const ANA = "4915112345678";
const HOUR_MS = 3_600_000;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let world: World;
let admin: { key: string };
beforeAll(async () => {
  world = await keepWorld();
  admin = { key: world.gateway.adminToken };
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
});
afterAll(() => closeWorld(world));

const keyFor = async (...permissions: string[]): Promise<{ key: string }> => {
  const { body } = await world.gateway.post("/api-keys", { name: "Some", permissions }, world);
  return { key: body["api_key"] };
};
const refusal = (status: number, code: string, more = {}) => ({
  status,
  body: { status: false, errors: { code, ...more } },
});
const wrong = (...fields: string[]) =>
  refusal(400, "INVALID_PARAMETERS", {
    fields: Object.fromEntries(fields.map((name) => [name, [expect.any(String)]])),
  });
const keysOf = (record: object): string[] => Object.keys(record).toSorted();

describe("POST /console/session", () => {
  it("answers what a page needs, and sets a cookie that scripts do not see", async () => {
    const { gateway, account } = world;
    const made = await gateway.post("/console/session", { key: world.key });
    expect(made).toMatchObject({
      status: 200,
      body: {
        csrf: expect.any(String),
        expires_at: expect.stringMatching(ISO),
        permissions: ["*"],
        account: { id: account },
      },
    });
    const cookie = made.headers.get("set-cookie")!;
    expect(cookie).toMatch(/HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Strict/i);
    const session = { headers: { cookie: cookie.split(";")[0]!, "x-csrf-token": made.body["csrf"] } };

    expect((await gateway.get("/console/session", session)).body).toMatchObject({
      csrf: made.body["csrf"],
      permissions: ["*"],
    });
    const { body } = await gateway.get("/console/sessions", session);
    expect(body["data"]).toContainEqual(expect.objectContaining({ current: true, kind: "key" }));
    expect(await gateway.delete("/console/sessions/unknown", session)).toMatchObject(
      refusal(404, "NOT_FOUND"),
    );
    expect((await gateway.delete("/console/session", session)).status).toBe(200);
    expect((await gateway.get("/console/session", session)).status).toBe(401);
  });
});

describe("POST /devices/{number}/magic-link", () => {
  const path = `/devices/${SHOP}/magic-link`;

  it("makes a link of an hour, or of as many minutes as are asked for", async () => {
    const lasts = async (body: object): Promise<number> => {
      const answer = await world.gateway.post(path, body, world);
      expect(answer).toMatchObject({
        status: 200,
        body: { status: true, id: expect.any(String), url: expect.stringMatching(/\/console\/link#\S+$/) },
      });
      return Math.round((Date.parse(answer.body["expires_at"]) - Date.now()) / 60_000);
    };
    expect(await lasts({})).toBe(60);
    expect(await lasts({ minutes: 1 })).toBe(1);
    expect(await lasts({ minutes: "60" })).toBe(60);
    for (const minutes of [0, 61, 1.5, "soon"])
      expect([minutes, await world.gateway.post(path, { minutes }, world)]).toMatchObject([
        minutes,
        wrong("minutes"),
      ]);
  });

  it("needs all that the link gives, and a number of one's own", async () => {
    for (const missing of ["devices", "qr", "webhooks"]) {
      const key = await keyFor(...["devices", "qr", "webhooks"].filter((one) => one !== missing));
      expect([missing, await world.gateway.post(path, {}, key)]).toMatchObject([
        missing,
        refusal(403, "PERMISSION_DENIED", { permission: missing }),
      ]);
    }
    expect(await world.gateway.post("/devices/31699999999/magic-link", {}, world)).toMatchObject(
      refusal(404, "NOT_FOUND"),
    );
  });

  it("is withdrawn once", async () => {
    const { body } = await world.gateway.post(path, {}, world);
    expect((await world.gateway.delete(`${path}/${body["id"]}`, world)).status).toBe(200);
    expect(await world.gateway.delete(`${path}/${body["id"]}`, world)).toMatchObject(
      refusal(404, "NOT_FOUND"),
    );
    const link = body["url"].split("#")[1];
    expect(await world.gateway.post("/console/session", { link })).toMatchObject(
      refusal(401, "LINK_EXPIRED"),
    );
  });
});

describe("GET /stats", () => {
  it("has an entry for each hour, the oldest first, a day of them when no number is named", async () => {
    const { status, body } = await world.gateway.get("/stats", world);
    expect(status).toBe(200);
    expect(body["data"]).toHaveLength(24);
    const times = body["data"].map(({ at }: { at: string }) => Date.parse(at));
    expect(times.every((at: number, index: number) => at === times[0] + index * HOUR_MS)).toBe(true);
    expect(Date.now() - times.at(-1)).toBeLessThan(HOUR_MS + 60_000);
    expect(keysOf(body["data"][0])).toEqual(
      "answered_by at failed in out p50_ms p95_ms post_failures posts".split(" "),
    );
    expect(keysOf(body["data"][0].answered_by)).toEqual(["bot", "nobody", "webhook"]);
  });

  it("refuses hours that are none, other people's numbers, and keys without `messages`", async () => {
    const stats = (query: string, as = world as { key: string }) => world.gateway.get(`/stats?${query}`, as);
    expect((await stats("hours=2160")).body["data"]).toHaveLength(2160);
    for (const hours of ["0", "2161", "x"])
      expect(await stats(`hours=${hours}`)).toMatchObject(wrong("hours"));
    expect(await stats("sender=31699999999")).toMatchObject(refusal(404, "SENDER_NOT_FOUND"));
    expect(await stats("", await keyFor("devices"))).toMatchObject(
      refusal(403, "PERMISSION_DENIED", { permission: "messages" }),
    );
  });
});

describe("what the operator asks", () => {
  it("GET /admin/log says when, who, in which account, what, and of what, in pages", async () => {
    await world.gateway.put(`/devices/${SHOP}/bots`, { bots: [] }, world);
    const { status, body } = await world.gateway.get("/admin/log?limit=1", admin);
    expect(status).toBe(200);
    expect(body["data"]).toEqual([
      expect.objectContaining({
        at: expect.stringMatching(ISO),
        who: expect.objectContaining({ kind: "key" }),
        account: world.account,
        what: "putDeviceBots",
        target: SHOP,
      }),
    ]);
    const next = await world.gateway.get(`/admin/log?limit=1&before=${body["next"]}`, admin);
    expect(next.body["data"][0].id).not.toBe(body["data"][0].id);
    expect(await world.gateway.get("/admin/log?limit=101", admin)).toMatchObject(wrong("limit"));
    expect(await world.gateway.get("/admin/log", world)).toMatchObject(refusal(401, "INVALID_ADMIN_TOKEN"));
  });

  it("GET /admin/health says how the gateway is, and GET /admin/nodes which processes there are", async () => {
    const { body } = await world.gateway.get("/admin/health", admin);
    expect(body["data"]).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      numbers: { total: 1, by_state: { connected: 1 } },
      queues: { inbox: { waiting: 0 }, outbox: { waiting: 0 }, deliveries: { dead: 0 } },
      stalls: { longest_ms: expect.any(Number), latest: expect.any(Array) },
      storage: { free_bytes: expect.any(Number) },
    });
    const nodes = await world.gateway.get("/admin/nodes", admin);
    expect(nodes.body["data"]).toEqual([
      {
        node: expect.any(String),
        partitions: 256,
        numbers: 1,
        lag_ms: expect.any(Number),
        version: body["data"].version,
        since: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    for (const path of ["/admin/health", "/admin/nodes"])
      expect(await world.gateway.get(path, world)).toMatchObject(refusal(401, "INVALID_ADMIN_TOKEN"));
  });
});

describe("POST /deliveries/replay", () => {
  it("posts again what was given up: all of it, or of a number, a time and a state, and says how much", async () => {
    const receiver = await startReceiver("OK");
    receiver.status = 404;
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, world);
    for (const text of ["one", "two"]) await world.sim.sendText(ANA, SHOP, text);
    const count = async (state: string): Promise<number> =>
      (await world.gateway.get(`/deliveries?state=${state}`, world)).body["data"].length;
    await until(async () => (await count("dead")) === 2);
    const replay = (body: object) => world.gateway.post("/deliveries/replay", body, world);

    const later = new Date(Date.now() + HOUR_MS).toISOString();
    const none = { status: 202, body: { status: true, replayed: 0 } };
    expect(await replay({ device: SHOP, since: later })).toMatchObject(none);
    expect(await replay({ device: SHOP, state: "retrying" })).toMatchObject(none);
    // A number that is not there, or is another account's: a mistyped one must not look as if nothing had failed.
    const unknown = refusal(404, "SENDER_NOT_FOUND");
    expect(await replay({ device: "31699999999" })).toMatchObject(unknown);
    expect((await replay({ device: "31699999999" })).body["errors"].fields).toEqual({
      device: ["This API key has no such number."],
    });
    expect(await world.gateway.get("/deliveries?device=31699999999", world)).toMatchObject(unknown);
    expect(await replay({ state: "lost" })).toMatchObject(wrong("state"));
    expect(await replay({ since: "yesterday" })).toMatchObject(wrong("since"));

    receiver.status = 200;
    expect(await replay({ device: SHOP, until: later, state: "dead" })).toMatchObject({
      status: 202,
      body: { replayed: 2 },
    });
    await until(async () => (await count("delivered")) === 2);
    expect(await replay({})).toMatchObject(none);
    await world.gateway.delete(`/devices/${SHOP}/webhook`, world);
  });
});

describe("fields that the console added", () => {
  it("`unread` of chats, `until` of messages, `message_id` of deliveries, `schema` and `warnings` of bots", async () => {
    await world.sim.sendText(ANA, SHOP, "three");
    await until(async () => {
      const { body } = await world.gateway.get(`/chats?sender=${SHOP}`, world);
      return body["data"][0]?.unread === 3;
    });
    const { body: all } = await world.gateway.get(`/messages?sender=${SHOP}`, world);
    const [newest, before] = all["data"];
    const { body: some } = await world.gateway.get(`/messages?sender=${SHOP}&until=${before.at}`, world);
    expect(some["data"][0].id).toBe(before.id);
    expect(newest.id).not.toBe(before.id);
    expect(await world.gateway.get("/messages?until=now", world)).toMatchObject(wrong("until"));
    const { body: deliveries } = await world.gateway.get(`/deliveries?message_id=${before.id}`, world);
    expect(deliveries["data"].map((one: { message_id: string }) => one.message_id)).toEqual([before.id]);
    const { body: bots } = await world.gateway.get("/bots", world);
    for (const bot of bots["data"])
      expect([bot.id, bot.warnings, bot.schema === null || bot.schema.type === "object"]).toEqual([
        bot.id,
        expect.any(Array),
        true,
      ]);
  });
});
