import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import { again, link, simulate, until } from "./_setup.ts";
import type { Client } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const TARGET = { number: NUMBER };

async function linked(sim: Simulator) {
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  return { contact, client: await link(sim, NUMBER) };
}

const untilTexts = (client: Client, count: number): Promise<boolean> =>
  until(`${count} texts`, () => client.texts.length === count);

/** No device of the number has asked for anything again. */
async function expectNoRetries(sim: Simulator): Promise<void> {
  await until("receipts", async () => (await sim.pending(NUMBER)) === 0);
  expect(await sim.countStanzas({ number: NUMBER, device: 1, tag: "receipt", type: "retry" })).toBe(0);
}

it("delivers messages in the order that is given, and each still decrypts", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  // A chat that begins out of order, with pre-key messages only; then one whose ratchet has turned.
  await sim.faults.reorderStanzas({ ...TARGET, n: 3, order: [2, 0, 1] });
  for (const text of ["a", "b", "c"]) await contact.sendText(NUMBER, text);
  await untilTexts(client, 3);
  await client.say(contact.jid, "answer");
  await contact.waitForMessage({ text: "answer" });
  await sim.faults.reorderStanzas({ ...TARGET, n: 4, order: [3, 2, 1, 0] });
  for (const text of ["d", "e", "f", "g"]) await contact.sendText(NUMBER, text);
  await untilTexts(client, 7);
  await contact.sendText(NUMBER, "h");
  await untilTexts(client, 8);

  expect(client.texts).toEqual(["c", "a", "b", "g", "f", "e", "d", "h"]);
  await expectNoRetries(sim);
});

it("reorders messages of one sender-key chain, which a phone reads all the same", async () => {
  const sim = await simulate();
  const contact = await sim.addContact(CONTACT);
  const other = await sim.addContact("31622222222");
  const { id: group } = await sim.addGroup({ subject: "All", members: [CONTACT, other.number] });
  await contact.sendText(group, "the key comes with this");
  await other.waitForMessage();
  await sim.faults.reorderStanzas({ number: other.number, n: 3, order: [1, 2, 0] });
  for (const text of ["a", "b", "c"]) await contact.sendText(group, text);
  await other.waitForMessage({ count: 4 });

  const arrived = await other.messages();
  // A phone that cannot read a message is a violation, which fails this test.
  expect(arrived.slice(1).map(({ text, encType }) => `${encType} ${text}`)).toEqual([
    "skmsg b",
    "skmsg c",
    "skmsg a",
  ]);
});

it("shuffles by the seed, and never into the order of sending", async () => {
  const texts = ["a", "b", "c", "d", "e"];
  const orders: string[][] = [];
  for (const seed of ["one", "one", "two"]) {
    const sim = await simulate({ seed });
    const { contact, client } = await linked(sim);
    await sim.faults.reorderStanzas({ ...TARGET, n: texts.length });
    for (const text of texts) await contact.sendText(NUMBER, text);
    await untilTexts(client, texts.length);
    orders.push(client.texts);
  }
  expect(orders[1]).toEqual(orders[0]);
  expect(orders[2]).not.toEqual(orders[0]);
  for (const order of orders) {
    expect(order).not.toEqual(texts);
    expect(order.toSorted()).toEqual(texts);
  }
});

it("reorders what waits for a companion that is away", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  await sim.faults.reorderStanzas({ ...TARGET, n: 3, order: [1, 2, 0] });
  for (const text of ["a", "b", "c"]) await contact.sendText(NUMBER, text);
  const back = again(sim, client);
  await untilTexts(back, 3);

  expect(back.texts).toEqual(["b", "c", "a"]);
  expect(back.received.every(({ type }) => type === "append")).toBe(true);
});

it("keeps messages back until there are enough, and lets them go with clear", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.reorderStanzas({ ...TARGET, n: 9 });
  for (const text of ["a", "b"]) await contact.sendText(NUMBER, text);
  const other = await again(sim, client).untilOpen();
  expect(await sim.pending(NUMBER)).toBe(2);
  expect([...client.texts, ...other.texts]).toEqual([]);
  await sim.faults.clear();
  await untilTexts(other, 2);
  expect(other.texts).toEqual(["b", "a"]);
});

it("refuses an order that is none", async () => {
  const sim = await simulate();
  await linked(sim);
  await expect(sim.faults.reorderStanzas({ ...TARGET, n: 3, order: [0, 1, 1] })).rejects.toThrow(
    "each number from 0 to 2 once, not [0,1,1]",
  );
});
