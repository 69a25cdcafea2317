import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Account, Group, Role } from "../world.ts";
import type { GroupChange } from "../types.ts";
import { listedDevices } from "./device-lists.ts";
import { GROUP_SERVER, LID_SERVER, PN_SERVER, jidOf } from "./jid.ts";
import type { SimulatorServer } from "./server.ts";

/** A group as its members see it, with all members. */
export function groupNode(server: SimulatorServer, group: Group): BinaryNode {
  const creator = server.world.account(group.creator);
  const content = [...group.members].map(([number, role]) =>
    participantNode(server.world.account(number), group.addressing, role),
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

function userJid(account: Account, addressing: "pn" | "lid"): string {
  return addressing === "lid" ? jidOf(account.lid, LID_SERVER) : jidOf(account.number, PN_SERVER);
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

/** Tells every member of a new group. */
export function announceGroup(server: SimulatorServer, group: Group): void {
  notify(
    server,
    group,
    group.creator,
    group.members.keys(),
    element("create", { type: "new" }, [groupNode(server, group)]),
  );
}

const ROLE_AFTER: Record<"promote" | "demote", Role> = { promote: "admin", demote: "member" };

/** Changes a group and tells its members, one notification for each kind of change. */
export function applyGroupChange(server: SimulatorServer, group: Group, change: GroupChange): void {
  const actor = change.by ?? group.creator;
  if (change.add?.length) {
    for (const number of change.add) group.members.set(server.world.account(number).number, "member");
    tellMembers(server, group, actor, "add", change.add, [...group.members.keys()]);
  }
  if (change.remove?.length) {
    const told = [...group.members.keys()];
    for (const number of change.remove) forget(server, group, number);
    const isLeaving = change.remove.every((number) => number === actor);
    tellMembers(server, group, actor, isLeaving ? "leave" : "remove", change.remove, told);
  }
  for (const action of ["promote", "demote"] as const) {
    const numbers = change[action] ?? [];
    for (const number of numbers)
      if (group.members.has(number)) group.members.set(number, ROLE_AFTER[action]);
    if (numbers.length > 0) tellMembers(server, group, actor, action, numbers, [...group.members.keys()]);
  }
  const note = (tag: string, attrs = {}) =>
    notify(server, group, actor, group.members.keys(), element(tag, attrs));
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
    group.subjectAt = Math.floor(server.clock() / 1000);
    note("subject", { subject: change.subject, s_t: String(group.subjectAt) });
  }
}

/** Who leaves no longer counts as a holder of the others' keys: coming back needs them anew. */
function forget(server: SimulatorServer, group: Group, number: string): void {
  group.members.delete(number);
  const gone = server.world.account(number);
  for (const device of gone.devices.values()) device.senderKeys.delete(group.id);
}

function tellMembers(
  server: SimulatorServer,
  group: Group,
  actor: string,
  tag: string,
  numbers: string[],
  told: string[],
): void {
  const participants = numbers.map((number) =>
    participantNode(server.world.account(number), group.addressing, group.members.get(number)),
  );
  notify(server, group, actor, told, element(tag, {}, participants));
}

function notify(
  server: SimulatorServer,
  group: Group,
  actorNumber: string,
  told: Iterable<string>,
  content: BinaryNode,
): void {
  const actor = server.world.account(actorNumber);
  const id = server.nextId();
  for (const number of told) {
    for (const device of listedDevices(server.world.account(number))) {
      // People who never came online ask for the group before they write.
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
        t: server.now(),
      };
      server.deliver(device, element("notification", attrs, [content]));
    }
  }
}

/** A group id as the service makes them today: 18 digits beginning with 120363. */
export function newGroupId(server: SimulatorServer, ordinal: number): string {
  const digits = server.random.fork(`group:${ordinal}`).integer(1_000_000_000).toString().padStart(12, "0");
  return `120363${digits}@${GROUP_SERVER}`;
}
