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

it("a contact sees that the number types, and that it stops by itself", async () => {
  const world = await openShop();
  expect(await show(world, ANA, { seconds: 1 })).toMatchObject({
    status: 200,
    body: { status: true, data: { sender: SHOP, chat: ANA, state: "typing" } },
  });
  await until(async () => (await shown(world, ANA)) === 2);

  expect((await show(world, ANA, { state: "recording", seconds: 25 })).status).toBe(200);
  expect((await show(world, ANA, { state: "paused" })).status).toBe(200);
  await until(async () => (await shown(world, ANA)) === 4);
  const states = await world.sim.stanzas({ contact: ANA, tag: "chatstate", direction: "out" });
  expect(states.flatMap(({ children }) => children)).toEqual(["composing", "paused", "composing", "paused"]);
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
