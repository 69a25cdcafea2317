import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Group, Role, World } from "../../world/world.ts";
import type { Deliveries, Stamps } from "../ports.ts";
import { groupNode, numberBeside, participantNode } from "./node.ts";
import { tellOf } from "./notices.ts";
import { nextVersion } from "./versions.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
  time: Time;
  behaviour: ServiceBehaviour;
}

/** How somebody came to a group. */
interface Coming {
  /** Who has added them; absent when they followed the invite link. */
  actor?: string;
  reason?: "invite" | "linked_group_join";
}

const ROLE_AFTER: Record<"promote" | "demote", Role> = { promote: "admin", demote: "member" };

/** Makes people members and tells everybody: those who were there already of them, and them of the group. */
export function addMembers(needs: Needs, group: Group, numbers: string[], { actor, reason }: Coming): void {
  const fresh = numbers.filter((number) => !group.members.has(number));
  if (fresh.length === 0) return;
  const before = [...group.members.keys()];
  for (const number of fresh) {
    group.members.set(needs.world.account(number).number, "member");
    group.requests.delete(number);
    group.addInvites.delete(number);
  }
  const added = changeNode(needs, group, "add", fresh, reason);
  if (!needs.behaviour.joinersGetGroup)
    return tellOf(needs, group, added, { actor, told: group.members.keys() });
  tellOf(needs, group, added, { actor, told: before });
  tellOf(needs, group, element("create", { reason }, [groupNode(needs, group)]), { actor, told: fresh });
}

/** Ends memberships and tells everybody, those who are gone included. Who ends his own leaves. */
export function removeMembers(needs: Needs, group: Group, numbers: string[], actor: string): void {
  const gone = numbers.filter((number) => group.members.has(number));
  if (gone.length === 0) return;
  const told = [...group.members.keys()];
  for (const number of gone) forget(needs, group, number);
  const isLeaving = gone.every((number) => number === actor);
  const tag = isLeaving && !needs.behaviour.leaveIsRemove ? "leave" : "remove";
  tellOf(needs, group, changeNode(needs, group, tag, gone), { actor, told });
}

/** Someone who leaves no longer holds the others' sender keys: on coming back they need new ones. */
function forget(needs: Needs, group: Group, number: string): void {
  group.members.delete(number);
  const gone = needs.world.account(number);
  for (const device of gone.devices.values()) device.senderKeys.delete(group.id);
}

/** Makes members admins, or admins members. */
export function changeRoles(
  needs: Needs,
  group: Group,
  action: "promote" | "demote",
  numbers: string[],
  actor: string,
): void {
  const members = numbers.filter((number) => group.members.has(number));
  for (const number of members) group.members.set(number, ROLE_AFTER[action]);
  if (members.length === 0) return;
  const told = [...group.members.keys()];
  tellOf(needs, group, changeNode(needs, group, action, members), { actor, told });
}

/**
 * A member goes on under another number: the change names who was there as the one who makes it, and who is there now. Sources: zapo
 * `client/messaging/group-metadata.ts` (replaces the author by the participants), whatsapp-rust `GroupNotificationAction::Modify`.
 */
export function replaceMember(needs: Needs, group: Group, before: string, after: string): void {
  const members = [...group.members].map(
    ([number, role]) => [number === before ? after : number, role] as const,
  );
  group.members.clear();
  for (const [number, role] of members) group.members.set(number, role);
  if (group.creator === before) group.creator = after;
  if (group.subjectBy === before) group.subjectBy = after;
  if (group.description?.by === before) group.description = { ...group.description, by: after };
  const told = members.map(([number]) => number).filter((number) => number !== after);
  tellOf(needs, group, changeNode(needs, group, "modify", [after]), { actor: before, told });
}

/** A change of the list of members. It makes a new version of it. */
function changeNode(
  needs: Needs,
  group: Group,
  tag: string,
  numbers: string[],
  reason?: Coming["reason"],
): BinaryNode {
  const before = group.versions.members;
  group.versions.members = nextVersion(needs, before);
  const { groupVersions } = needs.behaviour;
  const attrs = {
    v_id: groupVersions ? String(group.versions.members) : undefined,
    prev_v_id: groupVersions ? String(before) : undefined,
    reason,
  };
  const participants = numbers.map((number) =>
    participantNode(needs.world.account(number), group.addressing, group.members.get(number)),
  );
  return element(tag, attrs, participants);
}

/** Somebody follows the invite link: he is a member then, or, where admins decide, has asked to become one. */
export function followLink(needs: Needs, group: Group, number: string): "joined" | "asked" {
  if (!group.approval) {
    addMembers(needs, group, [number], { reason: "invite" });
    return "joined";
  }
  if (group.requests.has(number)) return "asked";
  group.requests.set(number, { at: Math.floor(needs.time.now() / 1000), method: "invite_link" });
  const account = needs.world.account(number);
  const asker = element("requested_user", {
    jid: userJid(account, group.addressing),
    phone_number: numberBeside(account, group.addressing),
  });
  const node = element("created_membership_requests", { request_method: "invite_link" }, [asker]);
  tellOf(needs, group, node, { actor: number, told: adminsOf(group) });
  return "asked";
}

/** Admins let in those who have asked, or turn them away. @returns those who had asked */
export function decideRequests(
  needs: Needs,
  group: Group,
  action: "approve" | "reject",
  numbers: string[],
  actor: string,
): string[] {
  const asked = numbers.filter((number) => group.requests.has(number));
  if (action === "approve") {
    addMembers(needs, group, asked, { actor });
    return asked;
  }
  for (const number of asked) group.requests.delete(number);
  if (asked.length === 0) return asked;
  const turnedAway = asked.map((number) =>
    element("participant", { jid: userJid(needs.world.account(number), group.addressing) }),
  );
  const node = element("revoked_membership_requests", {}, turnedAway);
  tellOf(needs, group, node, { actor, told: [...adminsOf(group), ...asked] });
  return asked;
}

/** Numbers of those who may change what only admins may. */
const adminsOf = (group: Group): string[] =>
  [...group.members].filter(([, role]) => role !== "member").map(([number]) => number);
