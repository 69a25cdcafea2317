import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { type BinaryNode, bytes, children } from "../../src/simulator/wire/nodes.ts";
import { link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const TARGET = { number: NUMBER };

/** The message stanzas with one id that go to the number's companion from now on, whole. */
function stanzasTo(sim: Simulator, number = NUMBER): BinaryNode[] {
  const seen: BinaryNode[] = [];
  (sim as LibrarySimulator).server.hooks.transmitted.push((device, node) => {
    if (device.label === `${number}:1` && node.tag === "message" && !node.attrs.category) seen.push(node);
  });
  return seen;
}

const encOf = (node: BinaryNode): BinaryNode => children(node, "enc").at(-1)!;
const ciphertext = (node: BinaryNode): string => bytes(encOf(node))!.toString("base64");

/** A linked client that has had a text from a contact and answered it. */
async function chatting(sim: Simulator) {
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "hi");
  await client.untilText("hi");
  await client.say(contact.jid, "hello");
  await contact.waitForMessage({ text: "hello" });
  await until("receipts", async () => (await sim.pending(NUMBER)) === 0);
  return { contact, client };
}

/** Waits until the companion has confirmed a message so often. */
async function untilRead(sim: Simulator, id: string, times: number): Promise<void> {
  await until(`${times} receipts for ${id}`, async () => {
    const entries = await sim.transcript({ number: NUMBER, id, direction: "to_companion" });
    return entries.length === times && entries.every(({ decrypted }) => decrypted);
  });
}

it("delivers a message twice with two ciphertexts that both decrypt", async () => {
  const sim = await simulate();
  const { contact } = await chatting(sim);
  const seen = stanzasTo(sim);
  await sim.faults.reencryptStanzas({ ...TARGET, n: 2 });

  const ids: string[] = [];
  for (const text of ["one", "two", "three"]) ids.push((await contact.sendText(NUMBER, text)).id);
  for (const [index, id] of ids.entries()) await untilRead(sim, id, index < 2 ? 2 : 1);

  const [first, second] = seen.filter(({ attrs }) => attrs.id === ids[0]);
  expect(ciphertext(second!)).not.toBe(ciphertext(first!));
  expect(second!.attrs).toEqual(first!.attrs);
  expect([encOf(first!).attrs.count, encOf(second!).attrs.count]).toEqual([undefined, "1"]);
  expect(seen.map(({ attrs }) => attrs.id).toSorted()).toEqual(
    [ids[0], ids[0], ids[1], ids[1], ids[2]].toSorted(),
  );
});

it("has a group message encrypted anew for one device, or sent again to the whole group", async () => {
  const sim = await simulate();
  const { client } = await chatting(sim);
  const other = await sim.addContact("31622222222");
  const { id: group } = await sim.addGroup({ subject: "All", members: [NUMBER, CONTACT, other.number] });
  const seen = stanzasTo(sim);

  await sim.faults.reencryptStanzas({ ...TARGET, n: 1, as: "retry" });
  const one = await sim.sendText(CONTACT, group, "one");
  await untilRead(sim, one.id, 2);
  await sim.faults.reencryptStanzas({ ...TARGET, n: 1, as: "send" });
  const two = await sim.sendText(CONTACT, group, "two");
  await untilRead(sim, two.id, 2);

  const kinds = (id: string) =>
    seen.filter(({ attrs }) => attrs.id === id).map((node) => encOf(node).attrs.type);
  expect(kinds(one.id)).toEqual(["skmsg", expect.stringMatching(/^(pk)?msg$/)]);
  expect(kinds(two.id)).toEqual(["skmsg", "skmsg"]);
  await until("both texts", () => ["one", "two"].every((text) => client.texts.includes(text)));
  const elsewhere = await sim.transcript({ contact: other.number, direction: "to_contact" });
  const timesThere = (id: string) => elsewhere.filter((entry) => entry.id === id).length;
  expect([timesThere(one.id), timesThere(two.id)]).toEqual([1, 2]);
});

it("redelivers a message that was acknowledged minutes ago, dated as at first and marked as offline", async () => {
  let ahead = 0;
  const sim = await simulate({ clock: () => Date.now() + ahead });
  const { contact, client } = await chatting(sim);
  const seen = stanzasTo(sim);
  const { id } = await contact.sendText(NUMBER, "once more");
  await untilRead(sim, id, 1);
  expect(await sim.pending(NUMBER)).toBe(0);
  ahead = 5 * 60_000;

  await sim.faults.redeliver({ ...TARGET, id, as: "retry", offline: true });
  await untilRead(sim, id, 2);
  const copies = await until("two copies", () => {
    const found = client.received.filter(({ message }) => message.key.id === id);
    return found.length === 2 && found;
  });

  expect(copies.map(({ text, type }) => [text, type])).toEqual([
    ["once more", "notify"],
    ["once more", "append"],
  ]);
  const [first, second] = seen.filter(({ attrs }) => attrs.id === id);
  expect(second!.attrs).toEqual({ ...first!.attrs, offline: "0" });
});

it("redelivers the very stanza, which a bare client can read no more", async () => {
  const sim = await simulate();
  const { contact } = await chatting(sim);
  const seen = stanzasTo(sim);
  const { id } = await contact.sendText(NUMBER, "the same");
  await untilRead(sim, id, 1);

  await sim.faults.redeliver({ ...TARGET, id });
  const again = await until("its resend", () => seen.filter(({ attrs }) => attrs.id === id)[2]);

  const copies = seen.filter(({ attrs }) => attrs.id === id);
  expect(copies[1]!.attrs).toEqual(copies[0]!.attrs);
  expect(ciphertext(copies[1]!)).toBe(ciphertext(copies[0]!));
  expect(ciphertext(again)).not.toBe(ciphertext(copies[0]!));
  expect(encOf(again).attrs.count).toBe("1");
});

it("says so when there is nothing to redeliver", async () => {
  const sim = await simulate();
  await chatting(sim);
  await expect(sim.faults.redeliver({ ...TARGET, id: "3A00" })).rejects.toThrow(
    `${NUMBER} never got a message 3A00`,
  );
  await expect(sim.faults.reencryptStanzas({ ...TARGET, n: 0 })).rejects.toThrow("n must be a whole number");
});
