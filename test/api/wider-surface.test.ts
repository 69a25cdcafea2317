import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

/** What is promised of the endpoints beyond the first six, line by line, as a stranger reads it. */
const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
/** Lets nobody add her to groups. */
const SHY = "4915100000003";
const NOBODY = "4915100000009";

let world: World;
let group: string;
/** A message of Ana's, one of the shop's that has arrived, and one of a poll. */
let hers: string;
let ours: string;
let poll: string;

const key = () => ({ key: world.key });
const post = (path: string, body: object) => world.gateway.post(path, { sender: SHOP, ...body }, key());
const patch = (path: string, body: object) => world.gateway.patch(path, { sender: SHOP, ...body }, key());
const get = (path: string) => world.gateway.get(path, key());
const text = (fields: object = {}) => post("/send-message", { number: ANA, message: "Hello", ...fields });
/** Status, and the code of what is wrong. */
const told = async (asked: ReturnType<typeof post>) => {
  const { status, body } = await asked;
  const { code, fields = {} } = body["errors"] ?? {};
  return [status, code ?? null, ...Object.keys(fields)];
};
const wrong = (field: string) => [400, "INVALID_PARAMETERS", field];
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

beforeAll(async () => {
  world = await keepWorld();
  const { sim } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  await sim.addContact(BEN, { name: "Ben" });
  await sim.addContact(SHY, { name: "Shy", refusesGroups: true });
  ({ id: group } = await sim.addGroup({ subject: "Regulars", creator: SHOP, members: [SHOP, ANA] }));
  ({ id: hers } = await sim.sendText(ANA, SHOP, "Hi"));
  await until(async () => (await get(`/messages/${hers}`)).status === 200);
  ours = (await text()).body["id"];
  poll = (await post("/send-poll", { number: ANA, name: "When?", option: ["Now", "Later"] })).body["id"];
});
afterAll(() => closeWorld(world));

describe("what every send may say", () => {
  it("is refused where it means nothing", async () => {
    expect(await told(text({ send_at: "tomorrow" }))).toEqual(wrong("send_at"));
    expect(await told(text({ send_at: "2099-01-01T10:00:00" }))).toEqual(wrong("send_at"));
    expect(await told(text({ send_at: inDays(-1) }))).toEqual(wrong("send_at"));
    expect(await told(text({ send_at: inDays(366) }))).toEqual([422, "TIME_NOT_USABLE", "send_at"]);
    expect(await told(text({ send_at: inDays(2), expires: inDays(1) }))).toEqual([
      422,
      "TIME_NOT_USABLE",
      "expires",
    ]);
    expect(await told(text({ view_once: true }))).toEqual(wrong("view_once"));
    expect(await told(text({ typing: 11 }))).toEqual(wrong("typing"));
    expect(
      await told(text({ mentions: Array.from({ length: 1_025 }, (_, n) => `49151${10_000 + n}`) })),
    ).toEqual(wrong("mentions"));
    expect(await told(text({ mentions: ["everybody"] }))).toEqual(wrong("mentions.0"));
  });

  it("quotes per destination, and says where it could not", async () => {
    const { body } = await text({ number: `${ANA}|${BEN}`, quote: hers });
    const said = body["results"].map(({ number, quoted }: any) => [number, quoted]);
    expect(said).toEqual([
      [ANA, undefined],
      [BEN, false],
    ]);
    expect((await text({ msgid: "unknown" })).body["results"][0]).toMatchObject({
      quoted: false,
      state: "sent",
    });
    expect((await text({ mention_all: true })).status).toBe(200);
  });

  it("waits for its time, is listed, and never leaves when it is taken back", async () => {
    const { status, body } = await text({ send_at: Math.floor(Date.now() / 1000) + 3_600, expires: 60 });
    expect([status, body["state"], body["status"]]).toEqual([202, "scheduled", true]);
    const { body: list } = await get(`/scheduled?sender=${SHOP}&limit=1`);
    expect(list).toMatchObject({ data: [{ id: body["id"] }], next: null });
    const changed = await patch(`/messages/${body["id"]}`, { message: "Another" });
    expect([changed.status, changed.body["data"].state]).toEqual([200, "scheduled"]);
    const gone = () => world.gateway.delete(`/messages/${body["id"]}?sender=${SHOP}`, key());
    expect((await gone()).body["data"]).toMatchObject({ state: "cancelled" });
    expect((await gone()).status).toBe(200);
    expect(await told(patch(`/messages/${body["id"]}`, { message: "No" }))).toEqual([409, "NOT_EDITABLE"]);
  });
});

