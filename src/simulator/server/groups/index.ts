import type { Random } from "../../random.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import type { GroupChange, GroupOptions } from "../../surface/groups.ts";
import type { Time } from "../../time.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import { GROUP_SERVER } from "../../world/jid.ts";
import type { Picture } from "../../world/profiles.ts";
import type { AddInvite, Group, Role, World } from "../../world/world.ts";
import type { Deliveries, Stamps } from "../ports.ts";
import { deleteGroup, linkGroup, unlinkGroup } from "./communities.ts";
import {
  addMembers,
  changeRoles,
  decideRequests,
  followLink,
  removeMembers,
  replaceMember,
} from "./members.ts";
import { groupNode } from "./node.ts";
import { tellOf } from "./notices.ts";
import { changeSettings, describe, newInvite, setPicture } from "./settings.ts";

interface Needs extends Stamps, Deliveries {
  world: World;
  random: Random;
  time: Time;
  behaviour: ServiceBehaviour;
}

/** Groups as the service keeps them, and what it tells their members (`w:g2`, `notification type=w:gp2`). */
export interface Groups {
  /** A group as its members see it, with all members (`iq w:g2`). */
  node(group: Group): BinaryNode;
  /** Makes a group and tells every member. @throws when a member does not exist */
  create(options: GroupOptions): Group;
  /** Makes a group that nobody is told of. @throws when a member does not exist */
  make(options: GroupOptions): Group;
  /** Makes a community: the parent group, and its announcements with the same members. */
  createCommunity(options: GroupOptions): { parent: Group; announcements: Group };
  /** Changes a group and tells its members, one notification for each kind of change. */
  change(group: Group, change: GroupChange): void;
  /** Changes what is said of a group, under an id of the writer's own. */
  describe(group: Group, description: NonNullable<Group["description"]>): void;
  /** Gives a group another picture, or takes it away. */
  setPicture(group: Group, picture: Picture | undefined, by: string): void;
  /** What an admin may send to somebody whom nobody may add. */
  inviteByMessage(group: Group, number: string, admin: string): AddInvite;
  /** Somebody accepts such an invitation, and is a member. */
  accept(group: Group, number: string): void;
  /** Somebody follows the invite link. */
  follow(group: Group, number: string): "joined" | "asked";
  /** Somebody of a community comes to one of its groups. */
  joinLinked(group: Group, number: string): void;
  /** A member goes on under another number. */
  replaceMember(group: Group, before: string, after: string): void;
  /** Groups that somebody had suggested to a community are suggestions of another number now. */
  moveSuggestions(community: Group, groups: string[], before: string, after: string): void;
}

const INVITED_FOR_S = 3 * 24 * 60 * 60;

/** The groups themselves live in the world. */
export function createGroups(needs: Needs): Groups {
  let made = 0;
  const make = (options: GroupOptions): Group => {
    const group = newGroup(needs, options, newId(needs.random, ++made));
    needs.world.groups.set(group.id, group);
    return group;
  };
  const create = (options: GroupOptions): Group => {
    const group = make(options);
    const node = element("create", { type: "new" }, [groupNode(needs, group)]);
    tellOf(needs, group, node, { actor: group.creator, told: group.members.keys() });
    return group;
  };
  return {
    node: (group) => groupNode(needs, group),
    create,
    make,
    createCommunity(options) {
      const parent = create({ ...options, community: { parent: true } });
      const { creator } = parent;
      const community = { linkedParent: parent.id, announcements: true } as const;
      return { parent, announcements: create({ ...options, creator, announce: true, community }) };
    },
    change: (group, change) => applyChange(needs, group, change),
    describe(group, description) {
      const { node } = describe(group, description);
      tellOf(needs, group, node, { actor: description.by, told: group.members.keys() });
    },
    setPicture(group, picture, by) {
      const { node, type } = setPicture(needs.world, group, picture, by);
      tellOf(needs, group, node, { actor: by, told: group.members.keys(), ...(type && { type }) });
    },
    inviteByMessage(group, number, admin) {
      const expiration = Math.floor(needs.time.now() / 1000) + INVITED_FOR_S;
      const invite = { code: newInvite(needs.random, `${group.id}:${number}`), expiration, admin };
      group.addInvites.set(number, invite);
      return invite;
    },
    accept(group, number) {
      const actor = group.addInvites.get(number)?.admin;
      addMembers(needs, group, [number], { actor });
    },
    follow: (group, number) => followLink(needs, group, number),
    joinLinked: (group, number) => addMembers(needs, group, [number], { reason: "linked_group_join" }),
    replaceMember: (group, before, after) => replaceMember(needs, group, before, after),
    moveSuggestions(community, groups, before, after) {
      const jid = userJid(needs.world.account(after), community.addressing);
      const suggestions = groups.map((id) => element("sub_group_suggestion", { jid: id }));
      const told = [...community.members.keys()].filter((number) => number !== after);
      tellOf(needs, community, element("change_number", { jid }, suggestions), { actor: before, told });
    },
  };
}

