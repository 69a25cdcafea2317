import { expect, it } from "vitest";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { link, simulate, textOf, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const CONTACT_JID = `${CONTACT}@s.whatsapp.net`;

it.each([true, false])(
  "brings a contact's text to a companion, which acknowledges it (by LID: %s)",
  async (lidChats) => {
    const sim = await simulate({ behaviour: { lidChats } });
    const number = await sim.addNumber(NUMBER);
    const contact = await sim.addContact(CONTACT, { name: "Ann" });
    const client = await link(sim, NUMBER);
    const { id } = await contact.sendText(NUMBER, "hello");
    const { message, type } = await client.untilText("hello");
    expect(type).toBe("notify");
    const [jid, alt] = lidChats ? [contact.lid, CONTACT_JID] : [CONTACT_JID, contact.lid];
    expect(message.key).toMatchObject({ id, remoteJid: jid, fromMe: false });
    expect(message.key.remoteJidAlt).toBe(alt);
    expect(message.pushName).toBe("Ann");
    await until("receipt", async () => (await sim.pending(NUMBER)) === 0);
    const [entry] = await sim.transcript({ id, direction: "to_companion" });
    expect(entry).toMatchObject({
      from: CONTACT,
      to: NUMBER,
      text: "hello",
      encType: "pkmsg",
      decrypted: true,
    });
    expect(number.number).toBe(NUMBER);
  },
);

it("brings a companion's text to a contact and acknowledges it", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  const { id, ack } = await client.say(CONTACT_JID, "good morning");
  expect(ack).toMatchObject({ tag: "ack", attrs: { class: "message", id } });
  expect(ack!.attrs.error).toBeUndefined();
  const arrived = await contact.waitForMessage({ id });
  expect(arrived).toMatchObject({ from: NUMBER, text: "good morning", kind: "text", ordinal: 1 });
  await until("delivery receipt", () => client.statusOf(id) === 3);
});

it("lets a conversation settle into plain ratchet messages without further key queries", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  for (let turn = 1; turn <= 5; turn += 1) {
    await contact.sendText(NUMBER, `question ${turn}`);
    await client.untilText(`question ${turn}`);
    await client.say(CONTACT_JID, `answer ${turn}`);
    await contact.waitForMessage({ text: `answer ${turn}` });
  }
  const kinds = (await sim.transcript({ direction: "to_contact" })).map(({ encType }) => encType);
  expect(kinds.slice(-3)).toEqual(["msg", "msg", "msg"]);
  const queries = await sim.countStanzas({ number: NUMBER, direction: "in", xmlns: "encrypt", child: "key" });
  expect(queries).toBeLessThanOrEqual(3);
  expect((await sim.messages(CONTACT)).map(({ text }) => text)).toEqual(
    [1, 2, 3, 4, 5].map((turn) => `answer ${turn}`),
  );
});

it("shows a LID contact without a number, and takes the answer to its LID", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { hidesNumber: true, lid: "987654321012345" });
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "who am I");
  const { message } = await client.untilText("who am I");
  expect(message.key.remoteJid).toBe("987654321012345@lid");
  expect(message.key.remoteJidAlt).toBeUndefined();
  await client.say("987654321012345@lid", "no idea");
  expect((await contact.waitForMessage({ text: "no idea" })).from).toBe(NUMBER);
});

it("shows a LID-addressed contact together with its number", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { addressing: "lid" });
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "hi");
  const { message } = await client.untilText("hi");
  expect(message.key).toMatchObject({
    remoteJid: contact.lid,
    remoteJidAlt: CONTACT_JID,
    addressingMode: "lid",
  });
  expect(await client.socket.signalRepository.lidMapping.getPNForLID(contact.lid)).toContain(CONTACT);
});

it.each([true, false])(
  "copies what the owner types on the phone to the companions (by LID: %s)",
  async (lidChats) => {
    const sim = await simulate({ behaviour: { lidChats } });
    const number = await sim.addNumber(NUMBER);
    const contact = await sim.addContact(CONTACT);
    const client = await link(sim, NUMBER);
    const { id } = await number.typeAsOwner(CONTACT, "from the phone");
    const { message } = await client.untilText("from the phone");
    const jid = lidChats ? contact.lid : CONTACT_JID;
    expect(message.key).toMatchObject({ id, remoteJid: jid, fromMe: true });
    await contact.waitForMessage({ id });
    await until("receipt", async () => (await sim.pending(NUMBER)) === 0);
  },
);

