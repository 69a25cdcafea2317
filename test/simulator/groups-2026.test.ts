import type { BinaryNode } from "@whiskeysockets/baileys";
import { describe, expect, it } from "vitest";
import type { ServiceBehaviour, Simulator } from "../../src/simulator/index.ts";
import { child, children } from "../../src/simulator/inside.ts";
import { link, simulate, until, type Client } from "./_setup.ts";

const NUMBER = "31600000001";
const ANN = "31611111111";
const BEN = "31622222222";

/** A linked client, two contacts, and the changes of groups that the client is told of. */
async function openService(behaviour: Partial<ServiceBehaviour> = {}) {
  const sim = await simulate({ behaviour });
  await sim.addNumber(NUMBER);
  const ann = await sim.addContact(ANN);
  const ben = await sim.addContact(BEN);
  const client = await link(sim, NUMBER);
  return { sim, ann, ben, client, told: changesTo(client) };
}

/** Waits for the next change with a tag, and takes it. */
function changesTo(
  client: Client,
): (tag: string) => Promise<{ attrs: BinaryNode["attrs"]; node: BinaryNode }> {
  const changes: { attrs: BinaryNode["attrs"]; node: BinaryNode }[] = [];
  client.socket.ws.on("CB:notification", (notification: BinaryNode) => {
    for (const node of children(notification)) changes.push({ attrs: notification.attrs, node });
  });
  return async (tag) => {
    const isIt = ({ node }: { node: BinaryNode }) => node.tag === tag;
    await until(`<${tag}>`, () => changes.some(isIt));
    return changes.splice(changes.findIndex(isIt), 1)[0]!;
  };
}

const namesIn = (node: BinaryNode): (string | undefined)[] => children(node).map(({ attrs }) => attrs.jid);

describe("people who name members by the other kind of address", () => {
  it.each([{}, { staleAddressing: false }])("are understood in the end (%o)", async (behaviour) => {
    const { sim, ann, client } = await openService(behaviour);
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, NUMBER], addressing: "pn" });
    await ann.sendText(id, "first");
    await sim.changeGroup(id, { addressing: "lid" });

    const { id: waId } = await ann.sendText(id, "second");

    await until("the text", () => client.texts.includes("second"));
    const written = await sim.stanzas({ number: ANN, direction: "in", tag: "message", id: waId });
    // Without what a single device has asked for again.
    const modes = written.flatMap(({ attrs }) => (attrs.participant ? [] : [attrs.addressing_mode]));
    expect(modes).toEqual(behaviour.staleAddressing === false ? ["pn"] : ["pn", "lid"]);
    expect(client.texts.filter((text) => text === "second")).toHaveLength(1);
    await ann.sendText(id, "third");
    await until("the next text", () => client.texts.includes("third"));
    if (behaviour.staleAddressing === false) await sim.expectViolation("addressing_mode");
  });
});

