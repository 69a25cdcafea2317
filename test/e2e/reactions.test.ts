import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const BRANCH = "31600000002";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  return world;
}

const react = ({ gateway, key }: World, id: string, fields: object) =>
  gateway.post(`/messages/${id}/reaction`, fields, { key });

const messageOf = ({ gateway, key }: World, id: string) => gateway.get(`/messages/${id}`, { key });

it("shows on what a contact wrote and on what was sent, and is taken back", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const asked = await sim.sendText(BEN, SHOP, "Are you open?");
  await until(async () => (await messageOf(world, asked.id)).status === 200);

  const onTheirs = await react(world, asked.id, { emoji: "👍🏽" });
  expect(onTheirs).toMatchObject({
    status: 200,
    body: {
      status: true,
      state: "sent",
      data: { id: asked.id, sender: SHOP, kind: "text", origin: "contact", state: null, history: [] },
    },
  });
  const shown = await sim.waitForMessage(BEN, { id: onTheirs.body.id });
  expect(shown).toMatchObject({ kind: "reaction", text: "👍🏽", target: asked.id });

  const sent = await gateway.post("/send-message", { sender: SHOP, number: ANA, message: "Offer" }, { key });
  const onOurs = await react(world, sent.body.id, { emoji: "❤️", sender: SHOP });
  expect(onOurs.body.data).toMatchObject({ id: sent.body.id, origin: "api", number: ANA });
  expect(await sim.waitForMessage(ANA, { id: onOurs.body.id })).toMatchObject({ target: sent.body.id });
  const back = await react(world, sent.body.id, { emoji: "" });
  expect(await sim.waitForMessage(ANA, { id: back.body.id })).toMatchObject({ kind: "reaction", text: "" });
});

it("reaches a group, and names who wrote what it is about", async () => {
  const world = await openShop();
  const { sim } = world;
  const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
  const asked = await sim.sendText(ANA, group, "Lunch?");
  await until(async () => (await messageOf(world, asked.id)).status === 200);
  const { body } = await react(world, asked.id, { emoji: "🍕" });
  for (const member of [ANA, BEN])
    expect(await sim.waitForMessage(member, { id: body.id })).toMatchObject({
      chat: group,
      kind: "reaction",
      target: asked.id,
    });
});

it("is repeated by its idempotency key, and refused for what is no emoji, no message, or not the key's to reach", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const asked = await sim.sendText(ANA, SHOP, "Hello");
  await until(async () => (await messageOf(world, asked.id)).status === 200);
  const once = { emoji: "👋", idempotency_key: "wave" };
  const first = await react(world, asked.id, once);
  expect((await react(world, asked.id, once)).body).toEqual(first.body);
  const other = await sim.sendText(ANA, SHOP, "Hello?");
  await until(async () => (await messageOf(world, other.id)).status === 200);
  expect(await react(world, other.id, once)).toMatchObject({
    status: 422,
    body: { errors: { code: "IDEMPOTENCY_KEY_REUSED" } },
  });

  for (const emoji of ["ok", "👍👍", undefined])
    expect(await react(world, asked.id, { emoji })).toMatchObject({
      status: 400,
      body: { errors: { fields: { emoji: expect.anything() } } },
    });
  expect((await react(world, "3A00000000000000", { emoji: "👍" })).status).toBe(404);
  const limited = await gateway.post(
    "/api-keys",
    { name: "others", permissions: ["messages"], recipients: [BEN] },
    { key },
  );
  const others = { ...world, key: limited.body.api_key as string };
  expect((await react(others, asked.id, { emoji: "👍" })).status).toBe(404);
  expect((await messageOf(others, asked.id)).status).toBe(404);
  const arrived = await sim.transcript({ contact: ANA });
  const reactions = arrived.filter(({ kind }) => kind === "reaction").map(({ id }) => id);
  expect([...new Set(reactions)]).toEqual([first.body.id]);
});

it("asks which number is meant where two have the message", async () => {
  const world = await openShop();
  const { sim, gateway } = world;
  await gateway.patch(`/admin/accounts/${world.account}`, { plan: "pro" }, { key: gateway.adminToken });
  await world.link(BRANCH);
  const { id: group } = await sim.addGroup({ subject: "Both", creator: ANA, members: [ANA, SHOP, BRANCH] });
  const asked = await sim.sendText(ANA, group, "Who of you?");
  await until(async () => (await messageOf(world, asked.id)).status === 400);
  expect(await react(world, asked.id, { emoji: "👍" })).toMatchObject({
    status: 400,
    body: { errors: { fields: { sender: expect.anything() } } },
  });
  const { body } = await react(world, asked.id, { emoji: "👍", sender: BRANCH });
  expect(await sim.waitForMessage(ANA, { id: body.id })).toMatchObject({ from: BRANCH, kind: "reaction" });
});
