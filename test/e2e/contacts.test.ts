import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const CARO = "4915100000003";
const DAN = "4915100000004";
const STRANGER = "4915100000009";
const JPEG = Buffer.from("ffd8ffe000104a46494600", "hex");
const LID = expect.stringMatching(/^\d+@lid$/);

interface Person {
  number: string | null;
  lid: string | null;
  name: string | null;
  push_name: string | null;
  verified_name: string | null;
}

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", hidesNumber: true });
  await world.sim.addContact(CARO, { name: "Caro" });
  await world.sim.addContact(DAN, { name: "Dan" });
  await world.sim.addContact(STRANGER, { name: "Nobody yet" });
  return world;
}

const list = async ({ gateway, key }: World, filter = "") =>
  (await gateway.get(`/contacts?sender=${SHOP}${filter}`, { key })).body;
const numbersOf = ({ data }: Awaited<ReturnType<typeof list>>) =>
  (data as Person[]).map(({ number }) => number);
const look = (
  { gateway, key }: Pick<World, "gateway" | "key">,
  contact: string,
): ReturnType<World["gateway"]["get"]> => gateway.get(`/contacts/${contact}?sender=${SHOP}`, { key });

/** One after the other, so that the list has an order. */
async function meetAll(world: World): Promise<void> {
  const { sim, gateway, key } = world;
  await sim.sendText(ANA, SHOP, "Hello");
  await until(async () => numbersOf(await list(world)).length === 1);
  const { id: group } = await sim.addGroup({ subject: "Team", creator: CARO, members: [CARO, SHOP] });
  await sim.sendText(CARO, group, "Hello all");
  await until(async () => numbersOf(await list(world)).length === 2);
  await gateway.post("/send-message", { sender: SHOP, number: DAN, message: "Hello Dan" }, { key });
  await until(async () => numbersOf(await list(world)).length === 3);
  await sim.sendText(BEN, SHOP, "You do not know my number");
  await until(async () => numbersOf(await list(world)).length === 4);
}

it("lists whom the number has met, the last first, with what they are called, page by page", async () => {
  const world = await openShop();
  await meetAll(world);
  const all = await list(world);
  expect(numbersOf(all)).toEqual([null, DAN, CARO, ANA]);
  expect(all).toMatchObject({
    status: true,
    total: 4,
    next: null,
    data: [
      { number: null, lid: LID, push_name: "Ben", name: null, verified_name: null, business: false },
      { number: DAN, push_name: null },
      { number: CARO, push_name: "Caro" },
      { number: ANA, lid: LID, push_name: "Ana" },
    ],
  });

  const first = await list(world, "&limit=3");
  expect(numbersOf(first)).toEqual([null, DAN, CARO]);
  expect(numbersOf(await list(world, `&limit=3&before=${first.next}`))).toEqual([ANA]);

  // Names are those of the owner's address book, what people call themselves, and digits.
  await world.sim.changeAppState(SHOP, { kind: "contact", person: ANA, name: "Ana of the bakery" });
  await until(async () => (await list(world, "&q=BAKERY")).data.length === 1);
  expect(numbersOf(await list(world, "&q=bakery"))).toEqual([ANA]);
  expect(numbersOf(await list(world, "&q=caro"))).toEqual([CARO]);
  expect(numbersOf(await list(world, `&q=${DAN.slice(-5)}`))).toEqual([DAN]);
  expect((await look(world, ANA)).body.data).toMatchObject({ name: "Ana of the bakery", push_name: "Ana" });

  // A new name comes with the next message, and a restart forgets nothing.
  await world.sim.setPushName(CARO, "Carola");
  await world.sim.sendText(CARO, SHOP, "I have another name");
  await until(async () => (await list(world, "&q=carola")).data.length === 1);
  await world.gateway.restart();
  expect((await list(world)).data).toHaveLength(4);
});

