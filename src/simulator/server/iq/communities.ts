import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { PN_SERVER, jidOf } from "../../world/jid.ts";
import { userJid } from "../../world/accounts.ts";
import type { Group, World } from "../../world/world.ts";
import type { Groups } from "../groups/index.ts";
import { IqError } from "../iq-error.ts";
import { adminGroup, memberGroup } from "./group-rights.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

interface Needs {
  world: World;
  groups: Groups;
}

/** Communities: which groups belong to one, and who is in any of them. */
export const createCommunityHandlers = (needs: Needs): IqHandler[] => [
  { xmlns: "w:g2", type: "set", child: "links", answer: (request) => link(needs, request) },
  { xmlns: "w:g2", type: "set", child: "unlink", answer: (request) => unlink(needs, request) },
  { xmlns: "w:g2", type: "get", child: "sub_groups", answer: (request) => subGroups(needs, request) },
  {
    xmlns: "w:g2",
    type: "get",
    child: "linked_groups_participants",
    answer: (request) => participants(needs, request),
  },
  { xmlns: "w:g2", type: "get", child: "query_linked", answer: (request) => queryLinked(needs, request) },
  { xmlns: "w:g2", type: "set", child: "join_linked_group", answer: (request) => joinLinked(needs, request) },
  {
    xmlns: "w:g2",
    type: "set",
    child: "delete_parent",
    answer(request) {
      const by = request.device.account.number;
      needs.groups.change(adminGroup(needs, request), { delete: true, by });
      return [];
    },
  },
];

function link(needs: Needs, request: IqRequest): BinaryNode[] {
  const parent = adminGroup(needs, request);
  const by = request.device.account.number;
  const named = children(children(request.body, "link")[0], "group").map(({ attrs }) => attrs.jid ?? "");
  const groups = named.map((jid) => {
    const group = needs.world.groups.get(jid);
    if (!group || group.linkedParent || group.isCommunity) return element("group", { jid, error: "404" });
    needs.groups.change(parent, { link: [jid], by });
    return element("group", { jid });
  });
  return [element("links", {}, [element("link", { link_type: "sub_group" }, groups)])];
}

function unlink(needs: Needs, request: IqRequest): BinaryNode[] {
  const parent = adminGroup(needs, request);
  const by = request.device.account.number;
  const groups = children(request.body, "group").map(({ attrs }) => {
    const jid = attrs.jid ?? "";
    if (needs.world.groups.get(jid)?.linkedParent !== parent.id)
      return element("group", { jid, error: "404" });
    needs.groups.change(parent, { unlink: [jid], by });
    return element("group", { jid });
  });
  return [element("unlink", { unlink_type: "sub_group" }, groups)];
}

function subGroups(needs: Needs, request: IqRequest): BinaryNode[] {
  const list = needs.world.linkedGroups(memberGroup(needs, request).id).map((group) => {
    const attrs = {
      id: group.id.split("@")[0],
      subject: group.subject,
      s_t: String(group.subjectAt),
      creation: String(group.createdAt),
      size: String(group.members.size),
    };
    return element(
      "group",
      attrs,
      group.isCommunityAnnouncements ? [element("default_sub_group")] : undefined,
    );
  });
  return [element("sub_groups", {}, list)];
}

function participants({ world, ...needs }: Needs, request: IqRequest): BinaryNode[] {
  const parent = memberGroup({ world, ...needs }, request);
  const groups = [parent, ...world.linkedGroups(parent.id)];
  const numbers = new Set(groups.flatMap(({ members }) => [...members.keys()]));
  const list = [...numbers].map((number) => {
    const account = world.account(number);
    const phone = account.hidesNumber ? undefined : jidOf(number, PN_SERVER);
    return element("participant", { jid: userJid(account, "lid"), phone_number: phone });
  });
  return [element("linked_groups_participants", {}, list)];
}

/** A group of the community that is asked. @throws IqError 404 */
function linkedGroup(needs: Needs, request: IqRequest): Group {
  const parent = memberGroup(needs, request);
  const group = needs.world.groups.get(request.body.attrs.jid ?? "");
  if (group?.linkedParent !== parent.id) throw new IqError(404, "item-not-found");
  return group;
}

function queryLinked(needs: Needs, request: IqRequest): BinaryNode[] {
  return [element("linked_group", {}, [needs.groups.node(linkedGroup(needs, request))])];
}

function joinLinked(needs: Needs, request: IqRequest): BinaryNode[] {
  const group = linkedGroup(needs, request);
  needs.groups.joinLinked(group, request.device.account.number);
  return [element("linked_group", {}, [needs.groups.node(group)])];
}
