/** Groups and their members as they stand in stanzas (`w:g2`). */
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "../../world/jid.ts";
import type { Group, Role, World } from "../../world/world.ts";

interface Needs {
  world: World;
  behaviour: ServiceBehaviour;
}

/** A group as its members see it, with all members. */
export function groupNode({ world, behaviour }: Needs, group: Group): BinaryNode {
  const { addressing, versions } = group;
  const [creator, namer] = [world.account(group.creator), world.account(group.subjectBy)];
  const members = [...group.members].map(([number, role]) =>
    participantNode(world.account(number), addressing, role),
  );
  return element(
    "group",
    {
      id: group.id.split("@")[0],
      subject: group.subject,
      s_t: String(group.subjectAt),
      s_o: userJid(namer, addressing),
      s_o_pn: numberBeside(namer, addressing),
      creation: String(group.createdAt),
      creator: userJid(creator, addressing),
      creator_pn: numberBeside(creator, addressing),
      addressing_mode: addressing,
      p_v_id: behaviour.groupVersions ? String(versions.members) : undefined,
      a_v_id: behaviour.groupVersions ? String(versions.announcement) : undefined,
      size: String(group.members.size),
    },
    [...members, ...settingNodes(world, group)],
  );
}

function settingNodes(world: World, group: Group): BinaryNode[] {
  const { addressing, description } = group;
  const flags: [boolean, string][] = [
    [group.announce, "announcement"],
    [group.locked, "locked"],
    [group.isCommunity, "parent"],
    [group.isCommunityAnnouncements, "default_sub_group"],
  ];
  const nodes = flags.filter(([holds]) => holds).map(([, tag]) => element(tag));
  if (group.linkedParent) nodes.push(element("linked_parent", { jid: group.linkedParent }));
  if (group.ephemeral) nodes.push(element("ephemeral", { expiration: String(group.ephemeral) }));
  if (group.approval) nodes.push(approvalNode(true));
  if (description) {
    const writer = world.account(description.by);
    const attrs = {
      id: description.id,
      t: String(description.at),
      participant: userJid(writer, addressing),
      participant_pn: numberBeside(writer, addressing),
    };
    nodes.push(element("description", attrs, [element("body", {}, Buffer.from(description.text))]));
  }
  nodes.push(element("member_add_mode", {}, Buffer.from(group.memberAddMode)));
  return nodes;
}

/** Whether admins decide who may join. */
export const approvalNode = (on: boolean): BinaryNode =>
  element("membership_approval_mode", {}, [element("group_join", { state: on ? "on" : "off" })]);

/** A group that another one is linked with, without its members. */
export function briefNode(group: Group): BinaryNode {
  const attrs = { jid: group.id, subject: group.subject, s_t: String(group.subjectAt) };
  return element("group", attrs, group.isCommunityAnnouncements ? [element("default_sub_group")] : undefined);
}

/** A member, with its other address as far as anybody may know it. */
export function participantNode(
  account: Account,
  addressing: "pn" | "lid",
  role: Role = "member",
): BinaryNode {
  return element("participant", {
    jid: userJid(account, addressing),
    type: role === "member" ? undefined : role,
    phone_number: numberBeside(account, addressing),
    lid: addressing === "pn" ? jidOf(account.lid, LID_SERVER) : undefined,
  });
}

/** The number of somebody who is named by LID, unless it is hidden. */
export function numberBeside(account: Account, addressing: "pn" | "lid"): string | undefined {
  return addressing === "lid" && !account.hidesNumber ? jidOf(account.number, PN_SERVER) : undefined;
}
