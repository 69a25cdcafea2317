import { createHash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { buildAddonAdditionalData, decryptAddonPayload, encryptAddonPayload } from "zapo-js/message";
import { proto } from "zapo-js/proto";
import { link as linkBaileys, simulate, until } from "./_setup.ts";
import { confirmedByZapo } from "./_truth.ts";
import { ANN, BEFORE_LOGIN, BEN, NUMBER, connect, met, namesOf, receiptsFor, world } from "./_zapo-world.ts";

// zapo shares no code with Baileys: what both understand is not a habit of one of them.

const sha256 = (bytes: Uint8Array | string): Buffer => createHash("sha256").update(bytes).digest();

it("links by QR and carries texts and receipts both ways, with the owner's phone beside it", async () => {
  const { sim, number, ann, zapo } = await world();
  expect(await number.companions()).toMatchObject([{ device: 1, online: true }]);

  const byNumber = await sim.addContact("31633333333", { addressing: "pn" });
  const hidden = await sim.addContact("31655555555", { hidesNumber: true });
  for (const [contact, address] of [
    [ann, ann.lid],
    [byNumber, byNumber.jid],
    [hidden, hidden.lid],
  ] as const) {
    await contact.sendText(NUMBER, `hello from ${address}`);
    expect((await zapo.untilText(`hello from ${address}`)).senderJid).toBe(address);
    const { id, ack } = await zapo.client.sendMessage(address, "hi");
    expect(ack.error).toBeUndefined();
    expect(await contact.waitForMessage({ text: "hi" })).toMatchObject({ from: NUMBER, id });
    await contact.markRead(id);
    await until("receipts", () => receiptsFor(zapo, id).includes("read"));
    expect(receiptsFor(zapo, id)).toContain(undefined);
  }

  await number.typeAsOwner(byNumber.number, "from my phone");
  const { recipient } = (await zapo.untilText("from my phone")).rawNode.attrs;
  expect([byNumber.jid, byNumber.lid]).toContain(recipient);
  await number.logoutCompanion(1);
  await until("removal", async () => (await number.companions()).length === 0);
});

it("connects again with the key that it knows, and when the service has another one", async () => {
  const { sim, ann, zapo } = await world();
  const resumed = "noise resume handshake successful without fallback";
  // Linking ends with a second connection.
  expect(zapo.log).toContain(resumed);
  expect(zapo.log.filter((line) => line.includes("failed"))).toEqual([]);
  await until("confirmed", async () => (await sim.pending(NUMBER)) === 0);
  await zapo.end();

  const { auth } = zapo.kept;
  await auth.save({ ...(await auth.load())!, serverStaticKey: randomBytes(32) });
  const back = await connect(sim, zapo);
  await ann.sendText(NUMBER, "still there?");
  await back.untilText("still there?");
  expect(back.log).toContain("noise resume handshake fallback to XX");
  expect(back.log.filter((line) => line.includes("failed"))).toEqual([]);
  // The service ends the connection with its answer: which of the two the client sees first is open.
  await back.client.logout().catch(() => undefined);
  await until("removal", async () => (await sim.companions(NUMBER)).length === 0);
});

it("links by code, and writes in groups of both kinds, whose members change", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const ann = await sim.addContact(ANN);
  const ben = await sim.addContact(BEN);
  const byNumber = await sim.addGroup({ subject: "by number", members: [ANN, NUMBER], addressing: "pn" });
  const zapo = await connect(sim);
  await until("QR", () => zapo.qr);
  await number.enterPairingCode(await zapo.client.requestPairingCode(NUMBER));
  await zapo.untilReady(sim, NUMBER);
  const byLid = await sim.addGroup({ subject: "by LID", members: [BEN, NUMBER], admins: [NUMBER] });
  const told = async (action: string): Promise<unknown> =>
    await until(action, () =>
      zapo.groupEvents.find((event) => event.action === action && event.groupJid === byLid.id),
    );
  await told("create");

  // Each in one of them: zapo 0.3.0 keeps a session for each address of a person, phones have one for both.
  for (const [{ id: chat, subject }, other, author] of [
    [byNumber, ann, ann.jid],
    [byLid, ben, ben.lid],
  ] as const) {
    await other.sendText(chat, `to ${subject}`);
    const { senderJid, chatJid } = await zapo.untilText(`to ${subject}`);
    expect([senderJid, chatJid]).toEqual([author, chat]);
    const { id, ack } = await zapo.say(chat, `from ${subject}`);
    expect(ack).toMatchObject({ phash: undefined, error: undefined });
    await other.waitForMessage({ text: `from ${subject}` });
    await until("delivered", () => receiptsFor(zapo, id).length > 0);
  }

  const { group } = zapo.client;
  await group.addParticipants(byLid.id, [ann.jid]);
  await told("add");
  const { ack } = await zapo.say(byLid.id, "now three");
  expect(ack).toMatchObject({ phash: undefined, error: undefined });
  for (const member of [ann, ben]) await member.waitForMessage({ text: "now three" });
  await group.setSubject(byLid.id, "renamed");
  const { subject, participants } = await group.queryGroupMetadata(byLid.id);
  expect([subject, participants.length]).toEqual(["renamed", 3]);
  await sim.changeGroup(byLid.id, { remove: [ANN], by: BEN });
  await told("remove");
  await zapo.say(byLid.id, "two again");
  await ben.waitForMessage({ text: "two again" });
  expect((await ann.messages({ chat: byLid.id })).map(({ text }) => text)).toEqual(["now three"]);
  expect(await group.queryAllGroups()).toHaveLength(2);
  await group.leaveGroup([byNumber.id]);
  expect(await group.queryAllGroups()).toHaveLength(1);
});

