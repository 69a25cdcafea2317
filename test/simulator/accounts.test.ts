import type { BaileysEventMap } from "@whiskeysockets/baileys";
import { expect, test } from "vitest";
import { Client, link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const ANN = "31611111111";
const BEN = "31622222222";

const lidOf = (jid: string) => jid.split("@")[0]!;

test("a new companion is told of chats and of pairs of numbers and LIDs", async () => {
  const sim = await simulate();
  const ann = await sim.addContact(ANN, { name: "Ann" });
  const ben = await sim.addContact(BEN, { addressing: "lid" });
  const extra = { number: "31699999999", lid: "199999999999999" };
  const group = await sim.addGroup({ subject: "Team", members: [ANN, BEN] });
  await sim.addNumber(NUMBER, {
    history: {
      pairs: [extra],
      chats: [
        { with: ANN, unread: 1, messages: [{ text: "hi" }, { text: "hello", fromMe: true }] },
        { with: ben.lid, messages: [{ text: "by LID" }] },
        { with: group.id, messages: [{ text: "to all", from: ANN, timestamp: 1_700_000_000 }] },
      ],
    },
  });
  const client = new Client(sim);
  const histories: BaileysEventMap["messaging-history.set"][] = [];
  const connect = client.connect.bind(client);
  // The history comes to the socket after the one that was paired.
  client.connect = () => {
    const socket = connect();
    socket.ev.on("messaging-history.set", (history) => histories.push(history));
    return socket;
  };
  await sim.scan(NUMBER, await until("QR", () => client.qrs.at(-1)));
  await client.untilOpen();
  const { messages, chats } = await until("history", () => histories[0]);
  expect(messages.map(({ key, message }) => [key.remoteJid, key.fromMe, message?.conversation])).toEqual([
    [ann.jid, true, "hello"],
    [ann.jid, false, "hi"],
    [ben.lid, false, "by LID"],
    [group.id, false, "to all"],
  ]);
  expect(messages.at(-1)!.key.participant).toBe(ann.lid);
  expect(chats.map(({ id, unreadCount }) => [id, unreadCount])).toEqual([
    [ann.jid, 1],
    [ben.lid, 0],
    [group.id, 0],
  ]);
  const { lidMapping } = client.socket.signalRepository;
  expect(await until("pair", () => lidMapping.getPNForLID(`${extra.lid}@lid`))).toContain(extra.number);
  expect(await lidMapping.getPNForLID(ben.lid)).toContain(BEN);
  await ann.sendText(NUMBER, "and now");
  await client.untilText("and now");
});

test("'known' pairs name everybody but those who hide their number", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER, { history: { pairs: "known" } });
  const ann = await sim.addContact(ANN);
  const ben = await sim.addContact(BEN, { hidesNumber: true });
  const { lidMapping } = (await link(sim, NUMBER)).socket.signalRepository;
  expect(await until("pair", () => lidMapping.getPNForLID(ann.lid))).toContain(ANN);
  expect(await lidMapping.getPNForLID(ben.lid)).toBeNull();
  expect(lidOf(ben.lid)).not.toBe(BEN);
});

test("one number is linked by several clients at a time, and each hears everything", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const ann = await sim.addContact(ANN);
  const first = await link(sim, NUMBER);
  const second = await link(sim, NUMBER);
  const third = await link(sim, NUMBER);
  const group = await sim.addGroup({ subject: "Team", members: [ANN, NUMBER] });
  await ann.sendText(NUMBER, "to all of you");
  await ann.sendText(group.id, "in the group");
  await number.typeAsOwner(ANN, "from the phone");
  for (const client of [first, second, third]) {
    for (const text of ["to all of you", "in the group", "from the phone"]) await client.untilText(text);
  }
  const { id } = await first.say(ann.jid, "from the first");
  const copy = await second.untilText("from the first");
  expect(copy.message.key).toMatchObject({ id, fromMe: true, remoteJid: ann.jid });
  await third.say(group.id, "from the third");
  await first.untilText("from the third");
  await number.logoutCompanion(2);
  expect(await second.untilClosed(2)).toBe(401);
  await ann.sendText(NUMBER, "to those who are left");
  for (const client of [first, third]) await client.untilText("to those who are left");
  expect((await sim.companions(NUMBER)).map(({ device }) => device)).toEqual([1, 3]);
});

