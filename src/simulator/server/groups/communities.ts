import { element } from "../../wire/nodes.ts";
import type { Group } from "../../world/world.ts";
import { addMembers } from "./members.ts";
import { briefNode } from "./node.ts";
import { tellOf } from "./notices.ts";

type Needs = Parameters<typeof addMembers>[0];

/** Brings a group into a community: its members come to the community, and to its announcements. */
export function linkGroup(needs: Needs, parent: Group, group: Group, actor: string): void {
  group.linkedParent = parent.id;
  const members = [...group.members.keys()];
  const announcements = needs.world
    .linkedGroups(parent.id)
    .find(({ isCommunityAnnouncements }) => isCommunityAnnouncements);
  for (const place of [parent, announcements])
    if (place) addMembers(needs, place, members, { actor, reason: "linked_group_join" });
  const [ofParent, ofGroup] = [
    element("link", { link_type: "sub_group" }, [briefNode(group)]),
    element("link", { link_type: "parent_group" }, [briefNode(parent)]),
  ];
  tellOf(needs, parent, ofParent, { actor, told: parent.members.keys() });
  tellOf(needs, group, ofGroup, { actor, told: group.members.keys() });
}

/** Takes a group out of a community; its members stay what they are. */
export function unlinkGroup(
  needs: Needs,
  parent: Group,
  group: Group,
  { actor, reason = "unlink_group" }: { actor: string; reason?: "unlink_group" | "delete_parent" },
): void {
  group.linkedParent = undefined;
  const [ofParent, ofGroup] = [
    element("unlink", { unlink_type: "sub_group", unlink_reason: reason }, [briefNode(group)]),
    element("unlink", { unlink_type: "parent_group", unlink_reason: reason }, [briefNode(parent)]),
  ];
  if (reason === "unlink_group") tellOf(needs, parent, ofParent, { actor, told: parent.members.keys() });
  tellOf(needs, group, ofGroup, { actor, told: group.members.keys() });
}

/** Ends a group. Of a community its announcements end with it; its other groups go on by themselves. */
export function deleteGroup(needs: Needs, group: Group, actor: string): void {
  for (const linked of needs.world.linkedGroups(group.id)) {
    if (linked.isCommunityAnnouncements) deleteGroup(needs, linked, actor);
    else unlinkGroup(needs, group, linked, { actor, reason: "delete_parent" });
  }
  const told = [...group.members.keys()];
  needs.world.groups.delete(group.id);
  tellOf(needs, group, element("delete", { reason: group.isCommunity ? "delete_parent" : "delete_group" }), {
    actor,
    told,
  });
}
