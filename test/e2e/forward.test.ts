import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  return world;
}

const forward = ({ gateway, key }: World, id: string, fields: object = {}) =>
  gateway.post(`/messages/${id}/forward`, { number: BEN, ...fields }, { key });
const known = ({ gateway, key }: World, id: string) =>
  until(async () => (await gateway.get(`/messages/${id}`, { key })).status === 200);
const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

it("hands on what came: texts, places, people, polls, and files without storing them again", async () => {
  const world = await openShop();
  const { sim } = world;
  const picture = png(40, 20);
  const sent = [
    await sim.sendText(ANA, SHOP, "Look at this"),
    await sim.send(ANA, SHOP, { kind: "image", bytes: picture, caption: "Mine" }),
    await sim.send(ANA, SHOP, { kind: "location", latitude: 52.37, longitude: 4.89, name: "Dam" }),
    await sim.send(ANA, SHOP, { kind: "poll", name: "Lunch?", options: ["Yes", "No"] }),
  ];
  const uploads = async (): Promise<number> => (await sim.mediaRequests({ direction: "upload" })).length;
  for (const { id } of sent) await known(world, id);
  const before = await uploads();
  const answers = [];
  for (const { id } of sent) answers.push(await forward(world, id));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(answers[1]!.body.data).toMatchObject({ id: sent[1]!.id, kind: "image", origin: "contact" });
  const arrived = [];
  for (const { body } of answers) arrived.push(await sim.waitForMessage(BEN, { id: body.id }));
  expect(arrived).toMatchObject([
    { kind: "text", text: "Look at this", forwarded: 1 },
    { kind: "image", text: "Mine", forwarded: 1 },
    { kind: "location", location: { name: "Dam" }, forwarded: 1 },
    { kind: "poll", text: "Lunch?", forwarded: 1 },
  ]);
  expect(sha((await sim.mediaOf(BEN, answers[1]!.body.id)).bytes)).toBe(sha(picture));
  expect(await uploads()).toBe(before);
});

it("hands on what was sent, without what it quoted, also what was handed on before", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const asked = await sim.sendText(ANA, SHOP, "Price?");
  await known(world, asked.id);
  const text = { sender: SHOP, number: ANA, message: "Ten", quote: asked.id };
  const { id } = (await gateway.post("/send-message", text, { key })).body;
  const first = await forward(world, id, { idempotency_key: "on" });
  expect((await forward(world, id, { idempotency_key: "on" })).body).toEqual(first.body);
  const arrived = await sim.waitForMessage(BEN, { id: first.body.id });
  expect(arrived).toMatchObject({ text: "Ten", forwarded: 1 });
  expect(arrived).not.toHaveProperty("quoted");
  const data = png(30, 30).toString("base64");
  const media = { sender: SHOP, number: ANA, media_type: "image", data, caption: "Menu" };
  const file = (await gateway.post("/send-media", media, { key })).body.id;
  const again = await forward(world, (await forward(world, file)).body.id, { number: ANA });
  expect(await sim.waitForMessage(ANA, { id: again.body.id })).toMatchObject({ text: "Menu", forwarded: 1 });
});

it("needs the right for what it is, and hands on nothing that is none, is gone, or was for one look", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const picture = await sim.send(ANA, SHOP, { kind: "image", bytes: png(40, 20) });
  await known(world, picture.id);
  const { body } = await gateway.post("/api-keys", { name: "texts", permissions: ["messages"] }, { key });
  expect(await forward({ ...world, key: body.api_key }, picture.id)).toMatchObject({
    status: 403,
    body: { errors: { code: "PERMISSION_DENIED", permission: "media" } },
  });
  const toAna = { name: "Ana", permissions: ["*"], recipients: [ANA] };
  const limited = (await gateway.post("/api-keys", toAna, { key })).body.api_key as string;
  expect(await forward({ ...world, key: limited }, picture.id, { number: `${ANA}|${BEN}` })).toMatchObject({
    status: 403,
    body: { errors: { code: "RECIPIENT_NOT_ALLOWED" } },
  });
  const secret = {
    sender: SHOP,
    number: ANA,
    media_type: "image",
    data: png(9, 9).toString("base64"),
    view_once: true,
  };
  const once = (await gateway.post("/send-media", secret, { key })).body.id;
  const reaction = (await gateway.post(`/messages/${picture.id}/reaction`, { emoji: "👍" }, { key })).body.id;
  const { id: gone } = (
    await gateway.post("/send-message", { sender: SHOP, number: ANA, message: "x" }, { key })
  ).body;
  await gateway.delete(`/messages/${gone}`, { key });
  for (const id of [once, reaction, gone])
    expect(await forward(world, id)).toMatchObject({
      status: 409,
      body: { errors: { code: "NOT_EDITABLE" } },
    });
  expect((await forward(world, "3A00000000000000")).status).toBe(404);
  expect((await forward(world, picture.id, { number: "" })).status).toBe(400);
});

it("hands on polls with the right for polls, and with no other", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const poll = await sim.send(ANA, SHOP, { kind: "poll", name: "Lunch?", options: ["Yes", "No"] });
  await known(world, poll.id);
  const keyFor = async (...permissions: string[]): Promise<World> => {
    const { body } = await gateway.post("/api-keys", { name: permissions.join(), permissions }, { key });
    return { ...world, key: body.api_key as string };
  };
  expect(await forward(await keyFor("messages", "media"), poll.id)).toMatchObject({
    status: 403,
    body: { errors: { code: "PERMISSION_DENIED", permission: "polls" } },
  });
  const { status, body } = await forward(await keyFor("polls"), poll.id);
  expect(status).toBe(200);
  await sim.waitForMessage(BEN, { id: body.id });
  expect(await sim.messages(BEN, { from: SHOP })).toMatchObject([
    { id: body.id, kind: "poll", text: "Lunch?", forwarded: 1 },
  ]);
});