test("an account in a reach-out lock may go on with its chats and begin none", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const ann = await sim.addContact(ANN);
  const ben = await sim.addContact(BEN);
  const client = await link(sim, NUMBER);
  const locks: unknown[] = [];
  client.socket.ev.on("connection.update", ({ reachoutTimeLock }) => {
    if (reachoutTimeLock) locks.push(reachoutTimeLock);
  });
  await ann.sendText(NUMBER, "hello");
  await client.untilText("hello");
  await sim.faults.reachoutTimelock({ number: NUMBER, seconds: 3600 });
  await until("notification", () => locks.length === 1);
  expect(locks[0]).toMatchObject({ isActive: true, enforcementType: "BIZ_QUALITY" });
  expect((await client.say(ann.jid, "still friends")).ack!.attrs.error).toBeUndefined();
  expect((await client.say(ben.jid, "hello stranger")).ack!.attrs.error).toBe("463");
  const asked = await client.socket.fetchAccountReachoutTimelock();
  expect(asked.timeEnforcementEnds!.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
  await sim.faults.reachoutTimelock({ number: NUMBER, seconds: 0 });
  await until("end", () => locks.some((lock) => !(lock as { isActive: boolean }).isActive));
  expect((await client.say(ben.jid, "hello now")).ack!.attrs.error).toBeUndefined();
  await ben.waitForMessage({ text: "hello now" });
});

test("groups asked for too often are refused with 429", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  const group = await sim.addGroup({ subject: "Team", members: [ANN, NUMBER] });
  const client = await link(sim, NUMBER);
  await sim.faults.rateOverlimit({ number: NUMBER, times: 2 });
  const { groupFetchAllParticipating, groupMetadata } = client.socket;
  await expect(groupFetchAllParticipating()).rejects.toMatchObject({ message: "rate-overlimit", data: 429 });
  await expect(groupMetadata(group.id)).rejects.toThrow("rate-overlimit");
  expect(Object.keys(await groupFetchAllParticipating())).toEqual([group.id]);
});

test("a community has a parent, its announcements and linked groups; who left it is told so", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  const client = await link(sim, NUMBER);
  const members = [ANN, NUMBER];
  const parent = await sim.addGroup({ subject: "Town", members, community: { parent: true } });
  const linkedParent = parent.id;
  const news = await sim.addGroup({
    subject: "Town news",
    members,
    announce: true,
    community: { announcements: true, linkedParent },
  });
  const chat = await sim.addGroup({ subject: "Market", members, locked: true, community: { linkedParent } });
  const all = await client.socket.groupFetchAllParticipating();
  expect(all[parent.id]).toMatchObject({ isCommunity: true });
  expect(all[news.id]).toMatchObject({ isCommunityAnnounce: true, linkedParent, announce: true });
  expect(all[chat.id]).toMatchObject({ linkedParent, restrict: true, isCommunity: false });
  await sim.changeGroup(news.id, { promote: [NUMBER] });
  expect((await client.say(news.id, "as an admin")).ack!.attrs.error).toBeUndefined();
  await sim.changeGroup(news.id, { demote: [NUMBER] });
  expect((await client.say(news.id, "as a member")).ack!.attrs.error).toBe("403");

  const seen: string[] = [];
  client.socket.ev.on("group-participants.update", ({ id, action }) => seen.push(`${id} ${action}`));
  await sim.changeGroup(chat.id, { remove: [ANN], by: ANN });
  await until("leaving", () => seen.includes(`${chat.id} remove`));
  const left = await sim.stanzas({ number: NUMBER, device: 1, tag: "notification", child: "remove" });
  expect(left).toHaveLength(1);
  await client.socket.groupLeave(chat.id);
  expect(Object.keys(await client.socket.groupFetchAllParticipating())).not.toContain(chat.id);
  await expect(number.typeAsOwner(chat.id, "gone")).rejects.toThrow("cannot see the group");
});