it("copies a companion's message to the owner's phone and to other companions", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(CONTACT);
  const first = await link(sim, NUMBER);
  const second = await link(sim, NUMBER);
  const { id } = await first.say(CONTACT_JID, "shared");
  const { message } = await second.untilText("shared");
  expect(message.key).toMatchObject({ id, fromMe: true, remoteJid: CONTACT_JID });
  await until("copy on the phone", async () => {
    const [copy] = await sim.transcript({ id, direction: "to_owner_phone" });
    return copy?.decrypted;
  });
});

it("reaches every device of a contact, and takes texts from each", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { devices: 3 });
  const client = await link(sim, NUMBER);
  const { id } = await client.say(CONTACT_JID, "to all of you");
  await until("three copies", async () => {
    const copies = await sim.transcript({ id, direction: "to_contact" });
    return copies.length === 3 && copies.every(({ decrypted }) => decrypted);
  });
  for (const device of [0, 1, 2]) {
    await contact.sendText(NUMBER, `from device ${device}`, { device });
    const { message } = await client.untilText(`from device ${device}`);
    expect(message.key.remoteJidAlt).toContain(CONTACT);
  }
});

it("asks a companion again for what a contact cannot read, and takes the resend", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "hi");
  await client.untilText("hi");
  await client.say(CONTACT_JID, "hello");
  await contact.waitForMessage({ text: "hello" });
  await contact.sendText(NUMBER, "thanks");
  await client.untilText("thanks");
  // The companion's memory of the session goes bad, as after a restored backup.
  client.auth.damageSessions();
  const { id } = await client.say(CONTACT_JID, "can you read this");
  expect((await contact.waitForMessage({ id })).text).toBe("can you read this");
  expect(await sim.expectViolation("undecryptable")).not.toEqual([]);
  expect(
    await sim.countStanzas({ contact: CONTACT, direction: "in", tag: "receipt", type: "retry" }),
  ).toBeGreaterThan(0);
});

it("lets a companion ask a contact again for what it cannot read", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "one");
  await client.untilText("one");
  await client.say(CONTACT_JID, "answer");
  await contact.waitForMessage({ text: "answer" });
  await contact.sendText(NUMBER, "two");
  await client.untilText("two");
  client.auth.forget("session");
  const { id } = await contact.sendText(NUMBER, "three");
  const { message } = await client.untilText("three");
  expect(message.key.id).toBe(id);
  expect(textOf(message.message)).toBe("three");
  expect(
    await sim.countStanzas({ number: NUMBER, direction: "in", tag: "receipt", type: "retry" }),
  ).toBeGreaterThan(0);
  expect((await sim.transcript({ id, direction: "to_companion" })).length).toBeGreaterThan(1);
});

it("says which numbers are users and which are not", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  expect(await client.socket.onWhatsApp(CONTACT, "31699999999")).toEqual([
    { jid: CONTACT_JID, exists: true },
  ]);
});

it("asks for new one-time pre-keys before they run out", async () => {
  const sim = (await simulate()) as LibrarySimulator;
  const number = await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  const { preKeys } = sim.server.world.account(NUMBER).devices.get(1)!;
  for (const id of [...preKeys.keys()].slice(5)) preKeys.delete(id);
  await contact.sendText(NUMBER, "takes the fifth");
  await client.untilText("takes the fifth");
  await until("upload", async () => (await number.companions())[0]!.preKeys === 9);
  expect(await sim.countStanzas({ number: NUMBER, device: 1, tag: "notification", type: "encrypt" })).toBe(1);
});

it("sends with the time and the name that a test asks for", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "long ago", { timestamp: 1_700_000_000, pushName: "Annie", id: "3AOLD" });
  const { message } = await client.untilText("long ago");
  expect(message.key.id).toBe("3AOLD");
  expect(Number(message.messageTimestamp)).toBe(1_700_000_000);
  expect(message.pushName).toBe("Annie");
});

it("answers what the account may do", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  expect(await client.socket.fetchAccountReachoutTimelock()).toMatchObject({ isActive: false });
  expect(await client.socket.fetchBlocklist()).toEqual([]);
  expect(await client.socket.fetchPrivacySettings(true)).toMatchObject({ readreceipts: "all" });
});