it("makes a group, says what it is about and who may do what, and hears of a member's new number", async () => {
  const { sim, ann, zapo } = await world();
  const { group } = zapo.client;
  await group.createGroup("Book club", [ann.jid]);
  const told = async (action: string) =>
    await until(action, () => zapo.groupEvents.find((event) => event.action === action));
  const { groupJid: club = "" } = await told("create");

  await group.setDescription(club, "Every other Friday");
  await told("description");
  await group.setSetting(club, "announcement", true);
  await told("announce");
  await group.promoteParticipants(club, [ann.lid]);
  await told("promote");
  await group.demoteParticipants(club, [ann.lid]);
  await told("demote");
  await group.revokeInvite(club);
  const { description, announce, inviteLink } = await sim.group(club);
  expect([description, announce]).toEqual(["Every other Friday", true]);
  const info = await group.queryGroupInviteInfo(inviteLink.split("/").at(-1)!);
  expect(JSON.stringify(info)).toContain("Book club");

  const later = await sim.changeNumber(ANN, "31644444444");
  expect(await told("modify")).toMatchObject({ authorJid: ann.lid, participants: [{ jid: later.lid }] });
  await zapo.say(club, "who is there?");
  await later.waitForMessage({ text: "who is there?" });
});

it("loads what people send, and sends what people load", async () => {
  const { ann, zapo } = await world();
  const bytes = randomBytes(70_001);
  const { id } = await ann.send(NUMBER, { kind: "image", bytes, caption: "look" });
  const image = (await zapo.untilMessage(id)).message!.imageMessage!;
  expect(image.caption).toBe("look");
  const loaded = await zapo.client.mediaTransfer.downloadAndDecrypt({
    url: image.url!,
    mediaType: "image",
    mediaKey: image.mediaKey!,
    fileSha256: image.fileSha256!,
    fileEncSha256: image.fileEncSha256!,
  });
  expect(sha256(loaded)).toEqual(sha256(bytes));

  for (const [type, mimetype] of [
    ["document", "application/pdf"],
    ["audio", "audio/mpeg"],
  ] as const) {
    const sent = await zapo.client.sendMessage(ann.lid, { type, media: bytes, mimetype });
    await ann.waitForMessage({ id: sent.id });
    expect(sha256((await ann.mediaOf(sent.id)).bytes)).toEqual(sha256(bytes));
  }
});

const VOTE_AGAIN_MS = 5_000;