describe("who leaves a group", () => {
  it("is told of by <remove>, himself as the one who does it, with the versions of the list", async () => {
    const { sim, ann, ben, client, told } = await openService();
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, NUMBER] });
    const events: string[] = [];
    client.socket.ev.on("group-participants.update", ({ action }) => events.push(action));
    const group = child((await told("create")).node, "group")!;

    await sim.changeGroup(id, { leave: [BEN] });
    const left = await told("remove");
    await sim.changeGroup(id, { promote: [NUMBER] });
    const promoted = await told("promote");

    expect(left.attrs).toMatchObject({ from: id, participant: ben.lid, participant_pn: ben.jid });
    expect(namesIn(left.node)).toEqual([ben.lid]);
    expect(left.node.attrs.prev_v_id).toBe(group.attrs.p_v_id);
    expect(promoted.attrs.participant).toBe(ann.lid);
    expect(promoted.node.attrs.prev_v_id).toBe(left.node.attrs.v_id);
    expect(promoted.node.attrs.v_id).not.toBe(left.node.attrs.v_id);
    await until("Baileys' events", () => events.includes("remove") && events.includes("promote"));
  });

  it("who goes on under another number is told of by <modify>: who was there, and who is there now", async () => {
    const { sim, ben, told } = await openService();
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, NUMBER] });
    const group = child((await told("create")).node, "group")!;

    const later = await sim.changeNumber(BEN, "31633333333", {
      suggested: { community: id, groups: ["1@g.us"] },
    });
    const suggestions = await told("change_number");
    const { attrs, node } = await told("modify");

    expect(suggestions.attrs.participant).toBe(ben.lid);
    expect(suggestions.node).toMatchObject({ attrs: { jid: later.lid } });
    expect(attrs).toMatchObject({ from: id, participant: ben.lid, participant_pn: ben.jid });
    expect(children(node)[0]?.attrs).toEqual({ jid: later.lid, phone_number: later.jid });
    expect(node.attrs.prev_v_id).toBe(group.attrs.p_v_id);
    expect((await sim.group(id)).members.map(({ number }) => number)).toEqual([ANN, "31633333333", NUMBER]);
    await later.sendText(id, "it is me");
  });

  it("was told of by <leave>, without versions, the year before", async () => {
    const { sim, told } = await openService({ leaveIsRemove: false, groupVersions: false });
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, NUMBER] });

    await sim.changeGroup(id, { remove: [BEN], by: BEN });

    expect((await told("leave")).node.attrs).toEqual({});
    expect(child((await told("create")).node, "group")!.attrs).not.toHaveProperty("p_v_id");
  });
});

it("who comes to a group gets all of it, the others hear of him; the year before all got the same", async () => {
  for (const joinersGetGroup of [true, false]) {
    const { sim, ben, client, told } = await openService({ joinersGetGroup });
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN], announce: true });

    await sim.changeGroup(id, { add: [NUMBER] });
    const came = await told(joinersGetGroup ? "create" : "add");
    await sim.changeGroup(id, { add: [BEN] });

    expect(namesIn((await told("add")).node)).toEqual([ben.lid]);
    if (joinersGetGroup) expect(namesIn(child(came.node, "group")!)).toHaveLength(4);
    await client.end();
  }
});

