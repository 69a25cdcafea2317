import { createHash } from "node:crypto";
import { decryptPollVote, jidNormalizedUser } from "@whiskeysockets/baileys";
import type { WAMessage } from "@whiskeysockets/baileys";
import { expect, test } from "vitest";
import type { Content, ServiceBehaviour, Simulator } from "../../src/simulator/index.ts";
import { link, proto, simulate, until } from "./_setup.ts";
import type { Client } from "./_setup.ts";

const NUMBER = "31600000001";
const GUEST = "31600000002";
const HIDDEN = "31600000003";
const GUEST_JID = `${GUEST}@s.whatsapp.net`;

async function linked(
  behaviour: Partial<ServiceBehaviour> = {},
): Promise<{ sim: Simulator; client: Client }> {
  const sim = await simulate({ behaviour });
  await sim.addNumber(NUMBER);
  await sim.addContact(GUEST);
  await sim.addContact(HIDDEN, { hidesNumber: true });
  return { sim, client: await link(sim, NUMBER) };
}

const arrival = (client: Client, id: string): Promise<WAMessage> =>
  until(`message ${id}`, () => client.received.find(({ message }) => message.key.id === id)?.message);

const VCARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Ana\nTEL;waid=31600000009:+31 6 00000009\nEND:VCARD";

const incoming: [Content, (message: proto.IMessage) => unknown, object][] = [
  [
    { kind: "location", latitude: 52.37, longitude: 4.89, name: "Dam", address: "Amsterdam" },
    (message) => message.locationMessage,
    { degreesLatitude: 52.37, degreesLongitude: 4.89, name: "Dam", address: "Amsterdam" },
  ],
  [
    { kind: "contacts", contacts: [{ name: "Ana", vcard: VCARD }] },
    (message) => message.contactMessage,
    { vcard: VCARD },
  ],
  [
    {
      kind: "contacts",
      contacts: [
        { name: "Ana", vcard: VCARD },
        { name: "Bo", vcard: VCARD },
      ],
    },
    (message) => message.contactsArrayMessage?.contacts,
    [{ displayName: "Ana" }, { displayName: "Bo" }],
  ],
  [
    { kind: "poll", name: "When?", options: ["now", "later"], selectable: 1 },
    (message) => message.pollCreationMessageV3,
    { name: "When?", selectableOptionsCount: 1 },
  ],
  [
    {
      kind: "raw",
      bytes: proto.Message.encode({ buttonsResponseMessage: { selectedButtonId: "b1" } }).finish(),
    },
    (message) => message.buttonsResponseMessage,
    { selectedButtonId: "b1" },
  ],
];

test("places, contacts, polls and anything else come from a contact", async () => {
  const { sim, client } = await linked();
  for (const [content, read, expected] of incoming) {
    const { id } = await sim.send(GUEST, NUMBER, content);
    const found = read((await arrival(client, id)).message!);
    expect(found).toMatchObject(expected);
  }
});

test("a contact reacts, edits and revokes, and the client understands each", async () => {
  // Baileys by itself opens no sealed edit.
  const { sim, client } = await linked({ sealedEdits: false });
  const { id: own } = await client.say(GUEST_JID, "a question");
  await sim.waitForMessage(GUEST, { id: own });
  await sim.react(GUEST, own, "👍");
  const reaction = await until("reaction", () =>
    client.received.find(({ message }) => message.message?.reactionMessage),
  );
  expect(reaction.message.message!.reactionMessage).toMatchObject({
    text: "👍",
    key: { id: own, fromMe: true },
  });

  const { id } = await sim.sendText(GUEST, NUMBER, "teh answer");
  await arrival(client, id);
  await sim.edit(GUEST, id, "the answer");
  const edit = await until("edit", () => client.updates.find(({ update }) => update.message?.editedMessage));
  expect(edit.key.id).toBe(id);
  expect(edit.update.message!.editedMessage!.message).toMatchObject({ conversation: "the answer" });
  await sim.revoke(GUEST, id);
  await until("revoke", () =>
    client.updates.find(({ key, update }) => key.id === id && update.messageStubType === 1),
  );
  const { attrs } = (await sim.stanzas({ contact: GUEST, tag: "message", direction: "in" })).at(-1)!;
  expect(attrs).toMatchObject({ edit: "7", type: "text" });
});