it("votes in polls, and reads others' votes", async () => {
  const { sim, ann, ben, zapo } = await world();
  const group = await sim.addGroup({ subject: "Lunch", members: [ANN, BEN, NUMBER] });
  const poll = await ann.send(group.id, { kind: "poll", name: "Where?", options: ["here", "there"] });
  const asked = (await zapo.untilMessage(poll.id)).message!;
  await ben.waitForMessage({ id: poll.id });
  // It stores a poll's secret after it has told of the poll: a vote that comes in between it does not open.
  let votedAt = -Infinity;
  const { decrypted } = await until("vote", async () => {
    if (zapo.addons.length === 0 && performance.now() - votedAt > VOTE_AGAIN_MS) {
      votedAt = performance.now();
      await ben.votePoll(poll.id, ["there"]);
    }
    return zapo.addons[0];
  });
  expect(decrypted).toMatchObject({ kind: "poll_vote", selectedOptionNames: ["there"] });

  const me = (await sim.number(NUMBER)).lid;
  const vote = proto.Message.PollVoteMessage.encode({ selectedOptions: [sha256("here")] }).finish();
  const iv = randomBytes(12);
  const encPayload = await encryptAddonPayload({
    ...voteIn(poll.id, asked.messageContextInfo!.messageSecret!, ann.lid, me),
    payload: vote,
    iv,
  });
  await zapo.say(group.id, {
    pollUpdateMessage: {
      pollCreationMessageKey: { remoteJid: group.id, id: poll.id, fromMe: false, participant: ann.lid },
      vote: { encPayload, encIv: iv },
      senderTimestampMs: Date.now(),
    },
  });
  expect(await ann.waitForMessage({ kind: "vote", from: NUMBER })).toMatchObject({ choices: ["here"] });

  const messageSecret = randomBytes(32);
  const options = [{ optionName: "yes" }, { optionName: "no" }];
  const own = await zapo.client.sendMessage(ann.lid, {
    messageContextInfo: { messageSecret },
    pollCreationMessageV3: { name: "Now?", options, selectableOptionsCount: 1 },
  });
  await ann.waitForMessage({ id: own.id });
  const { id } = await ann.votePoll(own.id, ["no"], { creator: "lid", voter: "lid" });
  const { encPayload: ciphertext, encIv } = (await zapo.untilMessage(id)).message!.pollUpdateMessage!.vote!;
  const opened = await decryptAddonPayload({
    ...voteIn(own.id, messageSecret, me, ann.lid),
    ciphertext: ciphertext!,
    iv: encIv!,
  });
  expect(Buffer.from(proto.Message.PollVoteMessage.decode(opened).selectedOptions[0]!)).toEqual(sha256("no"));
});

/** What a vote is sealed with. */
const voteIn = (pollId: string, messageSecret: Uint8Array, author: string, voter: string) => ({
  messageSecret,
  stanzaId: pollId,
  parentMsgOriginalSender: author,
  modificationSender: voter,
  modificationType: "Poll Vote" as const,
  additionalData: buildAddonAdditionalData(pollId, voter),
});

it("asks for what it cannot decrypt, and sends again what others cannot", async () => {
  const { sim, ann, zapo } = await world();
  const requests = async (filter: object): Promise<number> =>
    await sim.countStanzas({ direction: "in", tag: "receipt", type: "retry", ...filter });
  await ann.sendText(NUMBER, "first");
  await zapo.untilText("first");
  await zapo.client.sendMessage(ann.lid, "answer");
  await ann.waitForMessage({ text: "answer" });

  const { session } = zapo.kept;
  await session.clear();
  await ann.sendText(NUMBER, "lost");
  await zapo.untilText("lost");
  expect(await requests({ number: NUMBER })).toBeGreaterThan(0);

  // A sending chain that the other side cannot know.
  const [user, server] = ann.lid.split("@") as [string, string];
  const address = { user, server, device: 0 };
  const now = (await session.getSession(address))!;
  await session.setSession(address, { ...now, sendChain: { ...now.sendChain, chainKey: randomBytes(32) } });
  await zapo.client.sendMessage(ann.lid, "garbled");
  await ann.waitForMessage({ text: "garbled" });
  expect(await requests({ contact: ANN })).toBeGreaterThan(0);
  await sim.expectViolation("undecryptable");
  // zapo 0.3.0 forgets who it is when it sends again; 1.8.0 does not.
  await sim.expectViolation("device_identity_missing");
});