describe("a companion", () => {
  it("makes a group and says what it is about", async () => {
    const { sim, ann, client, told } = await openService();

    const made = await client.socket.groupCreate("Neighbours", [ann.jid]);
    expect(made).toMatchObject({ subject: "Neighbours", size: 2 });
    await client.socket.groupUpdateDescription(made.id, "First");
    await client.socket.groupUpdateDescription(made.id, "Second");
    const { desc, descId } = await client.socket.groupMetadata(made.id);

    expect(desc).toBe("Second");
    expect((await told("description")).node.attrs.id).not.toBe(descId);
    expect((await told("description")).node.attrs.id).toBe(descId);
    await client.socket.groupUpdateDescription(made.id);
    expect(child((await told("description")).node, "delete")).toBeDefined();
    expect((await sim.group(made.id)).description).toBe("");
    const stale = { tag: "description", attrs: { id: "A", prev: "B" }, content: "x" };
    await client.socket.groupUpdateDescription(made.id, "Third");
    await expect(ask(client, made.id, "set", stale)).rejects.toThrow("conflict");
  });

  it("changes its settings, and is told of them", async () => {
    const { sim, client, told } = await openService();
    const { id } = await sim.addGroup({ subject: "Team", creator: NUMBER, members: [ANN, NUMBER] });

    await client.socket.groupToggleEphemeral(id, 86_400);
    expect((await told("ephemeral")).node.attrs).toMatchObject({ expiration: "86400" });
    await client.socket.groupToggleEphemeral(id, 0);
    await told("not_ephemeral");
    await client.socket.groupSettingUpdate(id, "announcement");
    expect((await told("announcement")).node.attrs.v_id).toMatch(/^\d+$/);
    await client.socket.groupSettingUpdate(id, "locked");
    await client.socket.groupJoinApprovalMode(id, "on");
    await client.socket.groupMemberAddMode(id, "all_member_add");
    await client.socket.groupUpdateSubject(id, "A-Team");
    expect((await told("subject")).node.attrs).toMatchObject({ subject: "A-Team" });
    await sim.changeGroup(id, { picture: true });
    expect((await told("set")).attrs).toMatchObject({ type: "picture", from: id });

    expect(await client.socket.groupMetadata(id)).toMatchObject({
      subject: "A-Team",
      announce: true,
      restrict: true,
      joinApprovalMode: true,
      memberAddMode: true,
      ephemeralDuration: undefined,
    });
  });

  it("cannot add somebody who lets nobody, and gets what an invite message needs", async () => {
    const { sim, ann, client } = await openService();
    const shy = await sim.addContact("31633333333", { refusesGroups: true });
    const { id } = await sim.addGroup({ subject: "Team", creator: NUMBER, members: [NUMBER] });

    const [refused, added] = await client.socket.groupParticipantsUpdate(id, [shy.jid, ann.jid], "add");
    const [again] = await client.socket.groupParticipantsUpdate(id, [ann.jid], "add");

    expect([refused!.status, added!.status, again!.status]).toEqual(["403", "200", "409"]);
    const { attrs } = child(refused!.content, "add_request")!;
    expect(attrs.code).toMatch(/^\w{22}$/);
    expect(Number(attrs.expiration)).toBeGreaterThan(Date.now() / 1000);
    expect((await sim.group(id)).members.map(({ number }) => number)).toEqual([NUMBER, ANN]);
    await expect(sim.changeGroup(id, { add: [shy.number] })).rejects.toThrow("lets nobody add it");
  });

  it("looks at invite links, follows them, and makes them invalid", async () => {
    const { sim, client, told } = await openService();
    const theirs = await sim.addGroup({ subject: "Theirs", members: [ANN] });
    const code = theirs.inviteLink.split("/").at(-1)!;

    expect(await client.socket.groupGetInviteInfo(code)).toMatchObject({ id: theirs.id, subject: "Theirs" });
    expect(await client.socket.groupAcceptInvite(code)).toBe(theirs.id);
    expect((await told("create")).node.attrs.reason).toBe("invite");
    await expect(client.socket.groupInviteCode(theirs.id)).rejects.toThrow("not-authorized");
    await sim.changeGroup(theirs.id, { promote: [NUMBER] });
    expect(await client.socket.groupInviteCode(theirs.id)).toBe(code);
    expect(await client.socket.groupRevokeInvite(theirs.id)).not.toBe(code);
    await expect(client.socket.groupGetInviteInfo(code)).rejects.toThrow("gone");
    await expect(client.socket.groupGetInviteInfo("neverWasOne")).rejects.toThrow("not-acceptable");
  });

  it("decides who may join", async () => {
    const { sim, ann, ben, client, told } = await openService();
    const { id } = await sim.addGroup({
      subject: "Team",
      creator: NUMBER,
      members: [NUMBER],
      approval: true,
    });

    await sim.changeGroup(id, { join: [ANN, BEN] });
    const { node } = await told("created_membership_requests");
    expect(node).toMatchObject({ attrs: { request_method: "invite_link" } });
    expect(namesIn(node)).toEqual([ann.lid]);
    const asked = await client.socket.groupRequestParticipantsList(id);
    expect(asked.map(({ jid }) => jid)).toEqual([ann.lid, ben.lid]);
    await client.socket.groupRequestParticipantsUpdate(id, [ann.lid], "approve");
    await client.socket.groupRequestParticipantsUpdate(id, [ben.lid], "reject");

    expect(namesIn((await told("add")).node)).toEqual([ann.lid]);
    expect(namesIn((await told("revoked_membership_requests")).node)).toEqual([ben.lid]);
    expect(await sim.group(id)).toMatchObject({
      requests: [],
      members: [{ number: NUMBER }, { number: ANN }],
    });
  });
});