test("a client's reaction, edit, revoke, place and contact are told as such", async () => {
  const { sim, client } = await linked();
  const { id } = await sim.sendText(GUEST, NUMBER, "hello");
  const { key } = await arrival(client, id);
  const { socket } = client;
  await socket.sendMessage(GUEST_JID, { react: { text: "🙂", key } });
  await sim.waitForMessage(GUEST, { kind: "reaction", target: id, text: "🙂" });
  const sent = await socket.sendMessage(GUEST_JID, { text: "frist" });
  await socket.sendMessage(GUEST_JID, { text: "first", edit: sent!.key });
  await sim.waitForMessage(GUEST, { kind: "edit", target: sent!.key.id!, text: "first" });
  await socket.sendMessage(GUEST_JID, { delete: sent!.key });
  await sim.waitForMessage(GUEST, { kind: "revoke", target: sent!.key.id! });
  await socket.sendMessage(GUEST_JID, {
    location: { degreesLatitude: 1.5, degreesLongitude: 2.5, name: "here" },
  });
  expect(await sim.waitForMessage(GUEST, { kind: "location" })).toMatchObject({
    location: { latitude: 1.5, longitude: 2.5, name: "here" },
  });
  await socket.sendMessage(GUEST_JID, {
    contacts: { displayName: "Ana", contacts: [{ displayName: "Ana", vcard: VCARD }] },
  });
  expect(await sim.waitForMessage(GUEST, { kind: "contacts" })).toMatchObject({
    contacts: [{ vcard: VCARD }],
  });
  await socket.sendMessage(GUEST_JID, { text: "this one" }, { quoted: await arrival(client, id) });
  expect(await sim.waitForMessage(GUEST, { text: "this one" })).toMatchObject({
    quoted: { id, text: "hello" },
  });
});

/** What a vote that reached the client chose, under the addresses that open it. */
function choicesOf(client: Client, poll: WAMessage, vote: WAMessage, options: string[]) {
  const { id, lid } = client.auth.creds.me!;
  const { remoteJid, remoteJidAlt, participant, participantAlt, fromMe } = vote.key;
  const own = [jidNormalizedUser(id), jidNormalizedUser(lid!)];
  const voters = fromMe ? own : [participantAlt, remoteJidAlt, participant, remoteJid];
  const creators = poll.key.fromMe ? own : [poll.key.remoteJid!];
  const fits: { creator: string; voter: string; chosen: string[] }[] = [];
  for (const creator of creators) {
    for (const voter of voters.filter(Boolean).map((jid) => jidNormalizedUser(jid!))) {
      try {
        const { selectedOptions } = decryptPollVote(vote.message!.pollUpdateMessage!.vote!, {
          pollCreatorJid: creator,
          pollMsgId: poll.key.id!,
          pollEncKey: poll.message!.messageContextInfo!.messageSecret!,
          voterJid: voter,
        });
        const hashes = selectedOptions!.map((hash) => Buffer.from(hash).toString("hex"));
        const chosen = options.filter((option) => hashes.includes(hashOf(option)));
        fits.push({ creator, voter, chosen });
      } catch {
        // A wrong pair of addresses.
      }
    }
  }
  return fits;
}

const hashOf = (option: string) => createHash("sha256").update(option).digest("hex");

const pn = (number: string) => `${number}@s.whatsapp.net`;

const OPTIONS = ["red", "green", "blue"];

async function vote(client: Client, poll: WAMessage, voting: Promise<{ id: string }>) {
  const { id } = await voting;
  return choicesOf(client, poll, await arrival(client, id), OPTIONS);
}

test("contacts and the owner vote in the client's poll, change their votes and withdraw them", async () => {
  const { sim, client } = await linked();
  const poll = (await client.socket.sendMessage(GUEST_JID, { poll: { name: "Colour?", values: OPTIONS } }))!;
  const pollId = poll.key.id!;
  expect(await sim.waitForMessage(GUEST, { id: pollId })).toMatchObject({
    kind: "poll",
    poll: { name: "Colour?", options: OPTIONS, selectable: 0, hasSecret: true },
  });
  expect(await vote(client, poll, sim.votePoll(GUEST, pollId, ["red", "blue"]))).toEqual([
    { creator: pn(NUMBER), voter: pn(GUEST), chosen: ["red", "blue"] },
  ]);
  expect(await vote(client, poll, sim.votePoll(GUEST, pollId, ["green"]))).toMatchObject([
    { chosen: ["green"] },
  ]);
  expect(await vote(client, poll, sim.votePoll(GUEST, pollId, []))).toMatchObject([{ chosen: [] }]);
  await sim.waitForMessage(NUMBER, { kind: "poll" });
  expect(await vote(client, poll, sim.votePoll(NUMBER, pollId, ["blue"]))).toMatchObject([
    { chosen: ["blue"] },
  ]);
  await expect(sim.votePoll(GUEST, pollId, ["pink"])).rejects.toThrow('"pink" is no option');
  const { lid } = client.auth.creds.me!;
  expect(await vote(client, poll, sim.votePoll(GUEST, pollId, ["red"], { creator: "lid" }))).toMatchObject([
    { creator: jidNormalizedUser(lid!), chosen: ["red"] },
  ]);
  const read = (await sim.messages(NUMBER))
    .filter(({ kind }) => kind === "vote")
    .map(({ choices }) => choices);
  expect(read).toEqual([["red", "blue"], ["green"], [], ["red"]]);
});

