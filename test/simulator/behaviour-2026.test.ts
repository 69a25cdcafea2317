import { createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { expect, it } from "vitest";
import type { Content, Simulator } from "../../src/simulator/index.ts";
import { participantHash } from "../../src/simulator/server/messages/phash.ts";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { type BinaryNode, child, children } from "../../src/simulator/wire/nodes.ts";
import { listedDevices } from "../../src/simulator/world/accounts.ts";
import { type Client, again, link, proto, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

/** What is sent to one companion of the number from now on, whole. */
function sentTo(sim: Simulator, device: number, tag: string): BinaryNode[] {
  const seen: BinaryNode[] = [];
  (sim as LibrarySimulator).server.hooks.outgoing.push((receiver, node) => {
    if (receiver.label === `${NUMBER}:${device}` && node.tag === tag) seen.push(node);
    return undefined;
  });
  return seen;
}

/** The hash as the service's clients reckon it, written out once more. */
const hashOf = (...names: string[]): string =>
  `2:${createHash("sha256").update(names.toSorted().join("")).digest().subarray(0, 6).toString("base64")}`;

it("gives the whole hash of the right devices when a message has missed one, by number and by LID", async () => {
  const sim = await simulate({ behaviour: { wholePhash: true } });
  await sim.addNumber(NUMBER, { lid: "100000000000001" });
  const contact = await sim.addContact(CONTACT, { lid: "200000000000002" });
  const client = await link(sim, NUMBER);
  const first = await client.say(contact.jid, "complete");
  // A companion that the first client is not told of.
  await sim.faults.holdDeliveries({ number: NUMBER, device: 1 });
  await link(sim, NUMBER);
  const { ack } = await client.say(contact.jid, "incomplete");

  const names = (server: string, own: string, other: string) =>
    hashOf(`${own}.0:0@${server}`, `${own}.0:1@${server}`, `${own}.0:2@${server}`, `${other}.0:0@${server}`);
  expect(first.ack?.attrs.phash).toBeUndefined();
  expect(ack?.attrs.phash).toBe(names("s.whatsapp.net", NUMBER, CONTACT));
  const { world } = (sim as LibrarySimulator).server;
  const devices = [NUMBER, CONTACT].flatMap((number) => listedDevices(world.account(number)));
  const byLid = participantHash(devices, "lid", { wholePhash: true });
  expect(byLid).toBe(names("lid", "100000000000001", "200000000000002"));
  await sim.expectViolation("device_list");
  await sim.faults.clear();
});

it("tells companions of their account's devices by account_sync, and everybody else as before", async () => {
  const sim = await simulate({ behaviour: { accountSync: true } });
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  // The contact asks for the number's devices, and hears of changes from then on.
  await contact.sendText(NUMBER, "hi");
  await client.untilText("hi");
  const notifications = sentTo(sim, 1, "notification");
  await link(sim, NUMBER);
  const told = await until("notification", () => notifications.find(({ attrs }) => attrs.type !== "encrypt"));

  expect(told.attrs).toMatchObject({ type: "account_sync", from: `${NUMBER}@s.whatsapp.net` });
  const devices = child(told, "devices");
  expect(devices?.attrs.dhash).toBe(
    hashOf(...[0, 1, 2].map((device) => `${NUMBER}.0:${device}@s.whatsapp.net`)),
  );
  expect(children(devices, "device").map(({ attrs }) => attrs)).toEqual([
    { jid: `${NUMBER}@s.whatsapp.net` },
    { jid: `${NUMBER}:1@s.whatsapp.net`, "key-index": "1" },
    { jid: `${NUMBER}:2@s.whatsapp.net`, "key-index": "2" },
  ]);
  expect(await sim.countStanzas({ contact: CONTACT, tag: "notification", type: "devices" })).toBeGreaterThan(
    0,
  );
  expect(await sim.countStanzas({ contact: CONTACT, tag: "notification", type: "account_sync" })).toBe(0);
});

const marks = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

/** The client asks for more of its backlog. */
const ask = async ({ socket }: Client, count: number): Promise<void> =>
  await socket.sendNode({
    tag: "ib",
    attrs: {},
    content: [{ tag: "offline_batch", attrs: { count: String(count) } }],
  });

it("hands a backlog over in windows, and nothing live before it is drained", async () => {
  const sim = await simulate({ behaviour: { backlogWindows: true, privacyTokens: false } });
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  for (let index = 0; index < 120; index += 1) await contact.sendText(NUMBER, `waited ${index}`);

  const since = (await sim.stanzas()).at(-1)!.seq;
  const sentOf = async (tag: string) =>
    await sim.stanzas({ number: NUMBER, device: 1, direction: "out", tag, since });
  const ends = async () => (await sentOf("ib")).filter(({ children: [tag] }) => tag === "offline").length;
  const back = again(sim, client);
  // A bare client asks once, for a hundred, and confirms what it gets.
  await until("first window", async () => (await sim.pending(NUMBER)) === 15);
  await contact.sendText(NUMBER, "live");

  expect((await sentOf("message")).map(({ attrs }) => attrs.offline)).toEqual(marks(105));
  expect(await ends()).toBe(0);
  await ask(back, 10);
  await until("second window", async () => (await sim.pending(NUMBER)) === 6);
  expect(await ends()).toBe(0);
  await ask(back, 200);
  // A bare client reads the live one before the last of the backlog.
  await until("all", () => back.texts.length === 121);

  expect((await sentOf("message")).map(({ attrs }) => attrs.offline)).toEqual([...marks(120), undefined]);
  expect(await ends()).toBe(1);
  expect(new Set(back.texts)).toEqual(
    new Set([...Array.from({ length: 120 }, (_, index) => `waited ${index}`), "live"]),
  );
});

it("goes on with what was not confirmed when the line breaks between two windows", async () => {
  const sim = await simulate({ behaviour: { backlogWindows: true, privacyTokens: false } });
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await client.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  for (let index = 0; index < 120; index += 1) await contact.sendText(NUMBER, `waited ${index}`);
  const first = again(sim, client);
  await until("receipts", async () => (await sim.pending(NUMBER)) === 15);
  await sim.faults.dropSocket({ number: NUMBER });
  await first.untilClosed();

  const second = await again(sim, client).untilOpen();
  await until("all", () => second.texts.length === 15);

  expect(second.texts).toEqual(Array.from({ length: 15 }, (_, index) => `waited ${105 + index}`));
});

it("tells what a group's members have got in one receipt with an id of its own", async () => {
  const sim = await simulate({ behaviour: { aggregatedReceipts: true } });
  await sim.addNumber(NUMBER);
  const others = await sim.addContacts(3, { prefix: "316200" });
  const client = await link(sim, NUMBER);
  const group = await sim.addGroup({ subject: "Team", creator: NUMBER, members: [NUMBER, ...others] });
  const receipts = sentTo(sim, 1, "receipt");
  const { id } = await client.say(group.id, "hello");
  await until("receipts", () => receipts.flatMap((receipt) => usersOf(receipt)).length >= 4);
  await sim.markRead(others[0]!, id);
  const read = await until("read", () => receipts.find(({ attrs }) => attrs.type === "read"));
  await until("acks", async () => (await sim.pending(NUMBER)) === 0);

  const delivered = receipts.filter(({ attrs }) => attrs.type === undefined);
  expect(delivered).toHaveLength(1);
  expect(delivered[0]!.attrs).toMatchObject({ from: group.id });
  expect(delivered[0]!.attrs.id).not.toBe(id);
  expect(child(delivered[0], "participants")?.attrs).toEqual({ key: id, message_id: id });
  const lids = await Promise.all(others.map(async (number) => (await sim.contact(number)).lid));
  expect(new Set(usersOf(delivered[0]!))).toEqual(new Set(lids));
  expect(usersOf(read)).toEqual([lids[0]]);
});

const usersOf = (receipt: BinaryNode): string[] =>
  children(child(receipt, "participants"), "user").map(({ attrs }) => attrs.jid!);

it("puts the secret of a poll only beside an own device's copy of it, where phones still find it", async () => {
  const sim = await simulate({ behaviour: { secretOutsideOwnCopy: true } });
  const number = await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { devices: 2 });
  const client = await link(sim, NUMBER);
  const poll = { kind: "poll", name: "Lunch?", options: ["yes", "no"] } satisfies Content;
  const own = await number.sendAsOwner(CONTACT, poll);
  const theirs = await contact.send(NUMBER, poll);
  const pollOf = async ({ id }: { id: string }) =>
    await until(`poll ${id}`, () => client.received.find(({ message }) => message.key.id === id)?.message);

  // A bare client looks inside the copy only.
  expect((await pollOf(own)).message).not.toHaveProperty("messageContextInfo.messageSecret");
  expect((await pollOf(theirs)).message).toHaveProperty("messageContextInfo.messageSecret");
  // The contact's other device has its own copy only: the vote would be a violation there if it did not open.
  await number.votePollAsOwner(theirs.id, ["yes"]);
  expect(await contact.waitForMessage({ kind: "vote" })).toMatchObject({ choices: ["yes"] });
  await until("both", async () =>
    (await sim.transcript({ contact: CONTACT })).every(({ decrypted }) => decrypted),
  );
});

it("seals edits with the secret of the message that they are about, by number and by LID", async () => {
  const sim = await simulate({ behaviour: { sealedEdits: true } });
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  for (const addressing of ["pn", "lid"] as const) {
    const contact = await sim.addContact(`3161111111${addressing.length}`, { addressing });
    const { id } = await contact.sendText(NUMBER, "helo");
    const { message: original } = await client.untilText("helo");
    const edit = await contact.edit(id, "hello");
    const { message } = await until("edit", () =>
      client.received.find(({ message: { key } }) => key.id === edit.id),
    );

    const sealed = message.message?.secretEncryptedMessage;
    expect(sealed).toMatchObject({ secretEncType: 2, targetMessageKey: { id } });
    const secret = original.message!.messageContextInfo!.messageSecret!;
    const plain = openSealed(sealed!, secret, id, addressing === "pn" ? contact.jid : contact.lid);
    expect(plain.protocolMessage).toMatchObject({ type: 14, editedMessage: { conversation: "hello" } });
    client.received.length = 0;
  }
});

it("has phones read sealed edits", async () => {
  const sim = await simulate({ behaviour: { sealedEdits: true } });
  await sim.addNumber(NUMBER);
  const [anna, ben] = [await sim.addContact(CONTACT), await sim.addContact("31611111112")];
  const group = await sim.addGroup({ subject: "Team", members: [anna.number, ben.number] });
  const { id } = await anna.sendText(group.id, "helo");
  await ben.waitForMessage({ id });
  await anna.edit(id, "hello");

  expect(await ben.waitForMessage({ kind: "edit" })).toMatchObject({ text: "hello", target: id });
});

/** As the references open it, written out once more. */
function openSealed(
  { encPayload, encIv }: proto.Message.ISecretEncryptedMessage,
  secret: Uint8Array,
  id: string,
  author: string,
): proto.IMessage {
  const key = hkdfSync("sha256", secret, new Uint8Array(32), `${id}${author}${author}Message Edit`, 32);
  const payload = Buffer.from(encPayload!);
  const decipher = createDecipheriv("aes-256-gcm", Buffer.from(key), encIv!);
  decipher.setAuthTag(payload.subarray(-16));
  const opened = Buffer.concat([decipher.update(payload.subarray(0, -16)), decipher.final()]);
  return proto.Message.decode(opened);
}
