import type { Groups } from "../server/groups/index.ts";
import type { Deliveries, Stamps } from "../server/ports.ts";
import type { GroupInfo, GroupMethods } from "../surface/groups.ts";
import { element } from "../wire/nodes.ts";
import { userJid } from "../world/accounts.ts";
import { SERVER_JID } from "../world/jid.ts";
import type { Group, World } from "../world/world.ts";
import { companionsOf } from "./wire.ts";

interface Needs extends Pick<Stamps, "now">, Deliveries {
  world: World;
  groups: Groups;
}

/** Groups, made and changed from outside. */
export function createGroupMethods(needs: Needs): GroupMethods {
  const { world, groups } = needs;
  return {
    async addGroup(options) {
      return groupInfo(world, groups.create(options));
    },
    async addCommunity(options) {
      const { parent, announcements } = groups.createCommunity(options);
      return { parent: groupInfo(world, parent), announcements: groupInfo(world, announcements) };
    },
    async changeGroup(id, change) {
      const group = world.group(id);
      groups.change(group, change);
      return groupInfo(world, group);
    },
    async group(id) {
      return groupInfo(world, world.group(id));
    },
    async senderKeyHolders(id, number, device = 1) {
      const holders = world.account(number).devices.get(device)?.senderKeys.get(id)?.holders ?? new Set();
      return [...holders].map((jid) => world.device(jid)?.label ?? jid).toSorted();
    },
    async tellDirty(number, type) {
      const dirty = element("dirty", { type, timestamp: needs.now() });
      for (const { connection } of companionsOf(world, number))
        connection?.send(element("ib", { from: SERVER_JID }, [dirty]));
    },
  };
}

function groupInfo(world: World, group: Group): GroupInfo {
  const { id, subject, addressing, announce, locked, approval, invite, linkedParent } = group;
  const members = [...group.members].map(([number, role]) => {
    return { number, lid: userJid(world.account(number), "lid"), role };
  });
  return {
    id,
    subject,
    addressing,
    announce,
    locked,
    description: group.description?.text ?? "",
    ephemeral: group.ephemeral ?? 0,
    approval,
    requests: [...group.requests.keys()],
    inviteLink: `https://chat.whatsapp.com/${invite}`,
    ...(linkedParent && { linkedParent }),
    members,
  };
}
