import type { PresenceData } from "@whiskeysockets/baileys";
import { expect, it } from "vitest";
import { type Client, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

/** What a client was told of who is there, in order. */
function told(client: Client): (PresenceData & { of: string })[] {
  const seen: (PresenceData & { of: string })[] = [];
  client.socket.ev.on("presence.update", ({ id, presences }) => {
    for (const presence of Object.values(presences)) seen.push({ of: id, ...presence });
  });
  return seen;
}

it("is told to whoever asked: available, unavailable and when last, typing, recording", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  // A client without a name says nothing of itself.
  client.auth.creds.me!.name = "Shop";
  await client.socket.sendPresenceUpdate("available");
  await until("available", async () => (await sim.presence(NUMBER)).available.includes(1));
  const seen = told(client);

  await client.socket.presenceSubscribe(contact.jid);
  await until("unavailable", () => seen.length === 1);
  await sim.setPresence(CONTACT, "available");
  await sim.typing(CONTACT, NUMBER);
  await sim.typing(CONTACT, NUMBER, "recording");
  await sim.typing(CONTACT, NUMBER, "paused");
  await sim.setPresence(CONTACT, "unavailable");
  await until("all", () => seen.length === 6);

  expect(seen.map(({ of, lastKnownPresence }) => `${of} ${lastKnownPresence}`)).toEqual([
    // Presence comes from the address that was asked for, typing from the one that is written by.
    `${contact.jid} unavailable`,
    `${contact.jid} available`,
    `${contact.lid} composing`,
    `${contact.lid} recording`,
    `${contact.lid} available`,
    `${contact.jid} unavailable`,
  ]);
  expect(seen[0]!.lastSeen).toBeUndefined();
  expect(Math.abs(seen[5]!.lastSeen! - Date.now() / 1000)).toBeLessThan(60);
  // Who hides when he was there is seen to be away, and no more.
  await sim.setPrivacy(CONTACT, "last", "none");
  await sim.setPrivacy(CONTACT, "online", "match_last_seen");
  await sim.setPresence(CONTACT, "available");
  await until("hidden", () => seen.length === 7);
  expect(seen[6]).toMatchObject({ lastKnownPresence: "unavailable", lastSeen: undefined });
});

it("is not told to a client that is not available itself, nor is typing", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER, { markOnlineOnConnect: false });
  client.auth.creds.me!.name = "Shop";
  const seen = told(client);
  await client.socket.presenceSubscribe(contact.jid);
  await sim.setPresence(CONTACT, "available");
  await sim.typing(CONTACT, NUMBER);
  await contact.sendText(NUMBER, "hello");
  await client.untilText("hello");
  expect(seen).toEqual([]);

  await client.socket.sendPresenceUpdate("available");
  await until("now", () => seen.length > 0);
  expect(seen[0]!.lastKnownPresence).toBe("available");
});
