import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true, env: { SEND_WAIT_MS: "3000" } });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  return world;
}

const say = async ({ gateway, key }: World, fields: object = {}): Promise<string> => {
  const sent = { sender: SHOP, number: ANA, message: "Hello", ...fields };
  return (await gateway.post("/send-message", sent, { key })).body.results[0].id;
};
const edit = ({ gateway, key }: World, id: string, message: string) =>
  gateway.patch(`/messages/${id}`, { message }, { key });
const remove = ({ gateway, key }: World, id: string) => gateway.delete(`/messages/${id}`, { key });
const record = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/messages/${id}`, { key })).body.data;
const known = (world: World, id: string) => until(async () => (await record(world, id)) !== undefined);

const refused = (status: number, code: string, extra: object = {}) => ({
  status,
  body: { status: false, errors: { code, ...extra } },
});

it("edits a text and a caption, on the phone and in the list", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
  for (const [number, reader] of [
    [ANA, ANA],
    [BEN, BEN],
    [group, BEN],
  ]) {
    const id = await say(world, { number, message: "Wrng" });
    const changed = await edit(world, id, "Right");
    expect(changed).toMatchObject({ status: 200, body: { state: "sent", data: { id, edited: true } } });
    expect(await sim.waitForMessage(reader!, { id: changed.body.id })).toMatchObject({
      kind: "edit",
      text: "Right",
      target: id,
    });
    expect(await record(world, id)).toMatchObject({ id, edited: true });
    const { data } = (await gateway.get(`/messages?chat=${number}`, { key })).body;
    expect(data.find((row: { id: string }) => row.id === id)).toMatchObject({
      message: "Right",
      edited: true,
    });
  }
  const data = png(40, 20).toString("base64");
  const media = { sender: SHOP, number: ANA, media_type: "image", data, caption: "Wrng" };
  const { id } = (await gateway.post("/send-media", media, { key })).body;
  const changed = await edit(world, id, "Right");
  expect(await sim.waitForMessage(ANA, { id: changed.body.id })).toMatchObject({ text: "Right", target: id });
  const stanzas = await sim.stanzas({ number: SHOP, tag: "message", direction: "in" });
  expect(stanzas.filter(({ attrs }) => attrs["edit"] === "1")).toHaveLength(4);
});

it("takes messages back: its own, and as an admin another's", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const own = await say(world);
  const gone = await remove(world, own);
  expect(gone).toMatchObject({ status: 200, body: { state: "sent", data: { id: own, revoked: true } } });
  expect(await sim.waitForMessage(ANA, { id: gone.body.id })).toMatchObject({ kind: "revoke", target: own });
  expect(await remove(world, own)).toMatchObject({ status: 200, body: { data: { revoked: true } } });
  expect(await edit(world, own, "x")).toMatchObject(refused(409, "NOT_EDITABLE"));
  const { data } = (await gateway.get(`/messages?chat=${ANA}`, { key })).body;
  expect(data.find((row: { id: string }) => row.id === own)).toMatchObject({ revoked: true });

  const theirs = await sim.sendText(ANA, SHOP, "Mine");
  await known(world, theirs.id);
  expect(await remove(world, theirs.id)).toMatchObject(refused(403, "CANNOT_SEND", { reason: "not_own" }));
  const { id: group } = await sim.addGroup({ subject: "Team", creator: SHOP, members: [ANA, BEN, SHOP] });
  const spam = await sim.sendText(ANA, group, "Buy!");
  await known(world, spam.id);
  const taken = await remove(world, spam.id);
  expect(await sim.waitForMessage(BEN, { id: taken.body.id })).toMatchObject({
    kind: "revoke",
    target: spam.id,
  });
  const { id: other } = await sim.addGroup({ subject: "Theirs", creator: ANA, members: [ANA, BEN, SHOP] });
  const kept = await sim.sendText(ANA, other, "Stays");
  await known(world, kept.id);
  expect(await remove(world, kept.id)).toMatchObject(refused(403, "CANNOT_SEND", { reason: "only_admins" }));
  const stanzas = await sim.stanzas({ number: SHOP, tag: "message", direction: "in" });
  expect(stanzas.flatMap(({ attrs }) => attrs["edit"] ?? [])).toEqual(["7", "8"]);
});

it("changes what waits where it lies, and what may have left behind it", async () => {
  const world = await openShop();
  const { sim } = world;
  await sim.faults.holdAcks({ number: SHOP });
  await sim.faults.holdDeliveries({ number: SHOP });
  const leaving = await say(world, { message: "Leaving" });
  const waiting = await say(world, { message: "Wrng" });
  const dropped = await say(world, { message: "Never" });
  expect(await edit(world, waiting, "Right")).toMatchObject({ status: 200, body: { state: "queued" } });
  expect(await remove(world, dropped)).toMatchObject({ status: 200, body: { state: "cancelled" } });
  const behind = await remove(world, leaving);
  expect(behind).toMatchObject({ status: 202, body: { state: "queued", data: { revoked: true } } });
  await sim.faults.releaseAcks({ number: SHOP });
  await sim.faults.releaseDeliveries({ number: SHOP });
  await sim.waitForMessage(ANA, { id: behind.body.id });
  const arrived = await sim.transcript({ contact: ANA });
  expect(arrived.map(({ kind, text }) => text ?? kind)).toEqual(["Leaving", "Right", "revoke"]);
  expect(arrived.at(-1)!.target).toBe(leaving);
});

it("loses and doubles nothing when the gateway is killed in between, and keeps the order", async () => {
  const world = await openWorld({ env: { SEND_WAIT_MS: "500" } });
  await world.link(SHOP);
  const { sim, gateway, key } = world;
  await sim.addContact(ANA, { name: "Ana" });
  await sim.faults.holdAcks({ number: SHOP });
  await sim.faults.holdDeliveries({ number: SHOP });
  const first = await say(world, { message: "Wrng" });
  const edited = await edit(world, first, "Right");
  const second = await say(world, { message: "Gone" });
  const reaction = await gateway.post(`/messages/${first}/reaction`, { emoji: "👍" }, { key });
  const back = await remove(world, first);
  expect([edited.status, reaction.status, back.status]).toEqual([202, 202, 202]);
  await gateway.kill();
  await sim.faults.releaseAcks({ number: SHOP });
  await sim.faults.releaseDeliveries({ number: SHOP });
  await gateway.restart();
  await world.online(SHOP);
  await sim.waitForMessage(ANA, { id: back.body.id });
  const gone = await remove(world, second);
  await sim.waitForMessage(ANA, { id: gone.body.id });
  const ids = (await sim.transcript({ contact: ANA })).map(({ id }) => id);
  expect([...new Set(ids)]).toEqual([
    first,
    edited.body.id,
    second,
    reaction.body.id,
    back.body.id,
    gone.body.id,
  ]);
});

it("refuses what is too old, not its own, or has no text", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const poll = { sender: SHOP, number: ANA, name: "Lunch?", option: ["Yes", "No"] };
  const asked = (await gateway.post("/send-poll", poll, { key })).body.id;
  expect(await edit(world, asked, "x")).toMatchObject(refused(409, "NOT_EDITABLE"));
  const theirs = await sim.sendText(ANA, SHOP, "Mine");
  await known(world, theirs.id);
  expect(await edit(world, theirs.id, "x")).toMatchObject(refused(409, "NOT_EDITABLE"));
  const typed = await sim.typeAsOwner(SHOP, ANA, "By hand");
  await known(world, typed.id);
  expect(await edit(world, typed.id, "By hand, better")).toMatchObject({ status: 200 });
  expect(await edit(world, "3A00000000000000", "x")).toMatchObject({ status: 404 });
  expect(await edit(world, asked, " ")).toMatchObject({ status: 400 });
  const limited = { name: "others", permissions: ["messages"], recipients: [BEN] };
  const others = {
    ...world,
    key: (await gateway.post("/api-keys", limited, { key })).body.api_key as string,
  };
  expect((await remove(others, asked)).status).toBe(404);
});