describe("files, places, cards and stickers", () => {
  it("take exactly one file, by address, as bytes, or in a form", async () => {
    const host = await startFileHost({ "/a.png": png(20, 30) });
    const picture = host.url("/a.png");
    const media = (fields: object) => post("/send-media", { number: ANA, media_type: "document", ...fields });
    const data = Buffer.from("a;b\n1;2\n").toString("base64");
    expect((await media({ data, filename: "a.csv", caption: "As of today" })).status).toBe(200);
    expect((await told(media({}))).slice(0, 2)).toEqual([400, "INVALID_PARAMETERS"]);
    expect((await told(media({ data, url: picture }))).slice(0, 2)).toEqual([400, "INVALID_PARAMETERS"]);
    const form = new FormData();
    form.append("sender", SHOP);
    const body = { method: "POST", headers: { authorization: `Bearer ${world.key}` }, body: form };
    const answer = await fetch(`${world.gateway.url}/send-message`, body);
    expect([answer.status, ((await answer.json()) as any).errors.code]).toEqual([
      415,
      "UNSUPPORTED_CONTENT_TYPE",
    ]);
    expect((await post("/send-sticker", { number: ANA, url: picture })).body).toMatchObject({
      state: "sent",
    });
  });

  it("keep within the earth, and within ten cards", async () => {
    const place = { number: ANA, latitude: 52.37, longitude: 4.89 };
    expect((await post("/send-location", { ...place, name: "Dam" })).status).toBe(200);
    expect(await told(post("/send-location", { ...place, latitude: 91 }))).toEqual(wrong("latitude"));
    expect(await told(post("/send-location", { ...place, longitude: -181 }))).toEqual(wrong("longitude"));
    const card = { name: "Joe", numbers: [BEN], organization: "Smith", email: "joe@example.com" };
    const cards = (count: number) =>
      post("/send-contact", { number: ANA, contacts: Array.from({ length: count }, () => card) });
    expect((await cards(10)).status).toBe(200);
    expect(await told(cards(0))).toEqual(wrong("contacts"));
    expect(await told(cards(11))).toEqual(wrong("contacts"));
  });
});

describe("what is done to a message", () => {
  const path = (id: string, rest = "") => `/messages/${id}${rest}`;

  it("is a reaction of one grapheme, an edit of one's own, a deletion, a forward", async () => {
    expect((await post(path(hers, "/reaction"), { emoji: "👍🏽" })).status).toBe(200);
    expect((await post(path(hers, "/reaction"), { emoji: "" })).status).toBe(200);
    expect(await told(post(path(hers, "/reaction"), { emoji: "👍👍" }))).toEqual(wrong("emoji"));
    expect((await patch(path(ours), { message: "Hello!" })).body["data"]).toMatchObject({ edited: true });
    expect(await told(patch(path(hers), { message: "No" }))).toEqual([409, "NOT_EDITABLE"]);
    expect(await told(patch(path(poll), { message: "No" }))).toEqual([409, "NOT_EDITABLE"]);
    expect((await post(path(hers, "/forward"), { number: BEN })).body["data"]).toMatchObject({
      id: expect.any(String),
    });
    const foreign = await world.gateway.delete(`${path(hers)}?sender=${SHOP}`, key());
    expect(foreign).toMatchObject({
      status: 403,
      body: { errors: { code: "CANNOT_SEND", reason: "not_own" } },
    });
    for (let n = 0; n < 2; n++)
      expect((await world.gateway.delete(`${path(ours)}?sender=${SHOP}`, key())).status).toBe(200);
    expect(await told(patch(path(ours), { message: "No" }))).toEqual([409, "NOT_EDITABLE"]);
    expect(await told(post(path("unknown", "/reaction"), { emoji: "👍" }))).toEqual([404, "NOT_FOUND"]);
  });

  it("is told of what came as of what went", async () => {
    expect((await get(path(hers))).body["data"]).toMatchObject({ id: hers, kind: "text", history: [] });
  });
});

