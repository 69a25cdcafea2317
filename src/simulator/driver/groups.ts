import type { Groups } from "../server/groups.ts";
import type { GroupInfo, GroupMethods, GroupOptions } from "../surface/groups.ts";
import type { Time } from "../time.ts";
import { userJid } from "../world/accounts.ts";
import type { Group, Role, World } from "../world/world.ts";

interface Needs {
  world: World;
  groups: Groups;
  time: Time;
}

/** Groups, made and changed from outside. */
export function createGroupMethods(needs: Needs): GroupMethods {
  const { world, groups } = needs;
  return {
    async addGroup(options) {
      const group = newGroup(needs, options);
      world.groups.set(group.id, group);
      groups.announce(group);
      return groupInfo(world, group);
    },
    async changeGroup(id, change) {
      const group = world.group(id);
      groups.change(group, change);
      return groupInfo(world, group);
    },
    async group(id) {
      return groupInfo(world, world.group(id));
    },
  };
}

function newGroup({ world, groups, time }: Needs, options: GroupOptions): Group {
  const creator = options.creator ?? options.members[0];
  if (!creator) throw new Error("a group needs a creator or a member");
  const members = new Map<string, Role>([[creator, "superadmin"]]);
  for (const number of options.members) if (number !== creator) members.set(number, "member");
  for (const number of options.admins ?? []) if (number !== creator) members.set(number, "admin");
  for (const number of members.keys()) world.account(number);
  const createdAt = Math.floor(time.now() / 1000);
  return {
    id: groups.newId(world.groups.size + 1),
    subject: options.subject,
    createdAt,
    subjectAt: createdAt,
    creator,
    addressing: options.addressing ?? "lid",
    announce: options.announce ?? false,
    locked: options.locked ?? false,
    description: options.description,
    ephemeral: options.ephemeral,
    isCommunity: options.community?.parent ?? false,
    isCommunityAnnouncements: options.community?.announcements ?? false,
    linkedParent: options.community?.linkedParent,
    members,
  };
}

function groupInfo(world: World, { id, subject, addressing, announce, members }: Group): GroupInfo {
  const list = [...members].map(([number, role]) => {
    return { number, lid: userJid(world.account(number), "lid"), role };
  });
  return { id, subject, addressing, announce, members: list };
}
