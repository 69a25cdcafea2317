import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const PLACE = { latitude: 52.3731, longitude: 4.8926, name: "Corner shop", address: "Dam 1, Amsterdam" };
const CLARA = {
  name: "Clara; O'Neil, Dr.",
  numbers: ["31600000077", "+49 151 0000078"],
  email: "c@example.com",
};
const DAN = { name: "Dan", numbers: ["31600000079"], organization: "Shop \\ Sons" };

const BOT = `import { defineBot } from "parley";
export default defineBot({ enable: "all" }, (b) => {
  b.keyword("where", (ctx) => { ctx.location({ latitude: -33.9, longitude: 18.4 }, { quote: true }); });
  b.keyword("who", (ctx) => { ctx.contact({ name: "Dan", numbers: ["31600000079"] }); });
});`;

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ again: Object.keys(env).length === 0, env });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  return world;
}

describe("a place and people by REST", () => {
  it("are shown on the phones of contacts and groups, as WhatsApp's own clients send them", async () => {
    const { sim, gateway, key } = await openShop();
    const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
    const to = { sender: SHOP, number: `${ANA}|${group}` };

    const place = await gateway.post("/send-location", { ...to, ...PLACE }, { key });
    expect(place.status).toBe(200);
    const [toAna, toGroup] = place.body.results;
    expect(await sim.waitForMessage(ANA, { id: toAna.id })).toMatchObject({
      kind: "location",
      location: PLACE,
    });
    expect(await sim.waitForMessage(BEN, { id: toGroup.id })).toMatchObject({ location: PLACE, chat: group });

    const one = await gateway.post("/send-contact", { ...to, number: ANA, contacts: [CLARA] }, { key });
    const two = await gateway.post("/send-contact", { ...to, number: BEN, contacts: [CLARA, DAN] }, { key });
    const card = await sim.waitForMessage(ANA, { id: one.body.id });
    expect(card).toMatchObject({ kind: "contacts", contacts: [{ name: CLARA.name }] });
    expect(card.contacts![0]!.vcard.split("\r\n")).toEqual([
      "BEGIN:VCARD",
      "VERSION:3.0",
      "N:;Clara\\; O'Neil\\, Dr.;;;",
      "FN:Clara\\; O'Neil\\, Dr.",
      "TEL;type=CELL;waid=31600000077:+31600000077",
      "TEL;type=CELL;waid=491510000078:+491510000078",
      "EMAIL;type=INTERNET:c@example.com",
      "END:VCARD",
    ]);
    const cards = await sim.waitForMessage(BEN, { id: two.body.id });
    expect(cards.contacts!.map(({ name }) => name)).toEqual([CLARA.name, "Dan"]);
    expect(cards.contacts![1]!.vcard).toContain("ORG:Shop \\\\ Sons\r\n");

    const sent = await sim.stanzas({ number: SHOP, device: 1, tag: "message", direction: "in" });
    const typeOf = (id: string): string | undefined => sent.find(({ attrs }) => attrs.id === id)?.attrs.type;
    expect([toAna.id, toGroup.id, one.body.id, two.body.id].map(typeOf)).toEqual([
      "text",
      "text",
      "media",
      "media",
    ]);
  });

  it("quote, stand in the conversation with all they have, and are read from forms", async () => {
    const { sim, gateway, key } = await openShop();
    const asked = await sim.sendText(ANA, SHOP, "Where are you?");
    const listed = async (id: string): Promise<object | undefined> => {
      const { body } = await gateway.get(`/messages?sender=${SHOP}&chat=${ANA}`, { key });
      return body.data.find((message: { id: string }) => message.id === id);
    };
    await until(async () => (await listed(asked.id)) !== undefined);
    const form = new URLSearchParams({
      sender: SHOP,
      number: ANA,
      msgid: asked.id,
      latitude: "52.3731",
      longitude: " 4.8926 ",
      name: PLACE.name,
    });
    const answer = await fetch(`${gateway.url}/send-location`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    const { id } = (await answer.json()) as { id: string };
    const shown = await sim.waitForMessage(ANA, { id });
    expect(shown).toMatchObject({
      location: { latitude: 52.3731, longitude: 4.8926 },
      quoted: { id: asked.id },
    });
    const contacts = JSON.stringify([DAN]);
    const people = await gateway.post("/send-contact", { sender: SHOP, number: ANA, contacts }, { key });

    expect(await listed(id)).toMatchObject({
      type: "location",
      message: PLACE.name,
      location: { latitude: 52.3731, longitude: 4.8926, name: PLACE.name, address: null },
    });
    expect(await listed(people.body.id)).toMatchObject({
      type: "contact",
      contacts: [{ name: "Dan", numbers: ["31600000079"] }],
    });
  });

  it("are refused with the field that is wrong, and nothing leaves", async () => {
    const { sim, gateway, key } = await openShop();
    const to = { sender: SHOP, number: ANA };
    const wrong = async (path: string, fields: object): Promise<string[]> => {
      const { status, body } = await gateway.post(path, { ...to, ...fields }, { key });
      expect([status, body.errors.code]).toEqual([400, "INVALID_PARAMETERS"]);
      return Object.keys(body.errors.fields);
    };
    expect(await wrong("/send-location", { latitude: 90.5, longitude: 0 })).toEqual(["latitude"]);
    expect(await wrong("/send-location", { latitude: 0, longitude: "-181" })).toEqual(["longitude"]);
    expect(await wrong("/send-location", { latitude: "5,5", longitude: 0 })).toEqual(["latitude"]);
    expect(await wrong("/send-location", {})).toEqual(["latitude", "longitude"]);
    expect(await wrong("/send-contact", { contacts: [] })).toEqual(["contacts"]);
    expect(await wrong("/send-contact", { contacts: Array.from({ length: 11 }, () => DAN) })).toEqual([
      "contacts",
    ]);
    expect(await wrong("/send-contact", { contacts: [{ ...DAN, numbers: ["12"] }] })).toEqual([
      "contacts.0.numbers.0",
    ]);
    expect(await wrong("/send-contact", { contacts: [{ ...DAN, email: "nobody" }] })).toEqual([
      "contacts.0.email",
    ]);
    expect(await sim.transcript({ contact: ANA })).toEqual([]);
  });

  it("are not read from a text that is longer than every list of cards", async () => {
    const { sim, gateway, key } = await openShop();
    const contacts = JSON.stringify([DAN]).padEnd(65_537);
    const body = { sender: SHOP, number: ANA, contacts };
    expect(await gateway.post("/send-contact", body, { key })).toMatchObject({
      status: 400,
      body: { errors: { fields: { contacts: expect.anything() } } },
    });
    expect(await sim.transcript({ contact: ANA })).toEqual([]);
  });
});

describe("a place and people as an answer", () => {
  it("come from a webhook", async () => {
    const { sim, gateway, key } = await openShop();
    const answers = [
      { ...PLACE, quoted: true },
      { replies: [{ contacts: [CLARA, DAN] }, { latitude: 95, longitude: 1 }, "That was it."] },
    ];
    const receiver = await startReceiver(() => answers.shift());
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });

    const first = await sim.sendText(ANA, SHOP, "Where?");
    expect(await sim.waitForMessage(ANA, { kind: "location" })).toMatchObject({
      location: PLACE,
      quoted: { id: first.id },
    });
    await sim.sendText(ANA, SHOP, "Who?");
    expect((await sim.waitForMessage(ANA, { kind: "contacts" })).contacts).toHaveLength(2);
    await sim.waitForMessage(ANA, { text: "That was it." });
    const { body } = await gateway.get(`/deliveries?device=${SHOP}`, { key });
    expect(body.data[0].reply.ignored).toEqual([expect.stringContaining("replies[1]: latitude: ")]);
  });

  it("come from a bot", async () => {
    const bots = mkdtempSync(join(tmpdir(), "parley-bots-"));
    onTestFinished(() => removeFolder(bots));
    writeFileSync(join(bots, "map.ts"), BOT);
    const { sim } = await openShop({ BOTS_DIR: bots });
    const where = await sim.sendText(ANA, SHOP, "where");
    expect(await sim.waitForMessage(ANA, { kind: "location" })).toMatchObject({
      location: { latitude: -33.9, longitude: 18.4 },
      quoted: { id: where.id },
    });
    await sim.sendText(BEN, SHOP, "who");
    expect((await sim.waitForMessage(BEN, { kind: "contacts" })).contacts).toMatchObject([{ name: "Dan" }]);
  });
});
