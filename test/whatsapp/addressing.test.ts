import { describe, expect, it } from "vitest";
import type { ContactOptions } from "../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../src/simulator/inside.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const ID = "3EB0AAAAAAAAAAAAAAAAAA";
const OTHER_ID = "3EB0BBBBBBBBBBBBBBBBBB";

async function setup(options: ContactOptions = {}) {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana", ...options });
  const gateway = await whatsappOn(simulator, await testStore(simulator));
  const number = gateway.number(1);
  await link(simulator, number);
  /** The addresses that a message was written to, in order. */
  const writtenTo = async (id: string) =>
    (await simulator.stanzas({ number: OWN, device: 1, direction: "in", tag: "message", id })).map(
      ({ attrs }) => attrs.to,
    );
  return { simulator, owner, guest, number, writtenTo };
}

const account = (simulator: object) => (simulator as LibrarySimulator).server.world.account(GUEST);

const REFUSED = { kind: "refused", code: 463 };

describe("a message to a number", () => {
  it("goes to the LID that the question for its devices names, and nobody is asked again", async () => {
    const { simulator, owner, guest, number, writtenTo } = await setup({ reachableBy: "lid" });
    const asked = () => simulator.countStanzas({ number: OWN, direction: "in", tag: "iq", xmlns: "usync" });
    const before = await asked();

    expect(await number.send(GUEST, "hello", ID)).toEqual({ kind: "sent" });
    expect(await number.send(GUEST, "hello again", OTHER_ID)).toEqual({ kind: "sent" });

    expect(await writtenTo(ID)).toEqual([guest.lid]);
    expect(await writtenTo(OTHER_ID)).toEqual([guest.lid]);
    expect((await asked()) - before).toBe(1);
    expect((await guest.waitForMessage({ text: "hello" })).id).toBe(ID);
    await guest.waitForMessage({ text: "hello again" });
    await until("the receipts", () =>
      [ID, OTHER_ID].every((id) => number.receipts.some(({ waId }) => waId === id)),
    );
    // The owner's phone has its copy in this chat.
    await until("the copy", async () =>
      (await simulator.transcript({ number: owner.number })).some(
        ({ id, decrypted }) => id === ID && decrypted,
      ),
    );
    const [sent] = await simulator.stanzas({ number: OWN, direction: "in", tag: "message", id: ID });
    expect(sent?.attrs.peer_recipient_pn).toBe(guest.jid);
  });

  it("goes to the LID that the contact has written from", async () => {
    const { guest, number, writtenTo } = await setup({ reachableBy: "lid", addressing: "lid" });
    await guest.sendText(OWN, "from a LID");
    await until("the text", () => number.received.some(({ text }) => text === "from a LID"));

    expect(await number.send(GUEST, "answer", ID)).toEqual({ kind: "sent" });

    expect(await writtenTo(ID)).toEqual([guest.lid]);
    await guest.waitForMessage({ text: "answer" });
  });

  it("goes to the number of somebody who is known by it alone", async () => {
    const { guest, number, writtenTo } = await setup({ reachableBy: "number" });
    await guest.sendText(OWN, "hi");
    await until("the text", () => number.received.some(({ text }) => text === "hi"));

    expect(await number.send(GUEST, "hello", ID)).toEqual({ kind: "sent" });

    expect(await writtenTo(ID)).toEqual([guest.jid]);
    await guest.waitForMessage({ text: "hello" });
  });

  it("reaches a contact that moves to its LID in the middle of a chat", async () => {
    const { simulator, guest, number, writtenTo } = await setup({ reachableBy: "number" });
    expect(await number.send(GUEST, "before", ID)).toEqual({ kind: "sent" });
    account(simulator).reachableBy = "lid";
    await guest.sendText(OWN, "I have moved");
    await until("the text", () => number.received.some(({ text }) => text === "I have moved"));

    expect(await number.send(GUEST, "after", OTHER_ID)).toEqual({ kind: "sent" });

    expect(await writtenTo(OTHER_ID)).toEqual([guest.lid]);
    await guest.waitForMessage({ text: "after" });
  });
});

describe("error 463", () => {
  it.each(["number", "LID"])(
    "by one address is tried by the other one, once, when the %s is given",
    async (given) => {
      const { simulator, guest, number, writtenTo } = await setup();
      expect(await number.send(GUEST, "before", "3EB0CCCCCCCCCCCCCCCCCC")).toEqual({ kind: "sent" });
      account(simulator).reachableBy = "number";
      const to = given === "LID" ? guest.lid : GUEST;

      expect(await number.send(to, "hello", ID)).toEqual({ kind: "sent" });
      expect(await number.send(to, "hello again", OTHER_ID)).toEqual({ kind: "sent" });

      expect(await writtenTo(ID)).toEqual([guest.lid, guest.jid]);
      // What was accepted is remembered.
      expect(await writtenTo(OTHER_ID)).toEqual([guest.jid]);
      expect((await guest.messages()).flatMap(({ id, text }) => (text === "hello" ? [id] : []))).toEqual([
        ID,
      ]);
      await guest.waitForMessage({ text: "hello again" });
      account(simulator).reachableBy = "lid";
      expect(await number.send(to, "and back", "3EB0DDDDDDDDDDDDDDDDDD")).toEqual({ kind: "sent" });
      await guest.waitForMessage({ text: "and back" });
    },
  );

  it("by both addresses is a refusal; by the only one there is too", async () => {
    const { simulator, guest, number, writtenTo } = await setup();
    const stranger = await simulator.addContact("31600000102", { hidesNumber: true });
    await simulator.faults.reachoutTimelock({ number: OWN, seconds: 600, type: "BIZ_QUALITY" });
    await until("the news of the lock", async () => (await simulator.pending(OWN, 1)) === 0);

    const locked = { ...REFUSED, until: expect.any(Number), lockedFor: "BIZ_QUALITY" };
    expect(await number.send(GUEST, "hello", ID)).toMatchObject(locked);
    expect(await number.send(stranger.lid, "hello", OTHER_ID)).toMatchObject(REFUSED);

    expect(await writtenTo(ID)).toEqual([guest.lid, guest.jid]);
    expect(await writtenTo(OTHER_ID)).toEqual([stranger.lid]);
  });
});

it("a contact that demands its privacy token is given it, by its LID", async () => {
  const { simulator, guest, number, writtenTo } = await setup({ reachableBy: "lid" });
  const { server } = simulator as LibrarySimulator;
  const token = Buffer.from("a token of this contact");
  server.hooks.verdict.push((_, { attrs, content }) => {
    const given = Array.isArray(content) ? content.find(({ tag }) => tag === "tctoken")?.content : undefined;
    return attrs.to === guest.lid && !(given instanceof Uint8Array && token.equals(given)) ? 463 : undefined;
  });
  expect(await number.send(GUEST, "without", ID)).toMatchObject(REFUSED);

  const attrs = { type: "trusted_contact", t: server.now() };
  const tokens = { tag: "tokens", attrs: {}, content: [{ tag: "token", attrs, content: token }] };
  const head = {
    from: guest.jid,
    sender_lid: guest.lid,
    type: "privacy_token",
    id: "token-1",
    t: server.now(),
  };
  server.deliver(server.world.account(OWN).devices.get(1)!, {
    tag: "notification",
    attrs: head,
    content: [tokens],
  });
  await until("the token", async () => (await simulator.pending(OWN, 1)) === 0);

  expect(await number.send(GUEST, "with", OTHER_ID)).toEqual({ kind: "sent" });
  expect(await writtenTo(OTHER_ID)).toEqual([guest.lid]);
  await guest.waitForMessage({ text: "with" });
});
