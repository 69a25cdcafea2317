import { expect, it } from "vitest";
import { scanning } from "../_setup/scanning.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const DAY = 86_400;
const AS_NEW = {
  archived: false,
  pinned: false,
  muted_until: null,
  marked_unread: false,
  disappearing: 0,
};

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  await world.sim.sendText(ANA, SHOP, "Hello?");
  await until(async () => (await chat(world, ANA)) !== undefined);
  return world;
}

const chat = async ({ gateway, key }: World, named: string) =>
  (await gateway.get(`/chats?sender=${SHOP}&chat=${named}`, { key })).body.data[0];

const change = ({ gateway, key }: World, named: string, fields: object) =>
  gateway.patch(`/chats/${named}`, { sender: SHOP, ...fields }, { key });

/** What the phone reads of a chat, by kind. */
async function onPhone({ sim }: World, jid: string): Promise<Record<string, unknown>> {
  const entries = (await sim.appState(SHOP)).filter(({ index }) => index[1] === jid);
  const said = (value: object): unknown => Object.values(value).find((one) => typeof one === "object");
  return Object.fromEntries(entries.map(({ index, value }) => [index[0]!, said(value)]));
}

it("is shown by the phone as it was changed here, and GET /chats says so", async () => {
  const world = await openShop();
  const jid = `${ANA}@s.whatsapp.net`;
  expect(await chat(world, ANA)).toMatchObject(AS_NEW);

  const until2030 = "2030-01-01T00:00:00.000Z";
  const first = { pinned: true, muted_until: until2030, unread: true };
  expect(await change(world, ANA, first)).toMatchObject({
    status: 200,
    body: {
      data: { sender: SHOP, chat: ANA, pinned: true, muted_until: until2030, marked_unread: true },
    },
  });
  expect(await onPhone(world, jid)).toMatchObject({
    pin_v1: { pinned: true },
    mute: { muted: true, muteEndTimestamp: Date.parse(until2030) },
    markChatAsRead: { read: false },
  });
  expect(await chat(world, ANA)).toMatchObject({ pinned: true, marked_unread: true, unread: 1 });

  // What is put away is not on top any more.
  const second = { archived: true, muted_until: "9999-01-01T00:00:00Z", unread: false };
  expect((await change(world, ANA, second)).body.data).toMatchObject({
    archived: true,
    pinned: false,
    muted_until: "9999-12-31T23:59:59.999Z",
    marked_unread: false,
  });
  expect(await onPhone(world, jid)).toMatchObject({
    archive: { archived: true },
    pin_v1: { pinned: false },
    mute: { muteEndTimestamp: -1 },
    markChatAsRead: { read: true },
  });
  expect(await chat(world, ANA)).toMatchObject({ archived: true, unread: 0 });

  expect((await change(world, ANA, { archived: false, muted_until: null })).body.data).toMatchObject(AS_NEW);
  expect(await onPhone(world, jid)).toMatchObject({ archive: { archived: false }, mute: { muted: false } });
});

