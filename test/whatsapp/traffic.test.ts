import { expect, it } from "vitest";
import type { Statement } from "../../src/store/store.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const waId = (n: number): string => `3EB0${n.toString(16).toUpperCase().padStart(18, "0")}`;

it("in a known chat a text in costs one commit and a reply out another, no read, and one stanza each", async () => {
  const simulator = await simulate();
  await simulator.addNumber(OWN);
  const guest = await simulator.addContact(GUEST);
  const store = await testStore(simulator);
  const number = (await whatsappOn(simulator, store)).number(1);
  await link(simulator, number);
  const exchange = async (n: number): Promise<void> => {
    await guest.sendText(OWN, `in ${n}`);
    await until("the text", () => number.received.some(({ text }) => text === `in ${n}`));
    expect(await number.send(GUEST, `out ${n}`, waId(n))).toEqual({ kind: "sent" });
    await guest.waitForMessage({ text: `out ${n}` });
    await until("the receipts", () => number.receipts.some((receipt) => receipt.waId === waId(n)));
  };
  for (let n = 0; n < 3; n++) await exchange(n);
  await simulator.settle();

  const reads: string[] = [];
  const commits: Statement[][] = [];
  const { read, readOne, writer } = store;
  const { commit } = writer;
  store.read = (query, args) => {
    reads.push(query.sql);
    return read(query, args);
  };
  store.readOne = (query, args) => {
    reads.push(query.sql);
    return readOne(query, args);
  };
  writer.commit = (statements) => {
    commits.push(statements);
    return commit(statements);
  };
  const sent = await simulator.countStanzas({ number: OWN, device: 1, direction: "in" });
  for (let n = 3; n < 13; n++) await exchange(n);
  await simulator.settle();

  // In: ratchet, hash and inbox row. Out: the contact's session and the own phone's, in one statement.
  expect(commits.length).toBe(20);
  expect(commits.flat().length).toBe(40);
  expect(reads).toEqual([]);
  const stanzas = await simulator.stanzas({ number: OWN, device: 1, direction: "in" });
  const tags = stanzas.slice(sent - stanzas.length).map(({ tag }) => tag);
  expect(tags.filter((tag) => tag === "iq")).toEqual([]);
  expect(tags.filter((tag) => tag === "message")).toHaveLength(10);
});