it("gets its backlog in windows, whole and in order, and live ones after it", async () => {
  const { sim, ann, zapo } = await world();
  await ann.sendText(NUMBER, "before");
  await zapo.untilText("before");
  await until("confirmed", async () => (await sim.pending(NUMBER)) === 0);
  await zapo.end();
  await until("offline", async () => !(await sim.online(NUMBER)));
  const waiting = Array.from({ length: 210 }, (_, index) => `waited ${index}`);
  for (const text of waiting) await ann.sendText(NUMBER, text);

  const back = await connect(sim, zapo);
  // zapo 0.3.0 asks once, for 200, and never again.
  await until("first window", async () => (await sim.pending(NUMBER)) === 5);
  await ann.sendText(NUMBER, "live");
  expect(back.resumed.map(({ status }) => status)).toEqual(["resuming"]);
  expect(back.texts).not.toContain("live");
  await back.client.sendNode({
    tag: "ib",
    attrs: {},
    content: [{ tag: "offline_batch", attrs: { count: "200" } }],
  });
  await until("end", () => back.resumed.some(({ status }) => status === "complete"));
  await back.untilText("live");

  expect(back.texts).toEqual([...waiting, "live"]);
  expect(back.resumed.at(-1)).toMatchObject({ status: "complete", forced: false });
});

it("asks who people are and what they allow, and reacts, edits and takes back", async () => {
  const { sim, ann, zapo } = await world();
  const { client } = zapo;
  const [known, unknown] = await client.getLidsByPhoneNumbers([ANN, "31699999999"]);
  expect([known!.lidJid, unknown!.exists]).toEqual([ann.lid, false]);
  expect(await client.privacy.getPrivacySettings()).toMatchObject({ lastSeen: "all" });
  expect(await client.privacy.getBlocklist()).toMatchObject({ jids: [] });
  await expect(client.profile.getProfilePicture(ann.jid)).rejects.toThrow("404");
  expect(await client.profile.getProfiles([ann.jid])).toMatchObject([{ jid: ann.jid }]);
  expect(await client.business.getBusinessProfile([ann.jid])).toEqual([]);
  await client.profile.setStatus("open until six");
  const { collections } = await client.syncAppState();
  expect(new Set(collections.map(({ state }) => state))).toEqual(new Set(["success"]));

  const { id } = await ann.sendText(NUMBER, "good morning");
  await zapo.untilMessage(id);
  await client.sendReceipt({ to: ann.lid, id, type: "read" });
  const key = { remoteJid: ann.lid, id, fromMe: false };
  await client.sendMessage(ann.lid, { reactionMessage: { key, text: "+", senderTimestampMs: Date.now() } });
  expect(await ann.waitForMessage({ kind: "reaction" })).toMatchObject({ text: "+", target: id });
  const own = await client.sendMessage(ann.lid, "god morning");
  const ownKey = { remoteJid: ann.lid, id: own.id, fromMe: true };
  const editedMessage = { conversation: "good morning" };
  await client.sendMessage(ann.lid, { protocolMessage: { type: 14, key: ownKey, editedMessage } });
  expect(await ann.waitForMessage({ kind: "edit" })).toMatchObject({ target: own.id, text: "good morning" });
  await client.sendMessage(ann.lid, { protocolMessage: { type: 0, key: ownKey } });
  await ann.waitForMessage({ kind: "revoke", target: own.id });

  const told = async (tag: string): Promise<boolean> =>
    (await sim.countStanzas({ number: NUMBER, direction: "out", tag })) > 0;
  await client.sendPresence("available");
  await client.sendNode({ tag: "presence", attrs: { type: "subscribe", to: ann.jid } });
  await until("presence", () => told("presence"));
  await ann.typing(NUMBER);
  await until("typing", () => told("chatstate"));
  await ann.react(id, "");
  await sim.addContact("31644444444");
});