describe("chats", () => {
  it("are read, shown as typing, watched, and set as the phone shows them", async () => {
    expect((await post(`/chats/${ANA}/read`, {})).status).toBe(200);
    expect((await post(`/chats/${NOBODY}/read`, {})).status).toBe(200);
    expect((await post(`/chats/${ANA}/typing`, { state: "recording", seconds: 1 })).status).toBe(200);
    expect((await post(`/chats/${NOBODY}/typing`, { state: "typing" })).status).toBe(200);
    expect(await told(post(`/chats/${ANA}/typing`, { state: "typing", seconds: 26 }))).toEqual(
      wrong("seconds"),
    );
    expect(await told(post(`/chats/${ANA}/typing`, { state: "asleep" }))).toEqual(wrong("state"));
    expect(await told(patch(`/chats/${NOBODY}`, { pinned: true }))).toEqual([404, "NOT_FOUND"]);
    await until(async () => (await patch(`/chats/${ANA}`, { archived: true })).status === 200);
    const { body } = await patch(`/chats/${ANA}`, { muted_until: inDays(1), disappearing: 86_400 });
    const settings = { archived: true, pinned: false, muted_until: expect.any(String), disappearing: 86_400 };
    expect(body["data"]).toMatchObject(settings);
    expect((await get(`/chats?sender=${SHOP}&chat=${ANA}`)).body["data"][0]).toMatchObject(settings);
    expect(await told(patch(`/chats/${ANA}`, { disappearing: 60 }))).toEqual(wrong("disappearing"));
    expect((await post(`/chats/${ANA}/presence`, { seconds: 600 })).status).toBe(200);
    expect(await told(post(`/chats/${ANA}/presence`, { seconds: 601 }))).toEqual(wrong("seconds"));
  });
});

describe("people", () => {
  it("are checked, fifty at a time", async () => {
    const { body } = await post("/check-numbers", { numbers: [ANA, NOBODY] });
    expect(body["data"]).toEqual([
      { number: ANA, exists: true, lid: expect.any(String), checked_at: expect.any(String) },
      { number: NOBODY, exists: false, lid: null, checked_at: expect.any(String) },
    ]);
    const many = Array.from({ length: 51 }, (_, n) => `4915100${1_000 + n}`);
    expect(await told(post("/check-numbers", { numbers: many }))).toEqual(wrong("numbers"));
    expect(await told(post("/check-numbers", { numbers: [] }))).toEqual(wrong("numbers"));
  });

  it("are listed, shown, and blocked", async () => {
    await until(async () => (await get(`/contacts?sender=${SHOP}`)).body["data"].length >= 2);
    const { body } = await get(`/contacts?sender=${SHOP}&q=ana`);
    const names = { name: null, push_name: "Ana", verified_name: null };
    expect(body["data"]).toEqual([{ number: ANA, lid: expect.any(String), ...names, business: false }]);
    const { data } = (await get(`/contacts/${ANA}?sender=${SHOP}`)).body as { data: object };
    expect(data).toMatchObject({ number: ANA, ...names, business: null });
    expect(Object.keys(data)).toEqual(expect.arrayContaining(["about", "picture_url", "checked_at"]));
    expect(await told(get(`/contacts/${NOBODY}?sender=${SHOP}`))).toEqual([404, "NOT_FOUND"]);
    expect((await world.gateway.put(`/contacts/${BEN}/block`, { sender: SHOP }, key())).status).toBe(200);
    expect((await world.gateway.delete(`/contacts/${BEN}/block?sender=${SHOP}`, key())).status).toBe(200);
  });
});

