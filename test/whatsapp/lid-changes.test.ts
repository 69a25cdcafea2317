import { describe, expect, it } from "vitest";
import type { ContactOptions, LidChangeNews } from "../../src/simulator/index.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const id = (n: number): string => `3EB0AAAAAAAAAAAAAAAAA${n}`;

async function setup(options: ContactOptions = {}, lidChats = true) {
  const simulator = await simulate({ behaviour: { lidChats } });
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana", ...options });
  const gateway = await whatsappOn(simulator, await testStore(simulator));
  const number = gateway.number(1);
  await link(simulator, number);
  await guest.sendText(OWN, "hello");
  await until("the text", () => number.received.some(({ text }) => text === "hello"));
  expect(await number.send(GUEST, "welcome", id(0))).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "welcome" });
  /** The addresses that a message was written to, in order. */
  const writtenTo = async (waId: string) =>
    (await simulator.stanzas({ number: OWN, device: 1, direction: "in", tag: "message", id: waId })).map(
      ({ attrs }) => attrs.to,
    );
  const change = async (told?: LidChangeNews) => {
    const lid = await simulator.changeLid(GUEST, { ...(told && { told }) });
    if (told !== undefined && told !== "ack")
      await until("the news", async () => (await simulator.pending(OWN, 1)) === 0);
    return lid;
  };
  return { simulator, guest, number, writtenTo, change };
}

describe.each([
  ["LIDs", true],
  ["numbers", false],
])("where chats go by %s, a LID that changes", (_, lidChats) => {
  it("is learned from the ack: the message has arrived, and the next one goes to the new LID", async () => {
    const { guest, number, writtenTo, change } = await setup({}, lidChats);
    const before = guest.lid;
    const lid = await change("ack");

    expect(await number.send(GUEST, "to the old one", id(1))).toEqual({ kind: "sent" });
    expect(await number.send(GUEST, "to the new one", id(2))).toEqual({ kind: "sent" });
    // An address that a caller has kept leads to the same person.
    expect(await number.send(before, "kept", id(3))).toEqual({ kind: "sent" });

    expect([...(await writtenTo(id(1))), ...(await writtenTo(id(2))), ...(await writtenTo(id(3)))]).toEqual([
      before,
      lid,
      lid,
    ]);
    for (const text of ["to the old one", "to the new one", "kept"]) await guest.waitForMessage({ text });
  });

  it.each(["contacts", "devices"] as const)(
    "is learned from a notification of %s before anything is sent",
    async (told) => {
      const { guest, number, writtenTo, change } = await setup({}, lidChats);
      const lid = await change(told);

      expect(await number.send(GUEST, "to the new one", id(1))).toEqual({ kind: "sent" });

      expect(await writtenTo(id(1))).toEqual([lid]);
      await guest.waitForMessage({ text: "to the new one" });
    },
  );

  it("is learned from the contact's next message, which stays in its chat", async () => {
    const { simulator, guest, number, writtenTo, change } = await setup({}, lidChats);
    const lid = await change("ack");

    await guest.sendText(OWN, "it is me");
    await until("the text", () => number.received.some(({ text }) => text === "it is me"));
    expect(await number.send(GUEST, "I know", id(1))).toEqual({ kind: "sent" });

    expect(new Set(number.received.map(({ chatKey }) => chatKey))).toEqual(
      new Set([`${GUEST}@s.whatsapp.net`]),
    );
    expect(await writtenTo(id(1))).toEqual([lid]);
    await guest.waitForMessage({ text: "I know" });
    // Whoever has a session with the old LID asks for the message again: the owner's phone at least.
    await simulator.expectViolation("undecryptable");
  });
});

it("somebody with another number is another chat, and nobody has the number from before", async () => {
  const { simulator, number } = await setup();

  const ana = await simulator.changeNumber(GUEST, "31600000199");
  await until("the news", async () => (await simulator.pending(OWN, 1)) === 0);

  expect(await number.send(GUEST, "are you there?", id(1))).toMatchObject({
    kind: "refused",
    code: 404,
    reason: "not_on_whatsapp",
  });
  expect(await number.send(ana.number, "there you are", id(2))).toEqual({ kind: "sent" });
  await ana.waitForMessage({ text: "there you are" });
  await ana.sendText(OWN, "yes");
  const { chatKey } = await until("the text", () => number.received.find(({ text }) => text === "yes"));
  expect(chatKey).toBe(ana.jid);
});

it("a LID that is not current is asked about once, however many acks say so", async () => {
  const { simulator, guest, number, change } = await setup();
  await change("ack");
  const asked = () =>
    simulator.countStanzas({ number: OWN, device: 1, direction: "in", tag: "iq", xmlns: "usync" });
  const before = await asked();

  const sent = await Promise.all([1, 2, 3].map((n) => number.send(GUEST, `message ${n}`, id(n))));

  expect(sent).toEqual([{ kind: "sent" }, { kind: "sent" }, { kind: "sent" }]);
  expect(await number.send(GUEST, "message 4", id(4))).toEqual({ kind: "sent" });
  for (const n of [1, 2, 3, 4]) await guest.waitForMessage({ text: `message ${n}` });
  // For the LID, and for the devices that it has.
  expect((await asked()) - before).toBe(2);
});