function newGroup({ world, random, time }: Needs, options: GroupOptions, id: string): Group {
  const creator = options.creator ?? options.members[0];
  if (!creator) throw new Error("a group needs a creator or a member");
  const members = new Map<string, Role>([[creator, "superadmin"]]);
  for (const number of options.members) if (number !== creator) members.set(number, "member");
  for (const number of options.admins ?? []) if (number !== creator) members.set(number, "admin");
  for (const number of members.keys()) world.account(number);
  const createdAt = Math.floor(time.now() / 1000);
  const { description: text } = options;
  return {
    id,
    subject: options.subject,
    createdAt,
    subjectAt: createdAt,
    subjectBy: creator,
    creator,
    addressing: options.addressing ?? "lid",
    announce: options.announce ?? false,
    locked: options.locked ?? false,
    description: text ? { id: `D${createdAt}`, text, at: createdAt, by: creator } : undefined,
    ephemeral: options.ephemeral,
    picture: undefined,
    approval: options.approval ?? false,
    memberAddMode: options.memberAddMode ?? "admin_add",
    invite: newInvite(random, id),
    revokedInvites: new Set(),
    requests: new Map(),
    addInvites: new Map(),
    isCommunity: options.community?.parent ?? false,
    isCommunityAnnouncements: options.community?.announcements ?? false,
    linkedParent: options.community?.linkedParent,
    members,
    versions: { members: createdAt * 1_000_000, announcement: createdAt * 1_000_000 },
  };
}

/** As the service makes them today: 18 digits beginning with 120363. */
function newId(random: Random, ordinal: number): string {
  const digits = random.fork(`group:${ordinal}`).integer(1_000_000_000).toString().padStart(12, "0");
  return `120363${digits}@${GROUP_SERVER}`;
}

function applyChange(needs: Needs, group: Group, change: GroupChange): void {
  const actor = change.by ?? group.creator;
  const { world } = needs;
  for (const number of change.add ?? []) {
    if (world.account(number).refusesGroups) throw new Error(`${number} lets nobody add it to groups`);
  }
  if (change.addressing !== undefined) group.addressing = change.addressing;
  addMembers(needs, group, change.add ?? [], { actor });
  removeMembers(needs, group, change.remove ?? [], actor);
  for (const number of change.leave ?? []) removeMembers(needs, group, [number], number);
  for (const number of change.join ?? []) followLink(needs, group, world.account(number).number);
  for (const action of ["approve", "reject"] as const)
    decideRequests(needs, group, action, change[action] ?? [], actor);
  for (const action of ["promote", "demote"] as const)
    changeRoles(needs, group, action, change[action] ?? [], actor);
  for (const { node, type } of changeSettings(needs, group, change, actor))
    tellOf(needs, group, node, { actor, told: group.members.keys(), ...(type && { type }) });
  for (const id of change.link ?? []) linkGroup(needs, group, world.group(id), actor);
  for (const id of change.unlink ?? []) unlinkGroup(needs, group, world.group(id), { actor });
  if (change.delete) deleteGroup(needs, group, actor);
}