describe("a community", () => {
  it("has announcements of its own, and groups that come and go", async () => {
    const { sim, ann, client, told } = await openService();
    const { parent, announcements } = await sim.addCommunity({ subject: "Village", members: [NUMBER] });
    const choir = await sim.addGroup({ subject: "Choir", members: [ANN, NUMBER] });

    await client.socket.communityLinkGroup(choir.id, parent.id);
    expect((await told("link")).node.attrs.link_type).toBe("sub_group");
    expect((await told("link")).node).toMatchObject({
      attrs: { link_type: "parent_group" },
      content: [{ attrs: { jid: parent.id, subject: "Village" } }],
    });
    const { linkedGroups } = await client.socket.communityFetchLinkedGroups(parent.id);
    expect(linkedGroups.map(({ subject }) => subject)).toEqual(["Village", "Choir"]);
    expect(await client.socket.groupMetadata(announcements.id)).toMatchObject({
      isCommunityAnnounce: true,
      announce: true,
      linkedParent: parent.id,
    });
    const everybody = await ask(client, parent.id, "get", { tag: "linked_groups_participants", attrs: {} });
    expect(children(child(everybody, "linked_groups_participants")).map(({ attrs }) => attrs)).toContainEqual(
      {
        jid: ann.lid,
        phone_number: ann.jid,
      },
    );
    await client.socket.communityUnlinkGroup(choir.id, parent.id);
    expect((await told("unlink")).node.attrs).toEqual({
      unlink_type: "sub_group",
      unlink_reason: "unlink_group",
    });
    await sim.changeGroup(parent.id, { delete: true });
    await told("delete");
    await expect(client.socket.groupMetadata(announcements.id)).rejects.toThrow("item-not-found");
    expect((await sim.group(choir.id)).linkedParent).toBeUndefined();
  });

  it("is no place to write to", async () => {
    const { sim, client } = await openService();
    const { parent } = await sim.addCommunity({ subject: "Village", creator: NUMBER, members: [NUMBER] });

    expect((await client.say(parent.id, "hello")).ack!.attrs.error).toBe("403");
  });
});

describe("a message that names members by the wrong kind of address", () => {
  async function staleClient(sim: Simulator) {
    let known: unknown;
    const client = await link(sim, NUMBER, { cachedGroupMetadata: async () => known as undefined });
    const { id } = await sim.addGroup({ subject: "Team", members: [ANN, NUMBER], addressing: "pn" });
    known = await client.socket.groupMetadata(id);
    await sim.changeGroup(id, { addressing: "lid" });
    return { client, id };
  }

  it("is refused with 421 and the right one", async () => {
    const sim = await simulate();
    await sim.addNumber(NUMBER);
    await sim.addContact(ANN);
    const { client, id } = await staleClient(sim);

    expect((await client.say(id, "hello")).ack!.attrs).toMatchObject({
      error: "421",
      addressing_mode: "lid",
    });
  });

  it("was passed on the year before", async () => {
    const sim = await simulate({ behaviour: { staleAddressing: false } });
    await sim.addNumber(NUMBER);
    const ann = await sim.addContact(ANN);
    const { client, id } = await staleClient(sim);

    expect((await client.say(id, "hello")).ack!.attrs.error).toBeUndefined();
    await ann.waitForMessage({ text: "hello" });
    await sim.expectViolation("addressing_mode");
  });
});

it("devices that can read what somebody writes are known", async () => {
  const { sim, client } = await openService();
  const { id } = await sim.addGroup({ subject: "Team", members: [ANN, BEN, NUMBER] });

  await client.say(id, "hello");

  expect(await sim.senderKeyHolders(id, NUMBER)).toEqual([`${NUMBER}:0`, `${ANN}:0`, `${BEN}:0`]);
});

/** A question about groups that the library has no function for. */
async function ask(client: Client, to: string, type: string, content: BinaryNode): Promise<BinaryNode> {
  const iq = { tag: "iq", attrs: { to, type, xmlns: "w:g2" }, content: [content] };
  return (await client.socket.query(iq)) as BinaryNode;
}
