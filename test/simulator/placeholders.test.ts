import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import { link, proto, simulate, until } from "./_setup.ts";
import type { Client, Received } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const TARGET = { number: NUMBER };
const { CIPHERTEXT } = proto.WebMessageInfo.StubType;

/** Keeps no more than that a message was asked for: then the client shows what the phone has sent, and nothing of its own. */
function bareCache() {
  const asked = new Set<string>();
  return {
    get: (key: string): any => asked.has(key) || undefined,
    set: (key: string) => void asked.add(key),
    del: (key: string) => void asked.delete(key),
    flushAll: () => asked.clear(),
  };
}

async function linked(sim: Simulator) {
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { name: "Ana" });
  return { contact, client: await link(sim, NUMBER, { placeholderResendCache: bareCache() }) };
}

const copiesOf = (client: Client, id: string): Received[] =>
  client.received.filter(({ message }) => message.key.id === id);

/** The companion's request has reached the service. */
const untilAsked = (sim: Simulator, times = 1): Promise<boolean> =>
  until("request to the phone", async () => {
    const peer = { number: NUMBER, device: 1, direction: "in", tag: "message" } as const;
    return (await sim.stanzas(peer)).filter(({ attrs }) => attrs.category === "peer").length === times;
  });

/** What the phone has sent to the companion about the account, besides what every new one is told. */
async function answers(sim: Simulator): Promise<number> {
  const sent = await sim.transcript({ number: NUMBER, direction: "to_companion" });
  return sent.filter(({ from, kind }) => from === NUMBER && kind === "protocol").length - 2;
}

it("delivers a message without content, which the owner's phone sends when it is asked", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.placeholders({ ...TARGET, n: 1 });
  // Clients ask for what is at most two weeks old.
  const timestamp = Math.floor(Date.now() / 1000) - 3600;
  const { id } = await contact.sendText(NUMBER, "hidden", { timestamp });
  const { message } = await client.untilText("hidden");

  const [stub] = copiesOf(client, id);
  expect(stub!.message.messageStubType).toBe(CIPHERTEXT);
  expect(stub!.message.message ?? undefined).toBeUndefined();
  expect(message).toMatchObject({
    key: { id, remoteJid: contact.lid, fromMe: false },
    pushName: "Ana",
    message: { conversation: "hidden" },
  });
  expect(Number(message.messageTimestamp)).toBe(timestamp);
  const [stanza] = await sim.stanzas({ number: NUMBER, device: 1, direction: "out", id });
  expect(stanza!.children).toEqual(["unavailable"]);
  const [entry] = await sim.transcript({ number: NUMBER, id, direction: "to_companion" });
  expect(entry).toMatchObject({ unavailable: true, decrypted: false, text: "hidden" });

  await contact.sendText(NUMBER, "as always");
  await client.untilText("as always");
});

it("has the phone send a group's poll with the secret for its votes, and without the sender's key", async () => {
  const sim = await simulate();
  const { client } = await linked(sim);
  const { id: group } = await sim.addGroup({ subject: "All", members: [NUMBER, CONTACT], addressing: "pn" });
  await sim.faults.placeholders({ ...TARGET, n: 1 });
  const { id } = await sim.send(CONTACT, group, { kind: "poll", name: "When?", options: ["now", "later"] });
  const { message } = await until("poll", () => copiesOf(client, id)[1]);

  expect(message.key).toMatchObject({ remoteJid: group, participant: `${CONTACT}@s.whatsapp.net` });
  expect(message.message?.messageContextInfo?.messageSecret).toHaveLength(32);
  expect(message.message?.senderKeyDistributionMessage ?? undefined).toBeUndefined();
});

it("has a phone that keeps silent, one that knows nothing, and one that answers when it is back", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.placeholders({ ...TARGET, n: 1, phone: "silent" });
  const silent = await contact.sendText(NUMBER, "never told");
  await untilAsked(sim, 1);
  await sim.faults.placeholders({ ...TARGET, n: 1, phone: "not_found" });
  const unknown = await contact.sendText(NUMBER, "not known");
  await untilAsked(sim, 2);
  await until("the phone's regret", async () => (await answers(sim)) === 1);

  await sim.faults.holdDeliveries({ ...TARGET, device: 0 });
  await sim.faults.placeholders({ ...TARGET, n: 1 });
  const late = await contact.sendText(NUMBER, "late");
  await untilAsked(sim, 3);
  await contact.sendText(NUMBER, "sent after it");
  await client.untilText("sent after it");
  expect(copiesOf(client, late.id)).toHaveLength(1);
  await sim.faults.releaseDeliveries(TARGET);
  await client.untilText("late");

  expect([copiesOf(client, silent.id).length, copiesOf(client, unknown.id).length]).toEqual([1, 1]);
  expect(await answers(sim)).toBe(2);
});

it("names why a message is not available", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.placeholders({ ...TARGET, n: 1, type: "view_once_unavailable_fanout" });
  const { id } = await contact.sendText(NUMBER, "for one look");
  await until("ack", async () => (await sim.pending(NUMBER)) === 0);
  // A client must not ask for these.
  expect(copiesOf(client, id)).toEqual([]);
  await sim.faults.placeholders({ ...TARGET, n: 1 });
  await contact.sendText(NUMBER, "asked for");
  await client.untilText("asked for");
  await untilAsked(sim, 1);
});