it("follows what the owner does on the phone, also before it was linked", async () => {
  const world = await openWorld({ again: true });
  const { sim, gateway, key } = world;
  const owner = await sim.addNumber(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  await sim.changeAppState(SHOP, { kind: "archive", chat: ANA, archived: true });
  const isLinked = scanning(owner);
  await until(async () => isLinked((await gateway.post("/generate-qr", { device: SHOP }, { key })).body));
  await sim.sendText(ANA, SHOP, "Hello?");
  await until(async () => (await chat(world, ANA))?.archived === true);

  const muted = Date.UTC(2031, 0);
  await sim.changeAppState(SHOP, [
    { kind: "archive", chat: ANA, archived: false },
    { kind: "pin", chat: ANA, pinned: true },
    { kind: "mute", chat: ANA, until: muted },
    { kind: "markRead", chat: ANA, read: false },
  ]);
  const shown = {
    archived: false,
    pinned: true,
    marked_unread: true,
    muted_until: "2031-01-01T00:00:00.000Z",
  };
  await until(async () => {
    const now = await chat(world, ANA);
    return Object.entries(shown).every(([name, value]) => now[name] === value);
  });
  await world.gateway.restart();
  expect(await chat(world, ANA)).toMatchObject(shown);
  // Both have written: neither undoes what the other has done.
  await world.online(SHOP);
  expect((await change(world, ANA, { unread: false })).body.data).toMatchObject({
    ...shown,
    marked_unread: false,
  });
  await sim.changeAppState(SHOP, { kind: "pin", chat: ANA, pinned: false });
  await until(async () => (await chat(world, ANA)).pinned === false);
});

it("what WhatsApp does not take is no change, and can be made again", async () => {
  const world = await openShop();
  const { sim } = world;
  await sim.spoilAppState(SHOP, "regular_low", "refused");
  expect(await change(world, ANA, { archived: true })).toMatchObject({
    status: 502,
    body: { errors: { code: "WHATSAPP_REFUSED" } },
  });
  expect(await chat(world, ANA)).toMatchObject(AS_NEW);
  await sim.spoilAppState(SHOP, "regular_low");
  // At the same time the owner does something: whoever comes second reads on, and writes again.
  const [answer] = await Promise.all([
    change(world, ANA, { archived: true, muted_until: "2031-01-01T00:00:00Z" }),
    sim.changeAppState(SHOP, { kind: "pin", chat: BEN, pinned: true }),
    sim.changeAppState(SHOP, { kind: "mute", chat: BEN, until: -1 }),
  ]);
  expect(answer.status).toBe(200);
  expect(await onPhone(world, `${ANA}@s.whatsapp.net`)).toMatchObject({
    archive: { archived: true },
    mute: { muted: true },
  });
  expect(await onPhone(world, `${BEN}@s.whatsapp.net`)).toMatchObject({
    pin_v1: { pinned: true },
    mute: { muteEndTimestamp: -1 },
  });
});

it("messages disappear: a contact is told so, and a group by its setting", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  expect((await change(world, ANA, { disappearing: DAY })).body.data).toMatchObject({ disappearing: DAY });
  const { body } = await gateway.post(
    "/send-message",
    { sender: SHOP, number: ANA, message: "Soon gone" },
    { key },
  );
  expect((await sim.waitForMessage(ANA, { id: body.id })).expiration).toBe(DAY);
  expect(await chat(world, ANA)).toMatchObject({ disappearing: DAY });
  // The contact may end it.
  await sim.setDisappearing(ANA, SHOP, 0);
  await until(async () => (await chat(world, ANA)).disappearing === 0);

  const { id } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, SHOP] });
  await sim.sendText(ANA, id, "All?");
  await until(async () => (await chat(world, id)) !== undefined);
  expect((await change(world, id, { disappearing: DAY, archived: true })).status).toBe(200);
  await until(async () => (await chat(world, id)).disappearing === DAY);
  expect(await chat(world, id)).toMatchObject({ archived: true });
  expect((await sim.group(id)).ephemeral).toBe(DAY);
  // No message of anybody else's.
  expect((await gateway.get(`/devices/${SHOP}/audit`, { key })).body.data.missing).toEqual([]);
});

it("names what is wrong, and finds no chat in which nothing was written", async () => {
  const world = await openShop();
  for (const fields of [
    { disappearing: 60 },
    { muted_until: "2020-01-01T00:00:00Z" },
    { muted_until: "soon" },
    { pinned: "perhaps" },
    { pined: true },
  ])
    expect(await change(world, ANA, fields)).toMatchObject({
      status: 400,
      body: { errors: { code: "INVALID_PARAMETERS" } },
    });
  for (const named of [BEN, "120363000000000001@g.us", "120363000000000001@newsletter", "nobody"])
    expect((await change(world, named, { archived: true })).status).toBe(404);
  expect((await change(world, ANA, {})).body.data).toMatchObject(AS_NEW);
});

it("a key changes and watches the chats with its own recipients alone", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  await sim.sendText(BEN, SHOP, "Hello, too");
  await until(async () => (await chat(world, BEN)) !== undefined);
  const limited = { name: "Ben alone", permissions: ["messages"], recipients: [BEN] };
  const made = await gateway.post("/api-keys", limited, { key });
  const his = { ...world, key: made.body.api_key as string };
  const watch = (named: string) => gateway.post(`/chats/${named}/presence`, { sender: SHOP }, his);
  expect((await change(his, ANA, { pinned: true })).status).toBe(404);
  expect((await watch(ANA)).status).toBe(404);
  expect(await chat(world, ANA)).toMatchObject(AS_NEW);
  expect((await change(his, BEN, { pinned: true })).status).toBe(200);
  expect((await watch(BEN)).status).toBe(200);
});
