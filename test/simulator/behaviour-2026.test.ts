import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import { participantHash } from "../../src/simulator/server/phash.ts";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { type BinaryNode, child, children } from "../../src/simulator/wire/nodes.ts";
import { listedDevices } from "../../src/simulator/world/accounts.ts";
import { link, simulate, until } from "./_setup.ts";

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
