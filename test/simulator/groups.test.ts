import { expect, it } from "vitest";
import { link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const ANN = "31611111111";
const BEN = "31622222222";

for (const addressing of ["lid", "pn"] as const) {
  it(`carries texts both ways in a ${addressing}-addressed group`, async () => {
    const sim = await simulate();
    const number = await sim.addNumber(NUMBER);
    const ann = await sim.addContact(ANN);
    const ben = await sim.addContact(BEN);
    const client = await link(sim, NUMBER);
    const group = await sim.addGroup({ subject: "Friends", members: [ANN, BEN, NUMBER], addressing });
    await ann.sendText(group.id, "hello all");
    const { message } = await client.untilText("hello all");
    expect(message.key).toMatchObject({ remoteJid: group.id, addressingMode: addressing });
    const [author, other] = addressing === "lid" ? [ann.lid, ann.jid] : [ann.jid, ann.lid];
    expect(message.key.participant).toBe(author);
    expect(message.key.participantAlt).toBe(other);
    for (const text of ["first", "second"]) {
      const { ack } = await client.say(group.id, text);
      expect(ack!.attrs.error).toBeUndefined();
      for (const member of [ann, ben]) {
        expect(await member.waitForMessage({ text })).toMatchObject({
          from: NUMBER,
          chat: group.id,
          encType: "skmsg",
        });
      }
    }
    await ben.sendText(group.id, "me too");
    await client.untilText("me too");
    await number.typeAsOwner(group.id, "from my phone");
    expect((await client.untilText("from my phone")).message.key.fromMe).toBe(true);
    await ann.waitForMessage({ text: "from my phone" });
    await until("receipts", async () => (await sim.pending(NUMBER)) === 0);
  });
}

it("answers group queries and refuses those of strangers", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  await sim.addContact(BEN);
  const client = await link(sim, NUMBER);
  const own = await sim.addGroup({
    subject: "Ours",
    members: [ANN, NUMBER],
    announce: true,
    description: "What we do",
    ephemeral: 86_400,
  });
  const foreign = await sim.addGroup({ subject: "Theirs", members: [ANN, BEN] });
  const all = await client.socket.groupFetchAllParticipating();
  expect(Object.keys(all)).toEqual([own.id]);
  const data = await client.socket.groupMetadata(own.id);
  expect(data).toMatchObject({
    subject: "Ours",
    announce: true,
    addressingMode: "lid",
    desc: "What we do",
    ephemeralDuration: 86_400,
    size: 2,
  });
  expect(data.participants[0]).toMatchObject({ phoneNumber: `${ANN}@s.whatsapp.net`, admin: "superadmin" });
  await expect(client.socket.groupMetadata(foreign.id)).rejects.toThrow("forbidden");
});

it("refuses a member's text where only admins may write", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  const client = await link(sim, NUMBER);
  const group = await sim.addGroup({ subject: "News", members: [ANN, NUMBER], announce: true });
  const { ack } = await client.say(group.id, "may I");
  expect(ack!.attrs.error).toBe("403");
});

it("tells companions of changes, and new members get the sender key", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(ANN);
  const ben = await sim.addContact(BEN);
  const client = await link(sim, NUMBER);
  const changes: string[] = [];
  client.socket.ev.on("group-participants.update", ({ action }) => changes.push(action));
  client.socket.ev.on("groups.update", (updates) => {
    for (const { subject } of updates) if (subject) changes.push(subject);
  });
  const group = await sim.addGroup({ subject: "Team", members: [ANN, NUMBER] });
  await client.say(group.id, "before");
  await sim.changeGroup(group.id, { add: [BEN] });
  await sim.changeGroup(group.id, { promote: [BEN], subject: "A-Team" });
  await until("changes", () => changes.includes("promote") && changes.includes("A-Team"));
  await client.say(group.id, "after");
  await ben.waitForMessage({ text: "after" });
  expect(changes).toContain("add");
  await sim.changeGroup(group.id, { remove: [NUMBER] });
  await until("removal", () => changes.includes("remove"));
  expect((await client.say(group.id, "still here").catch(() => undefined))?.ack?.attrs.error ?? "403").toBe(
    "403",
  );
});
