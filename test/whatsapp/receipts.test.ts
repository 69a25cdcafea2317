import { expect, it } from "vitest";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

async function setup() {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const { number: numberOf } = await whatsappOn(simulator, await testStore(simulator));
  const number = numberOf(1);
  await link(simulator, number);
  const heard = async (text: string) =>
    await until(text, () => number.received.find((message) => message.text === text));
  return { simulator, owner, guest, number, heard };
}

it("what the owner reads on the phone is told of with its chat, one by one and gathered, and is no receipt of the contact's", async () => {
  const { owner, guest, number, heard, simulator } = await setup();
  const ids: string[] = [];
  for (const text of ["one", "two", "three"]) {
    ids.push((await guest.sendText(OWN, text)).id);
    await heard(text);
  }

  await owner.markReadAsOwner(ids[0]!);
  await owner.markReadAsOwner(ids.slice(1));
  await until("both", () => number.read.length === 2);

  expect(number.read.map(({ jid, waIds }) => [jid, waIds])).toEqual([
    [guest.lid, [ids[0]]],
    [guest.lid, [ids[2], ids[1]]],
  ]);
  for (const { at } of number.read) expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
  expect(number.receipts).toEqual([]);
  // What the contact reads is a receipt, and nothing that the owner has read.
  await number.send(GUEST, "answer", "3EB0AAAAAAAAAAAAAAAAAA");
  const { id } = await guest.waitForMessage({ text: "answer" });
  await guest.markRead(id);
  await until("the contact's", () => number.receipts.some(({ state }) => state === "read"));
  expect(number.read).toHaveLength(2);
  await until("acks", async () => (await simulator.pending(OWN)) === 0);
});

it("also when the writer is not to know, in a group, and by a LID", async () => {
  const { owner, number, heard, simulator } = await setup();
  const hidden = await simulator.addContact("31600000101", { hidesNumber: true });
  const group = await simulator.addGroup({ subject: "All", members: [OWN, GUEST] });
  await simulator.setPrivacy(OWN, "readreceipts", "none");
  const first = await hidden.sendText(OWN, "hidden");
  const second = await simulator.sendText(GUEST, group.id, "in the group");
  await heard("hidden");
  await heard("in the group");

  await owner.markReadAsOwner(first.id);
  await owner.markReadAsOwner(second.id);
  await until("both", () => number.read.length === 2);

  expect(number.read.map(({ jid, waIds }) => [jid, waIds])).toEqual([
    [hidden.lid, [first.id]],
    [group.id, [second.id]],
  ]);
  expect(number.receipts).toEqual([]);
});

it("is acknowledged when it is stored, and comes again when that failed", async () => {
  const { owner, guest, number, heard, simulator } = await setup();
  const { id } = await guest.sendText(OWN, "one");
  await heard("one");
  await until("nothing waits", async () => (await simulator.pending(OWN)) === 0);
  let fail!: () => void;
  const failed = new Promise<void>((_, reject) => (fail = () => reject(new Error("no room"))));
  number.storeReading = () => failed;

  await owner.markReadAsOwner(id);
  await until("it is told of", () => number.read.length === 1);
  // What comes after it is handled and acknowledged meanwhile.
  await guest.sendText(OWN, "two");
  await heard("two");
  await until("only the reading waits", async () => (await simulator.pending(OWN)) === 1);
  fail();
  number.storeReading = async () => undefined;
  await number.close();
  await number.connect();

  await until("it is told of again", () => number.read.length === 2);
  expect(number.read[1]).toEqual(number.read[0]);
  await until("nothing waits", async () => (await simulator.pending(OWN)) === 0);
});

it("a receipt of a contact is acknowledged when it is stored, and comes again when it was not", async () => {
  const { guest, number, heard, simulator } = await setup();
  await number.send(GUEST, "question", "3EB0AAAAAAAAAAAAAAAAAA");
  await until("delivered", () => number.receipts.length === 1);
  await until("nothing waits", async () => (await simulator.pending(OWN)) === 0);
  number.storeReceipts = () => new Promise(() => undefined);

  const { id } = await guest.waitForMessage({ text: "question" });
  await guest.markRead(id);
  await until("it is told of", () => number.receipts.length === 2);
  // What comes after it is handled and acknowledged meanwhile.
  await guest.sendText(OWN, "answer");
  await heard("answer");
  await until("only the receipt waits", async () => (await simulator.pending(OWN)) === 1);
  number.storeReceipts = async () => undefined;
  await number.close();
  await number.connect();

  await until("it comes again", () => number.receipts.length === 3);
  expect(number.receipts.map(({ state }) => state)).toEqual(["delivered", "read", "read"]);
  await until("nothing waits any more", async () => (await simulator.pending(OWN)) === 0);
});