it("lets people in again, joins by a link, removes a member, and sets how chats are shown", async () => {
  const { sim, ann, ben, zapo } = await world();
  const { group, privacy, chat } = zapo.client;
  await sim.block(NUMBER, ANN);
  expect(await privacy.getBlocklist()).toMatchObject({ jids: [ann.lid] });
  await privacy.unblockUser(ann.lid);
  expect([await sim.blocked(NUMBER), (await privacy.getBlocklist()).jids]).toEqual([[], []]);

  const club = await sim.addGroup({ subject: "Open to all", members: [BEN, ANN] });
  await group.joinGroupViaInvite((await sim.group(club.id)).inviteLink.split("/").at(-1)!);
  await ben.sendText(club.id, "welcome");
  await zapo.untilText("welcome");
  await group.createGroup("Two of us", [ann.jid, ben.jid]);
  const { groupJid: own = "" } = await until("create", () =>
    zapo.groupEvents.find(({ action, groupJid }) => action === "create" && groupJid !== club.id),
  );
  await group.removeParticipants(own, [ben.lid]);
  await until("remove", () => zapo.groupEvents.find(({ action }) => action === "remove"));
  await zapo.say(own, "without ben");
  await ann.waitForMessage({ text: "without ben" });
  expect(await ben.messages({ chat: own })).toEqual([]);

  await chat.setChatMute(ann.lid, true, Date.now() + 3_600_000);
  await chat.setChatPin(ann.lid, true);
  const kinds = (await sim.appState(NUMBER)).map(({ index: [kind] }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["mute", "pin_v1"]));
});

it("mentions somebody, and sends a picture for one look", async () => {
  const { sim, ann, zapo } = await world();
  const group = await sim.addGroup({ subject: "Lunch", members: [ANN, BEN, NUMBER] });
  const text = `@${ann.lid.split("@")[0]} now?`;
  const contextInfo = { mentionedJid: [ann.lid] };
  await zapo.say(group.id, { extendedTextMessage: { text, contextInfo } });
  expect(await ann.waitForMessage({ text })).toMatchObject({ mentions: [ann.lid] });

  const { id } = await ann.send(NUMBER, { kind: "image", bytes: randomBytes(5_000) });
  const imageMessage = { ...(await zapo.untilMessage(id)).message!.imageMessage!, viewOnce: true };
  const once = await zapo.client.sendMessage(ann.lid, { viewOnceMessageV2: { message: { imageMessage } } });
  expect(await ann.waitForMessage({ id: once.id })).toMatchObject({ kind: "image", viewOnce: true });
});

it("talks with Baileys, each for a number of its own", async () => {
  const { sim, zapo } = await world();
  await sim.addNumber("31600000002", { name: "Bakery" });
  const baileys = await linkBaileys(sim, "31600000002");
  const [zapoLid, baileysLid] = [(await sim.number(NUMBER)).lid, (await sim.number("31600000002")).lid];

  await baileys.say(zapoLid, "two loaves?");
  expect((await zapo.untilText("two loaves?")).senderJid).toContain(baileysLid.split("@")[0]);
  const { id } = await zapo.client.sendMessage(baileysLid, "three");
  expect((await baileys.untilText("three")).message.key.id).toBe(id);
  await until("receipts", () => receiptsFor(zapo, id).includes(undefined));

  const group = await sim.addGroup({ subject: "Street", members: [NUMBER, "31600000002", ANN] });
  await until("group", () => zapo.groupEvents.some(({ groupJid }) => groupJid === group.id));
  await zapo.say(group.id, "good morning, street");
  await baileys.untilText("good morning, street");
  await baileys.say(group.id, "and to you");
  await zapo.untilText("and to you");
});

it("has met everything here that the page says it has confirmed", ({ skip }) => {
  skip(met.length < 11, "some of the tests above were left out");
  const names = new Set(met.flat().flatMap(namesOf));
  const onTheWire = confirmedByZapo().filter((name) => /^(in|out) /.test(name) && !BEFORE_LOGIN.has(name));

  expect(onTheWire.length).toBeGreaterThan(30);
  expect(onTheWire.filter((name) => !names.has(name.replace(/ (conflict|dirty) \w+$/, " $1")))).toEqual([]);
});
