import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop() {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  await world.sim.sendText(ANA, SHOP, "Hello?");
  await until(async () => (await chats(world)).length === 1);
  return world;
}

const chats = async ({ gateway, key }: World): Promise<object[]> =>
  (await gateway.get(`/chats?sender=${SHOP}`, { key })).body.data;

const show = ({ gateway, key }: World, chat: string, fields: object = {}) =>
  gateway.post(`/chats/${chat}/typing`, { sender: SHOP, state: "typing", ...fields }, { key });

const shown = ({ sim }: World, contact: string): Promise<number> =>
  sim.countStanzas({ contact, tag: "chatstate", direction: "out" });

/** What the contact's phone was told, in order, and when. */
async function seen(
  { sim }: World,
  contact: string,
): Promise<{ at: number; state: string; media?: string }[]> {
  const told = await sim.stanzas({ contact, tag: "chatstate", direction: "out" });
  return told.flatMap(({ at, children, childAttrs }) =>
    children.map((state, index) => {
      const media = childAttrs[index]!["media"];
      return { at, state, ...(media !== undefined && { media }) };
    }),
  );
}
const COMPOSING = { at: expect.any(Number), state: "composing" };
const RECORDING = { ...COMPOSING, media: "audio" };
const PAUSED = { at: expect.any(Number), state: "paused" };

it("a contact sees that the number types or records, and that it stops by itself", async () => {
  const world = await openShop();
  expect(await show(world, ANA, { seconds: 1 })).toMatchObject({
    status: 200,
    body: { status: true, data: { sender: SHOP, chat: ANA, state: "typing" } },
  });
  await until(async () => (await shown(world, ANA)) === 2);

  expect((await show(world, ANA, { state: "recording", seconds: 25 })).status).toBe(200);
  expect((await show(world, ANA, { state: "paused" })).status).toBe(200);
  await until(async () => (await shown(world, ANA)) === 4);
  expect(await seen(world, ANA)).toEqual([COMPOSING, PAUSED, RECORDING, PAUSED]);
});

it("shows it for five seconds when nobody says how long", async () => {
  const world = await openShop();
  expect((await show(world, ANA)).status).toBe(200);
  await until(async () => (await shown(world, ANA)) === 2);
  const [begun, ended] = await seen(world, ANA);
  expect([begun, ended]).toEqual([COMPOSING, PAUSED]);
  // Neither the least nor the most that may be asked for, on however busy a machine.
  expect(ended!.at - begun!.at).toBeGreaterThan(4_000);
  expect(ended!.at - begun!.at).toBeLessThan(20_000);
});

it("a key shows it to its own recipients alone", async () => {
  const world = await openShop();
  const { sim, gateway } = world;
  const { id } = await sim.sendText(BEN, SHOP, "Hello?");
  await until(async () => (await gateway.get(`/messages/${id}`, { key: world.key })).status === 200);
  const limited = { name: "Ben alone", permissions: ["messages"], recipients: [BEN] };
  const { body } = await gateway.post("/api-keys", limited, { key: world.key });
  const bens = { ...world, key: body["api_key"] as string };
  for (const state of ["typing", "recording", "paused"])
    expect(await show(bens, ANA, { state })).toMatchObject({
      status: 404,
      body: { errors: { code: "NOT_FOUND" } },
    });
  expect((await show(bens, BEN, { state: "recording" })).status).toBe(200);
  await until(async () => (await shown(world, BEN)) === 1);
  expect(await seen(world, BEN)).toEqual([RECORDING]);
  expect(await seen(world, ANA)).toEqual([]);
});

it("who wrote sees that it was read, once, and nobody does who is not to be told", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const read = (chat: string, fields: object = {}) =>
    gateway.post(`/chats/${chat}/read`, { sender: SHOP, ...fields }, { key });
  const receipts = async (): Promise<string[]> => {
    const found = await sim.stanzas({ number: SHOP, tag: "receipt", direction: "in" });
    return found.filter(({ attrs }) => attrs["type"] === "read").map(({ attrs }) => attrs["id"]!);
  };
  expect(await read(ANA, { receipts: false })).toMatchObject({ status: 200 });
  expect(await receipts()).toEqual([]);

  const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
  const [one, two] = [await sim.sendText(ANA, SHOP, "Again"), await sim.sendText(BEN, group, "All?")];
  await until(async () => (await gateway.get(`/messages/${two.id}`, { key })).status === 200);
  await until(async () => (await gateway.get(`/messages/${one.id}`, { key })).status === 200);
  expect(await read(ANA)).toMatchObject({ status: 200, body: { data: { sender: SHOP, chat: ANA } } });
  expect((await read(group)).status).toBe(200);
  await until(async () => (await receipts()).length === 2);
  expect(await receipts()).toEqual([one.id, two.id]);
  expect((await read(ANA)).status).toBe(200);
  expect((await read("4915100000099")).status).toBe(200);
  expect(await receipts()).toHaveLength(2);
});

it("is told to nobody who was never written with, and names what is wrong", async () => {
  const world = await openShop();
  expect((await show(world, BEN)).status).toBe(200);
  expect((await show(world, ANA)).status).toBe(200);
  await until(async () => (await shown(world, ANA)) === 1);
  expect(await shown(world, BEN)).toBe(0);

  for (const fields of [{ state: "dancing" }, { state: undefined }, { seconds: 26 }, { seconds: 0 }])
    expect(await show(world, ANA, fields)).toMatchObject({
      status: 400,
      body: { errors: { code: "INVALID_PARAMETERS" } },
    });
  expect((await show(world, "nobody")).status).toBe(404);
});
