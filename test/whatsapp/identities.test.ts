import { describe, expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const id = (n: number): string => `3EB0AAAAAAAAAAAAAAAAA${n}`;

async function setup(deviceHashes = true) {
  const simulator = await simulate({ behaviour: { deviceHashes } });
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const number = (await whatsappOn(simulator, await testStore(simulator))).number(1);
  await link(simulator, number);
  const arrived = (text: string) =>
    until("the text", () => number.received.some((message) => message.text === text));
  await guest.sendText(OWN, "before");
  await arrived("before");
  expect(await number.send(GUEST, "welcome", id(0))).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "welcome" });
  const settled = () => until("what was told", async () => (await simulator.pending(OWN, 1)) === 0);
  /** Devices of the contact that have read a message. */
  const readers = async (waId: string) =>
    (await simulator.transcript({ id: waId, direction: "to_contact" }))
      .filter(({ decrypted }) => decrypted)
      .map(({ device }) => device)
      .sort();
  return { simulator, guest, number, arrived, settled, readers };
}

describe.each([
  ["that WhatsApp tells of", true],
  ["that nobody is told of", false],
])("a contact with a new phone %s", (_, told) => {
  it("gets what is written to it", async () => {
    const { simulator, guest, number, settled } = await setup();
    await simulator.changePhone(GUEST, { told });
    await settled();

    expect(await number.send(GUEST, "to the new phone", id(1))).toEqual({ kind: "sent" });

    await guest.waitForMessage({ text: "to the new phone" });
    // Whoever knows of it writes what can be read at once.
    if (!told) await simulator.expectViolation("undecryptable");
  });

  it("is read when it writes first, and gets the answer", async () => {
    const { simulator, guest, number, arrived } = await setup();
    await simulator.changePhone(GUEST, { told });

    await guest.sendText(OWN, "my new phone");
    await arrived("my new phone");
    expect(await number.send(GUEST, "congratulations", id(1))).toEqual({ kind: "sent" });

    await guest.waitForMessage({ text: "congratulations" });
  });

  it("gets what waited for the old one", async () => {
    const { simulator, guest, number, readers } = await setup();
    await simulator.sleep(GUEST);
    expect(await number.send(GUEST, "for the old phone", id(1))).toEqual({ kind: "sent" });

    await simulator.changePhone(GUEST, { told });

    await guest.waitForMessage({ text: "for the old phone" });
    expect(await readers(id(1))).toEqual([0]);
    await simulator.expectViolation("undecryptable");
  });
});

it("a contact whose phone became another while the number was away is written to with the new keys", async () => {
  const { simulator, guest, number } = await setup();
  const opens = number.opens;
  await number.close();
  await until("the number to be offline", async () => !(await simulator.online(OWN)));
  await simulator.changePhone(GUEST);
  await number.connect();
  await until("the connection to open", () => number.opens > opens);

  expect(await number.send(GUEST, "to the new phone", id(1))).toEqual({ kind: "sent" });

  await guest.waitForMessage({ text: "to the new phone" });
});

describe.each([
  ["today", true],
  ["a year ago", false],
])("devices of a contact, with the notifications of %s", (_, deviceHashes) => {
  it("one that is told of, and one that is not and stands in its hash, get the next message", async () => {
    const { simulator, number, settled, readers } = await setup(deviceHashes);
    const untold = await simulator.addDevice(GUEST, { told: false });
    const told = await simulator.addDevice(GUEST);
    await settled();

    expect(await number.send(GUEST, "to all", id(1))).toEqual({ kind: "sent" });

    await until("all of them", async () => (await readers(id(1))).length === 3);
    expect(await readers(id(1))).toEqual([0, untold, told]);
    const [news] = await simulator.stanzas({ number: OWN, device: 1, direction: "out", type: "devices" });
    expect(news?.children).toEqual(["add"]);
  });

  it("one that nobody is told of gets the message that has missed it", async () => {
    const { simulator, number, readers } = await setup(deviceHashes);
    const untold = await simulator.addDevice(GUEST, { told: false });

    expect(await number.send(GUEST, "missed", id(1))).toEqual({ kind: "sent" });

    await until("both of them", async () => (await readers(id(1))).length === 2);
    expect(await readers(id(1))).toEqual([0, untold]);
    await simulator.expectViolation("device_list");
  });
});