describe("groups", () => {
  it("are made, told of, changed, and asked into", async () => {
    const made = await post("/groups/create", { name: "Team", participants: [ANA, SHY] });
    expect(made.body["results"]).toMatchObject([
      { number: ANA, added: true },
      { number: SHY, added: false, reason: "not_allowed" },
    ]);
    const unknown = post("/groups/create", { name: "Team", participants: [ANA, NOBODY] });
    expect(await told(unknown)).toEqual([422, "NOT_ON_WHATSAPP"]);
    const { id } = made.body["data"] as { id: string };
    const fields =
      "description owner created_at members announce locked join_approval disappearing community";
    const { data } = (await get(`/groups/${id}?sender=${SHOP}`)).body as { data: Record<string, any> };
    expect(Object.keys(data)).toEqual(expect.arrayContaining(fields.split(" ")));
    expect(data["members"][0]).toEqual({
      number: expect.any(String),
      lid: expect.any(String),
      admin: expect.any(Boolean),
    });
    const again = await post(`/groups/${id}/participants`, { action: "add", numbers: [ANA] });
    expect(again.body["results"]).toEqual([{ number: ANA, status: false, error: "already_member" }]);
    expect((await patch(`/groups/${id}`, { join_approval: true })).body["data"].join_approval).toBe(true);
    const { invite, link } = (await get(`/groups/${id}/invite?sender=${SHOP}`)).body["data"];
    expect(link).toBe(`https://chat.whatsapp.com/${invite}`);
    expect((await post(`/groups/${id}/invite`, {})).body["data"].invite).not.toBe(invite);
    expect((await get(`/groups/${id}/requests?sender=${SHOP}`)).body["data"]).toEqual([]);
    expect((await post(`/groups/${id}/leave`, {})).status).toBe(200);
  });

  it("need a right of their own", async () => {
    const { body } = await world.gateway.post("/api-keys", { name: "Some", permissions: ["groups"] }, key());
    const hersOnly = { key: body["api_key"] as string };
    const asked = { sender: SHOP, name: "Team", participants: [ANA] };
    const refused = await world.gateway.post("/groups/create", asked, hersOnly);
    expect(refused.body["errors"]).toMatchObject({ code: "PERMISSION_DENIED", permission: "groups_admin" });
    expect((await world.gateway.get(`/groups/${group}?sender=${SHOP}`, hersOnly)).status).toBe(200);
  });
});

describe("a number", () => {
  it("has a profile, and a proxy that is shown without its password", async () => {
    const path = `/devices/${SHOP}/profile`;
    const about = await world.gateway.patch(path, { about: "Open until six" }, key());
    expect(about.body["data"]).toMatchObject({ device: SHOP, about: "Open until six" });
    const device = (fields: object) => world.gateway.patch(`/devices/${SHOP}`, fields, key());
    expect(await told(device({ proxy: "ftp://example.com" }))).toEqual(wrong("proxy"));
    expect((await device({ proxy: null })).status).toBe(200);
  });

  it("has up to five listeners, each with a secret of its own", async () => {
    const path = `/devices/${SHOP}/webhooks`;
    const add = (n: number) =>
      world.gateway.post(path, { url: `http://127.0.0.1:9/${n}`, events: ["message"] }, key());
    const made = [];
    for (let n = 0; n < 5; n++) made.push(await add(n));
    expect(made.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(made.map(({ body }) => body["secret"] ?? body["data"].secret)).size).toBe(5);
    expect(await told(add(5))).toEqual([403, "PLAN_LIMIT"]);
    const { data } = (await get(path)).body as { data: { id: string }[] };
    expect(data).toHaveLength(5);
    expect((await world.gateway.post(`${path}/${data[0]!.id}/rotate`, {}, key())).status).toBe(200);
    expect((await world.gateway.patch(`${path}/${data[0]!.id}`, { enabled: false }, key())).status).toBe(200);
    for (const { id } of data) expect((await world.gateway.delete(`${path}/${id}`, key())).status).toBe(200);
  });
});
