import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Random } from "../random.ts";
import type { GroupChange } from "../surface/groups.ts";
import type { Time } from "../time.ts";
import { GROUP_SERVER, LID_SERVER, PN_SERVER, jidOf } from "../world/jid.ts";
import { listedDevices, userJid } from "../world/accounts.ts";
import type { Account } from "../world/accounts.ts";
import type { Group, Role, World } from "../world/world.ts";
import type { Deliveries, Stamps } from "./ports.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
  random: Random;
  time: Time;
}

/** Groups as the service keeps them, and what it tells their members (`w:g2`, `notification type=w:gp2`). */
export interface Groups {
  /** A group as its members see it, with all members (`iq w:g2`). */
  node(group: Group): BinaryNode;
  /** Tells every member of a new group. */
  announce(group: Group): void;
  /** Changes a group and tells its members, one `notification type=w:gp2` for each kind of change. */
  change(group: Group, change: GroupChange): void;
  /** A group id as the service makes them today: 18 digits beginning with 120363. */
  newId(ordinal: number): string;
}

/** Stateless: the groups themselves live in the world. */
export function createGroups(needs: Needs): Groups {
  return {
    node: (group) => groupNode(needs, group),
    announce: (group) => announceGroup(needs, group),
    change: (group, change) => applyGroupChange(needs, group, change),
    newId: (ordinal) => newGroupId(needs.random, ordinal),
  };
}

function groupNode(needs: Needs, group: Group): BinaryNode {
  const creator = needs.world.account(group.creator);
  const content = [...group.members].map(([number, role]) =>
    participantNode(needs.world.account(number), group.addressing, role),
  );
  const flags: [boolean, string][] = [
    [group.announce, "announcement"],
    [group.locked, "locked"],
    [group.isCommunity, "parent"],
    [group.isCommunityAnnouncements, "default_sub_group"],
  ];
  for (const [holds, tag] of flags) if (holds) content.push(element(tag));
  if (group.linkedParent) content.push(element("linked_parent", { jid: group.linkedParent }));
  if (group.ephemeral) content.push(element("ephemeral", { expiration: String(group.ephemeral) }));
  if (group.description !== undefined) {
    const body = element("body", {}, Buffer.from(group.description));
    content.push(element("description", { id: `D${group.createdAt}`, t: String(group.createdAt) }, [body]));
  }
  content.push(element("member_add_mode", {}, Buffer.from("admin_add")));
  return element(
    "group",
    {
      id: group.id.split("@")[0],
      subject: group.subject,
      s_t: String(group.subjectAt),
      creation: String(group.createdAt),
      creator: userJid(creator, group.addressing),
      creator_pn: group.addressing === "lid" ? jidOf(creator.number, PN_SERVER) : undefined,
      addressing_mode: group.addressing,
      size: String(group.members.size),
    },
    content,
  );
}

function participantNode(account: Account, addressing: "pn" | "lid", role: Role = "member"): BinaryNode {
  const number = account.hidesNumber ? undefined : jidOf(account.number, PN_SERVER);
  return element("participant", {
    jid: userJid(account, addressing),
    type: role === "member" ? undefined : role,
    phone_number: addressing === "lid" ? number : undefined,
    lid: addressing === "pn" ? jidOf(account.lid, LID_SERVER) : undefined,
  });
}

function announceGroup(needs: Needs, group: Group): void {
  notify(
    needs,
    group,
    group.creator,
    group.members.keys(),
    element("create", { type: "new" }, [groupNode(needs, group)]),
  );
}

const ROLE_AFTER: Record<"promote" | "demote", Role> = { promote: "admin", demote: "member" };

function applyGroupChange(needs: Needs, group: Group, change: GroupChange): void {
  const actor = change.by ?? group.creator;
  if (change.add?.length) {
    for (const number of change.add) group.members.set(needs.world.account(number).number, "member");
    tellMembers(needs, group, actor, "add", change.add, [...group.members.keys()]);
  }
  if (change.remove?.length) {
    const told = [...group.members.keys()];
    for (const number of change.remove) forget(needs, group, number);
    const isLeaving = change.remove.every((number) => number === actor);
    tellMembers(needs, group, actor, isLeaving ? "leave" : "remove", change.remove, told);
  }
  for (const action of ["promote", "demote"] as const) {
    const numbers = change[action] ?? [];
    for (const number of numbers)
      if (group.members.has(number)) group.members.set(number, ROLE_AFTER[action]);
    if (numbers.length > 0) tellMembers(needs, group, actor, action, numbers, [...group.members.keys()]);
  }
  const note = (tag: string, attrs = {}) =>
    notify(needs, group, actor, group.members.keys(), element(tag, attrs));
  if (change.announce !== undefined) {
    group.announce = change.announce;
    note(change.announce ? "announcement" : "not_announcement");
  }
  if (change.locked !== undefined) {
    group.locked = change.locked;
    note(change.locked ? "locked" : "unlocked");
  }
  if (change.subject !== undefined) {
    group.subject = change.subject;
    group.subjectAt = Math.floor(needs.time.now() / 1000);
    note("subject", { subject: change.subject, s_t: String(group.subjectAt) });
  }
}

/** Someone who leaves no longer holds the others' sender keys: on coming back they need new ones. */
function forget(needs: Needs, group: Group, number: string): void {
  group.members.delete(number);
  const gone = needs.world.account(number);
  for (const device of gone.devices.values()) device.senderKeys.delete(group.id);
}

function tellMembers(
  needs: Needs,
  group: Group,
  actor: string,
  tag: string,
  numbers: string[],
  told: string[],
): void {
  const participants = numbers.map((number) =>
    participantNode(needs.world.account(number), group.addressing, group.members.get(number)),
  );
  notify(needs, group, actor, told, element(tag, {}, participants));
}

function notify(
  needs: Needs,
  group: Group,
  actorNumber: string,
  told: Iterable<string>,
  content: BinaryNode,
): void {
  const actor = needs.world.account(actorNumber);
  const id = needs.nextId();
  for (const number of told) {
    for (const device of listedDevices(needs.world.account(number))) {
      // People who were never online ask for the group before they write.
      if (device.account.kind === "contact" && !device.seen) continue;
      const attrs = {
        from: group.id,
        type: "w:gp2",
        id,
        participant: userJid(actor, group.addressing),
        participant_pn:
          group.addressing === "lid" && !actor.hidesNumber ? jidOf(actor.number, PN_SERVER) : undefined,
        participant_lid: group.addressing === "pn" ? jidOf(actor.lid, LID_SERVER) : undefined,
        addressing_mode: group.addressing,
        notify: actor.name,
        t: needs.now(),
      };
      needs.deliver(device, element("notification", attrs, [content]));
    }
  }
}

function newGroupId(random: Random, ordinal: number): string {
  const digits = random.fork(`group:${ordinal}`).integer(1_000_000_000).toString().padStart(12, "0");
  return `120363${digits}@${GROUP_SERVER}`;
}
