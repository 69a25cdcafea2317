import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { startReceiver, type ReceivedEvent, type Receiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const LISTENERS = `/devices/${SHOP}/webhooks`;

const ids = ({ events }: Receiver): string[] => events.map(({ body }) => body["id"]);

/** By message. */
const webhookIds = ({ events }: Receiver): Map<string, unknown> =>
  new Map(events.map(({ body, headers }) => [body["id"], headers["webhook-id"]]));

async function openShop(again = true): Promise<World> {
  const world = await openWorld({ again });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

/** Whether one of the signatures is made with the secret. */
function isSigned({ headers, text }: ReceivedEvent, secret: string): boolean {
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const wanted = `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  return String(headers["webhook-signature"]).split(" ").includes(wanted);
}

it("listeners are made, shown, changed, rotated and removed, and each has its own secret", async () => {
  const { gateway, key, sim } = await openShop();
  const [one, two] = [await startReceiver(), await startReceiver()];
  const made = await gateway.post(LISTENERS, { url: one.url }, { key });
  expect(made.body).toMatchObject({ status: true, secret: expect.stringMatching(/^whsec_/) });
  const { id } = made.body.data;
  expect(made.body.data).toEqual({
    id,
    url: one.url,
    events: ["message", "poll_vote"],
    chats: null,
    bots: null,
    headers: {},
    timeout_ms: 15_000,
    enabled: true,
    health: { state: "ok", failures: 0, failing_since: null, paused_until: null, reason: null },
  });
  const limited = {
    url: two.url,
    chats: [`+${ANA}`, "*@g.us"],
    events: ["message", "own", "own"],
    timeout_ms: 2000,
  };
  const second = await gateway.post(LISTENERS, limited, { key });
  expect(second.body.data).toMatchObject({
    chats: [ANA, "*@g.us"],
    events: ["message", "own"],
    timeout_ms: 2000,
  });
  const listed = await gateway.get(LISTENERS, { key });
  expect(listed.body).toMatchObject({ total: 2, data: [made.body.data, second.body.data] });
  // The webhook is none of them.
  expect((await gateway.get(`/devices/${SHOP}/webhook`, { key })).status).toBe(404);

  const message = await sim.sendText(ANA, SHOP, "hello");
  await until(() => [one, two].every((each) => ids(each).includes(message.id)));
  expect(isSigned(one.events[0]!, made.body["secret"])).toBe(true);
  expect(isSigned(two.events[0]!, made.body["secret"])).toBe(false);
  expect(isSigned(two.events[0]!, second.body["secret"])).toBe(true);
  await until(async () => {
    const { body } = await gateway.get(`/deliveries?device=${SHOP}&state=delivered`, { key });
    return body.data.length === 2;
  });
  const { body } = await gateway.get(`/deliveries?device=${SHOP}`, { key });
  const named = body.data.map(({ listener }: { listener: string }) => listener).toSorted();
  expect(named).toEqual([id, second.body.data.id].toSorted());

  const changed = await gateway.patch(
    `${LISTENERS}/${id}`,
    { chats: ["120363*@g.us"], timeout_ms: 3000 },
    { key },
  );
  expect(changed.body.data).toMatchObject({ url: one.url, chats: ["120363*@g.us"], timeout_ms: 3000 });
  await gateway.patch(`${LISTENERS}/${id}`, { enabled: "0" }, { key });
  const open = await gateway.patch(`${LISTENERS}/${id}`, { chats: null, enabled: true }, { key });
  expect(open.body.data).toMatchObject({ chats: null, enabled: true });
  const rotated = await gateway.post(`${LISTENERS}/${id}/rotate`, undefined, { key });
  expect(rotated.body["secret"]).not.toBe(made.body["secret"]);
  const later = await sim.sendText(ANA, SHOP, "and again");
  await until(() => ids(one).includes(later.id));
  for (const { secret } of [made.body, rotated.body] as { secret: string }[])
    expect(isSigned(one.events.at(-1)!, secret)).toBe(true);

  expect((await gateway.delete(`${LISTENERS}/${id}`, { key })).status).toBe(200);
  for (const method of ["delete", "patch"] as const)
    expect(
      (await gateway[method](`${LISTENERS}/${id}`, {} as never, { key } as never)).status,
    ).toBeGreaterThan(400);
  expect((await gateway.get(LISTENERS, { key })).body.total).toBe(1);
});

it("a listener is refused that could listen to nothing, leads into a private network, or is the sixth", async () => {
  const { gateway, key } = await openWorld({ again: true });
  await gateway.post("/devices", { device: SHOP }, { key });
  const post = (fields: object) => gateway.post(LISTENERS, fields, { key });
  const url = "http://127.0.0.1:9/";
  for (const [wrong, field] of [
    [{}, "url"],
    [{ url: "ftp://host/" }, "url"],
    [{ url, events: ["everything"] }, "events.0"],
    [{ url, chats: ["not a chat"] }, "chats.0"],
    [{ url, bots: ["no-such-bot"] }, "bots.0"],
    [{ url, bots: ["ping", "ping"] }, "bots.1"],
    [{ url, timeout_ms: 10 }, "timeout_ms"],
    [{ url, headers: { "webhook-id": "mine" } }, "headers"],
  ] as const) {
    const { status, body } = await post(wrong);
    expect([status, Object.keys(body.errors.fields)]).toEqual([400, [field]]);
  }
  expect((await post({ url, bots: ["ping"], chats: [] })).body.data).toMatchObject({
    bots: ["ping"],
    chats: null,
  });
  for (let n = 1; n < 5; n++) expect((await post({ url })).status).toBe(200);
  const sixth = await post({ url });
  expect([sixth.status, sixth.body.errors.code]).toEqual([403, "PLAN_LIMIT"]);
  const none = await gateway.patch(`${LISTENERS}/lst_0000000000000000`, { enabled: false }, { key });
  expect(none.status).toBe(404);
  const misspelt = await gateway.patch(`${LISTENERS}/lst_0000000000000000`, { chat: [ANA] }, { key });
  expect(misspelt.body.errors.fields).toHaveProperty("chat");

  const guarded = await openWorld({ env: { ALLOW_PRIVATE_NETWORK: "0" } });
  await guarded.gateway.post("/devices", { device: SHOP }, { key: guarded.key });
  const refused = await guarded.gateway.post(LISTENERS, { url }, { key: guarded.key });
  expect([refused.status, refused.body.errors.code]).toEqual([422, "URL_NOT_ALLOWED"]);
});

it("a number erased and made anew has no listener", async () => {
  const { gateway, key } = await openWorld({ again: true });
  await gateway.post("/devices", { device: SHOP }, { key });
  await gateway.post(LISTENERS, { url: "http://127.0.0.1:9/" }, { key });
  await gateway.delete(`/devices/${SHOP}`, { key });
  await gateway.post("/devices", { device: SHOP }, { key });
  expect((await gateway.get(LISTENERS, { key })).body.data).toEqual([]);
});

it("listeners of what bots answered, and of states, lose nothing when the gateway is killed", async () => {
  const world = await openShop(false);
  const { gateway, key, sim } = world;
  await world.bindBots(SHOP, "ping");
  const [bots, all, own] = [await startReceiver(), await startReceiver(), await startReceiver()];
  // It takes nothing, and holds up nobody: one without any answer would hold its chat until its second attempt.
  own.status = 503;
  const refuses = { url: own.url, mode: "always", events: ["message", "status"] };
  expect((await gateway.put(`/devices/${SHOP}/webhook`, refuses, { key })).status).toBe(200);
  const ofBots = await gateway.post(LISTENERS, { url: bots.url, bots: ["ping"] }, { key });
  await gateway.post(LISTENERS, { url: all.url, events: ["message", "status"] }, { key });
  // It takes none until the gateway has been killed.
  all.status = 503;
  const sent: string[] = [];
  for (const text of ["ping", "what?", "ping"]) sent.push((await sim.sendText(ANA, SHOP, text)).id);
  // What it has taken is told again when a kill comes before that is stored.
  await until(async () => {
    const { body } = await gateway.get("/deliveries?state=delivered", { key });
    const told = (body["data"] as { listener: string | null }[]).map(({ listener }) => listener);
    return told.filter((listener) => listener === ofBots.body["data"].id).length === 2;
  });
  await until(() => sent.every((id) => ids(all).includes(id)));
  const before = webhookIds(all);
  await gateway.kill();
  all.status = 200;
  all.events.length = 0;
  await gateway.restart();
  await world.online(SHOP);
  await until(() => sent.every((id) => ids(all).includes(id)));
  expect(ids(bots)).toEqual([sent[0], sent[2]]);
  expect(bots.events.map(({ body }) => body["handled_by"])).toEqual(["bot:ping", "bot:ping"]);
  const pong = (await sim.messages(ANA, { from: SHOP }))[0]!.id;
  await until(() => all.events.some(({ body }) => body["type"] === "status" && body["target_id"] === pong));
  // What the killed gateway has tried goes on under its id.
  const after = webhookIds(all);
  expect(sent.map((id) => after.get(id))).toEqual(sent.map((id) => before.get(id)));
});