it("a record has what WhatsApp shows, asked once a day", async () => {
  const world = await openShop();
  const { sim } = world;
  await sim.setPicture(ANA, JPEG);
  await sim.setAbout(ANA, "Fresh bread from six");
  await sim.setBusiness(ANA, {
    name: "Ana's Bakery",
    description: "Bread and cake",
    website: "https://example.com",
    hours: { timezone: "Europe/Berlin", days: [{ day: "mon", open: 480, close: 1080 }] },
  });
  await sim.sendText(ANA, SHOP, "Hello");
  await sim.sendText(CARO, SHOP, "Hello");
  await until(async () => (await list(world)).data.length === 2);
  expect((await list(world, "&q=bakery")).data).toMatchObject([
    { number: ANA, push_name: "Ana", verified_name: "Ana's Bakery", business: true },
  ]);

  const { status, body } = await look(world, ANA);
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    number: ANA,
    lid: LID,
    about: "Fresh bread from six",
    picture_url: expect.stringContaining(sim.mediaUrl),
    business: {
      description: "Bread and cake",
      website: "https://example.com",
      email: null,
      hours: {
        timezone: "Europe/Berlin",
        days: [{ day: "mon", mode: "specific_hours", open: "08:00", close: "18:00" }],
      },
    },
    checked_at: expect.stringMatching(/Z$/),
  });
  const asked = await sim.countStanzas({ number: SHOP, direction: "in", tag: "iq", xmlns: "w:biz" });
  await sim.setAbout(ANA, "Closed");
  expect((await look(world, body.data.lid)).body).toEqual(body);
  expect(await sim.countStanzas({ number: SHOP, direction: "in", tag: "iq", xmlns: "w:biz" })).toBe(asked);

  await sim.setPicture(CARO, JPEG);
  await sim.setPrivacy(CARO, "profile", "none");
  expect((await look(world, CARO)).body.data).toMatchObject({
    about: null,
    picture_url: null,
    business: null,
  });
});

it("who was never met is not found, nor whom the key may not write to", async () => {
  const world = await openShop();
  const { gateway, key } = world;
  await meetAll(world);
  for (const contact of [STRANGER, "123456789@lid", "120363000000000001@g.us", "nobody"])
    expect(await look(world, contact)).toMatchObject({
      status: 404,
      body: { errors: { code: "NOT_FOUND" } },
    });

  const limited = { name: "Ana alone", permissions: ["lid", "devices"], recipients: [ANA] };
  const made = await gateway.post("/api-keys", limited, { key });
  const her = { gateway, key: made.body.api_key as string };
  expect(numbersOf(await list({ ...world, ...her }))).toEqual([ANA]);
  expect((await look(her, ANA)).status).toBe(200);
  expect((await look(her, CARO)).status).toBe(404);
  const refused = await gateway.put(`/contacts/${CARO}/block`, { sender: SHOP }, { key: her.key });
  expect(refused.status).toBe(404);
});

it("what a blocked person writes does not arrive until he is let in again", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  await meetAll(world);
  const block = (contact: string) => gateway.put(`/contacts/${contact}/block`, { sender: SHOP }, { key });
  expect(await block(ANA)).toMatchObject({
    status: 200,
    body: { data: { sender: SHOP, contact: ANA, blocked: true } },
  });
  expect(await sim.blocked(SHOP)).toEqual([ANA]);
  expect((await block(ANA)).status).toBe(200);
  expect((await block(STRANGER)).status).toBe(404);
  // WhatsApp wants the number as well, which he does not show.
  const { data } = await list(world, "&q=ben");
  expect(await block(data[0].lid)).toMatchObject({
    status: 422,
    body: { errors: { code: "NOT_ON_WHATSAPP" } },
  });

  await sim.sendText(ANA, SHOP, "Do you hear me?");
  await sim.sendText(CARO, SHOP, "I am heard");
  const texts = async (): Promise<string[]> =>
    (await gateway.get(`/messages?sender=${SHOP}&direction=in`, { key })).body.data.map(
      ({ message }: { message: string }) => message,
    );
  await until(async () => (await texts()).includes("I am heard"));
  expect(await texts()).not.toContain("Do you hear me?");

  const freed = await gateway.delete(`/contacts/${ANA}/block?sender=${SHOP}`, { key });
  expect(freed).toMatchObject({ status: 200, body: { data: { blocked: false } } });
  expect(await sim.blocked(SHOP)).toEqual([]);
  await sim.sendText(ANA, SHOP, "And now?");
  await until(async () => (await texts()).includes("And now?"));
});
