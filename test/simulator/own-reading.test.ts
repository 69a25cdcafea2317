import { expect, it } from "vitest";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { type BinaryNode, children } from "../../src/simulator/wire/nodes.ts";
import { link, proto, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

/** Receipts that are sent to the number's first companion from now on, whole. */
function receiptsIn(sim: LibrarySimulator): BinaryNode[] {
  const seen: BinaryNode[] = [];
  sim.server.hooks.outgoing.push((device, node) => {
    if (device.label === `${NUMBER}:1` && node.tag === "receipt") seen.push(node);
    return undefined;
  });
  return seen;
}

it("comes to companions as a receipt of the own account, one by one and gathered, and to the writer as ever", async () => {
  const sim = await simulate();
  const owner = await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  const receipts = receiptsIn(sim as LibrarySimulator);
  const ids: string[] = [];
  for (const text of ["one", "two", "three"]) ids.push((await contact.sendText(NUMBER, text)).id);
  await client.untilText("three");

  await owner.markReadAsOwner(ids[0]!);
  await owner.markReadAsOwner([ids[1]!, ids[2]!]);
  await until("both", () => receipts.length === 2);

  expect(receipts[0]!.attrs).toMatchObject({
    id: ids[0],
    from: owner.lid,
    recipient: contact.lid,
    type: "read",
  });
  expect(receipts[1]!.attrs).toMatchObject({
    id: ids[2],
    from: owner.lid,
    recipient: contact.lid,
    type: "read",
  });
  const list = children(receipts[1], "list").flatMap((node) => children(node, "item"));
  expect(list.map(({ attrs }) => attrs.id)).toEqual([ids[1]]);
  // The real client takes it for what it is: messages of the other side are read.
  const { READ } = proto.WebMessageInfo.Status;
  const read = () => client.updates.filter(({ update }) => update.status === READ).map(({ key }) => key);
  await until("updates", () => read().length === 3);
  expect(read().every(({ fromMe, remoteJid }) => !fromMe && remoteJid === contact.lid)).toBe(true);
  const told = { contact: CONTACT, tag: "receipt", type: "read", direction: "out" } as const;
  expect(await sim.countStanzas(told)).toBe(2);
});

it("names the writer in a group, and stays with the own devices when read receipts are off", async () => {
  const sim = await simulate();
  const owner = await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const group = await sim.addGroup({ subject: "All", members: [NUMBER, CONTACT] });
  const client = await link(sim, NUMBER);
  const receipts = receiptsIn(sim as LibrarySimulator);
  await sim.setPrivacy(NUMBER, "readreceipts", "none");
  const { id } = await contact.sendText(group.id, "hello");
  await client.untilText("hello");

  await owner.markReadAsOwner(id);
  const [receipt] = await until("receipt", () => receipts.length === 1 && receipts);

  const attrs = { id, from: group.id, participant: owner.lid, recipient: contact.lid, type: "read-self" };
  expect(receipt!.attrs).toMatchObject(attrs);
  expect(await sim.countStanzas({ contact: CONTACT, tag: "receipt", type: "read", direction: "out" })).toBe(
    0,
  );
});

it("tells the other companions what one has read, and nobody when that is switched off", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  const second = await link(sim, NUMBER);
  const receipts = receiptsIn(sim as LibrarySimulator);
  const { id } = await contact.sendText(NUMBER, "hello");
  await client.untilText("hello");
  await second.untilText("hello");

  await second.socket.readMessages([{ remoteJid: contact.jid, id, fromMe: false }]);
  await until("receipt", () => receipts.some(({ attrs }) => attrs.type === "read" && attrs.id === id));

  const old = await simulate({ behaviour: { ownReading: false }, seed: "old" });
  const oldOwner = await old.addNumber(NUMBER);
  const oldContact = await old.addContact(CONTACT);
  const oldClient = await link(old, NUMBER);
  const sent = await oldContact.sendText(NUMBER, "hello");
  await oldClient.untilText("hello");
  await oldOwner.markReadAsOwner(sent.id);
  await until(
    "the writer's",
    async () =>
      (await old.countStanzas({ contact: CONTACT, tag: "receipt", type: "read", direction: "out" })) === 1,
  );
  expect(await old.countStanzas({ number: NUMBER, device: 1, tag: "receipt", direction: "out" })).toBe(0);
});