test("somebody who hides the number votes under the LID", async () => {
  const { sim, client } = await linked();
  const { lid } = await sim.contact(HIDDEN);
  const poll = (await client.socket.sendMessage(lid, {
    poll: { name: "Colour?", values: OPTIONS, selectableCount: 1 },
  }))!;
  await sim.waitForMessage(HIDDEN, { id: poll.key.id! });
  const me = jidNormalizedUser(client.auth.creds.me!.lid!);
  expect(await vote(client, poll, sim.votePoll(HIDDEN, poll.key.id!, ["green"]))).toEqual([
    { creator: me, voter: lid, chosen: ["green"] },
  ]);
});

test("members of a group vote, react and send files under the group's addresses", async () => {
  const { sim, client } = await linked();
  for (const addressing of ["lid", "pn"] as const) {
    const group = await sim.addGroup({ subject: addressing, members: [NUMBER, GUEST], addressing });
    const poll = (await client.socket.sendMessage(group.id, { poll: { name: "Colour?", values: OPTIONS } }))!;
    await sim.waitForMessage(GUEST, { id: poll.key.id! });
    const { jid, lid } = await sim.contact(GUEST);
    const fits = await vote(client, poll, sim.votePoll(GUEST, poll.key.id!, ["blue"]));
    expect(fits).toMatchObject([{ voter: addressing === "lid" ? lid : jid, chosen: ["blue"] }]);
    const reaction = await sim.react(GUEST, poll.key.id!, "🎉");
    const { message } = await arrival(client, reaction.id);
    expect(message!.reactionMessage!.key).toMatchObject({ id: poll.key.id!, fromMe: true });
    const { id } = await sim.send(GUEST, group.id, {
      kind: "image",
      bytes: Buffer.from("jpeg"),
      caption: "us",
    });
    expect((await arrival(client, id)).message!.imageMessage!.caption).toBe("us");
  }
});

test("a contact's poll is voted in by the owner, and the vote comes to the client", async () => {
  const { sim, client } = await linked();
  const { id } = await sim.send(GUEST, NUMBER, { kind: "poll", name: "Colour?", options: OPTIONS });
  const poll = await arrival(client, id);
  const owner = await sim.number(NUMBER);
  await sim.waitForMessage(NUMBER, { id });
  expect(await vote(client, poll, owner.votePollAsOwner(id, ["red"]))).toMatchObject([{ chosen: ["red"] }]);
  expect(await sim.waitForMessage(GUEST, { kind: "vote" })).toMatchObject({ target: id, choices: ["red"] });
});

test("the owner's own messages of every kind come as copies", async () => {
  const { sim, client } = await linked();
  const owner = await sim.number(NUMBER);
  const { id } = await owner.sendAsOwner(GUEST, {
    kind: "image",
    bytes: Buffer.from("jpeg"),
    caption: "mine",
  });
  const { key, message } = await arrival(client, id);
  const { lid: guestLid } = await sim.contact(GUEST);
  expect(key).toMatchObject({ fromMe: true, remoteJid: guestLid, remoteJidAlt: GUEST_JID });
  expect(message!.imageMessage!.caption).toBe("mine");
  await owner.typeAsOwner(HIDDEN, "to you");
  const { lid } = await sim.contact(HIDDEN);
  expect((await client.untilText("to you")).message.key).toMatchObject({ fromMe: true, remoteJid: lid });
  await sim.waitForMessage(HIDDEN, { text: "to you" });
});

test("marks, typing and statuses reach the client", async () => {
  const { sim, client } = await linked();
  const { id } = await client.say(GUEST_JID, "listen");
  await sim.waitForMessage(GUEST, { id });
  await sim.markRead(GUEST, id);
  await until("read", () => client.statusOf(id) === 4);
  await sim.markPlayed(GUEST, id);
  await until("played", () => client.statusOf(id) === 5);

  // Who is not available hears of no typing, and a client without a name says nothing of itself.
  client.auth.creds.me!.name = "Shop";
  await client.socket.sendPresenceUpdate("available");
  await until("available", async () => (await sim.presence(NUMBER)).available.includes(1));
  const seen: string[] = [];
  client.socket.ev.on("presence.update", ({ id: chat, presences }) => {
    for (const { lastKnownPresence } of Object.values(presences)) seen.push(`${chat} ${lastKnownPresence}`);
  });
  await sim.typing(GUEST, NUMBER);
  await sim.typing(GUEST, NUMBER, "recording");
  await sim.typing(GUEST, NUMBER, "paused");
  await until("typing", () => seen.length === 3);
  const { lid } = await sim.contact(GUEST);
  expect(seen).toEqual(["composing", "recording", "available"].map((state) => `${lid} ${state}`));
  await client.socket.sendPresenceUpdate("composing", GUEST_JID);
  await until(
    "typing of the client",
    async () => (await sim.countStanzas({ contact: GUEST, tag: "chatstate", direction: "out" })) > 0,
  );

  const status = await sim.postStatus(GUEST, "on my way");
  expect((await arrival(client, status.id)).key).toMatchObject({
    remoteJid: "status@broadcast",
    participant: GUEST_JID,
  });
  await sim.waitForMessage(NUMBER, { id: status.id, text: "on my way" });
});
