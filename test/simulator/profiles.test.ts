import type { BinaryNode } from "@whiskeysockets/baileys";
import { expect, it } from "vitest";
import { type Client, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const JPEG = Buffer.from("ffd8ffe000104a46494600", "hex");

/** Notifications of a kind, whole. */
function notified(client: Client, type: string): BinaryNode[] {
  const seen: BinaryNode[] = [];
  client.socket.ws.on(`CB:notification,type:${type}`, (node: BinaryNode) => seen.push(node));
  return seen;
}

const childOf = (node: BinaryNode | undefined): BinaryNode | undefined =>
  (node?.content as BinaryNode[] | undefined)?.[0];

async function world() {
  const sim = await simulate();
  const owner = await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { name: "Ana" });
  const client = await link(sim, NUMBER);
  return { sim, owner, contact, client };
}

it("pictures are given to whoever may see them, and changes are told", async () => {
  const { sim, owner, contact, client } = await world();
  await expect(client.socket.profilePictureUrl(contact.jid)).rejects.toThrow("item-not-found");
  // Whoever has asked for somebody's devices is told of his picture.
  await client.say(contact.jid, "hello");
  const [told, own] = [notified(client, "picture"), notified(client, "account_sync")];
  const changes: (string | null | undefined)[] = [];
  client.socket.ev.on("contacts.update", (all) => changes.push(...all.map(({ imgUrl }) => imgUrl)));

  const { id } = await sim.setPicture(CONTACT, JPEG);
  await sim.setPicture(NUMBER, JPEG);
  await until("both", () => told.length > 0 && own.length > 0);
  const url = await client.socket.profilePictureUrl(contact.jid, "image");
  expect(url).toContain(sim.mediaUrl);
  expect(childOf(told[0])).toMatchObject({ tag: "set", attrs: { jid: contact.lid, id } });
  expect(own[0]).toMatchObject({ attrs: { from: owner.jid }, content: [{ tag: "picture" }] });
  await until("the event", () => changes.includes("changed"));

  await sim.setPicture(CONTACT, null);
  await until("removed", () => changes.includes("removed"));
  await sim.setPicture(CONTACT, JPEG);
  await sim.setPrivacy(CONTACT, "profile", "none");
  await expect(client.socket.profilePictureUrl(contact.jid)).rejects.toThrow("not-authorized");
  await client.socket.removeProfilePicture(owner.jid);
  await expect(client.socket.profilePictureUrl(owner.jid)).rejects.toThrow("item-not-found");
});

it("privacy and the list of blocked people are kept, changed from either side, and told to the other", async () => {
  const { sim, contact, client } = await world();
  const second = await link(sim, NUMBER);
  const told = notified(second, "account_sync");
  const blocked: string[] = [];
  second.socket.ev.on("blocklist.update", ({ blocklist, type }) => blocked.push(`${type} ${blocklist}`));

  await client.socket.updateLastSeenPrivacy("none");
  await until("privacy", () => told.some((node) => childOf(node)?.tag === "privacy"));
  expect((await sim.privacy(NUMBER)).last).toBe("none");
  await sim.setPrivacy(NUMBER, "groupadd", "contacts");
  expect(await client.socket.fetchPrivacySettings(true)).toMatchObject({
    last: "none",
    groupadd: "contacts",
  });

  // Blocking takes both addresses.
  await client.socket.signalRepository.lidMapping.storeLIDPNMappings([{ lid: contact.lid, pn: contact.jid }]);
  await client.socket.updateBlockStatus(contact.jid, "block");
  await until("blocked", () => blocked.includes(`add ${contact.lid}`));
  expect(await client.socket.fetchBlocklist()).toEqual([contact.lid]);
  const group = await sim.addGroup({ subject: "Both", creator: CONTACT, members: [CONTACT, NUMBER] });
  await contact.sendText(NUMBER, "only one tick");
  await contact.sendText(group.id, "but here");
  await client.untilText("but here");
  expect(client.received.map(({ text }) => text)).not.toContain("only one tick");
  await sim.block(NUMBER, CONTACT, "unblock");
  await until("unblocked", () => blocked.includes(`remove ${contact.lid}`));
  expect(await sim.blocked(NUMBER)).toEqual([]);
});

it("businesses say what they are, and their messages bear their verified name", async () => {
  const { sim, contact, client } = await world();
  expect(await client.socket.getBusinessProfile(contact.jid)).toBeUndefined();
  await sim.setBusiness(CONTACT, {
    name: "Ana's Bakery",
    description: "Bread",
    category: "Shop",
    website: "https://example.com",
    hours: { timezone: "Europe/Berlin", days: [{ day: "mon", open: 480, close: 1080 }] },
  });
  await contact.sendText(NUMBER, "fresh bread", { pushName: "" });
  const { message } = await client.untilText("fresh bread");

  expect(await client.socket.getBusinessProfile(contact.jid)).toMatchObject({
    wid: contact.jid,
    description: "Bread",
    category: "Shop",
    website: ["https://example.com"],
    business_hours: {
      timezone: "Europe/Berlin",
      business_config: [{ day_of_week: "mon", open_time: "480" }],
    },
  });
  expect(message.verifiedBizName).toBe("Ana's Bakery");
  expect(message.pushName).toBeFalsy();
});

it("names change: with the next message, and by app state for the own companions", async () => {
  const { sim, contact, client } = await world();
  await sim.setPushName(CONTACT, "Anna");
  await contact.sendText(NUMBER, "new name");
  expect((await client.untilText("new name")).message.pushName).toBe("Anna");
  await sim.setPushName(NUMBER, "The Shop");
  await until("own name", () => client.auth.creds.me?.name === "The Shop");
});
