import { child, children, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { GroupChange } from "../../surface/groups.ts";
import type { Groups } from "../groups.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import type { IqHandler, IqRequest } from "./handler.ts";
import type { Group, World } from "../../world/world.ts";

/** What each settings tag changes. */
const settings: Record<string, (body: BinaryNode) => GroupChange> = {
  announcement: () => ({ announce: true }),
  not_announcement: () => ({ announce: false }),
  locked: () => ({ locked: true }),
  unlocked: () => ({ locked: false }),
  subject: (body) => ({ subject: text(body) ?? "" }),
};

const membership = ["add", "remove", "promote", "demote"] as const;

interface Needs {
  world: World;
  groups: Groups;
}

/** Groups (`w:g2`): reading them, and what members and admins do to them. */
export const createGroupHandlers = (needs: Needs): IqHandler[] => [
  { xmlns: "w:g2", type: "get", child: "participating", answer: (request) => participating(needs, request) },
  {
    xmlns: "w:g2",
    type: "get",
    child: "query",
    answer: (request) => [needs.groups.node(memberGroup(needs, request))],
  },
  ...membership.map((action): IqHandler => ({
    xmlns: "w:g2",
    type: "set",
    child: action,
    answer: (request) => changeMembers(needs, request, action),
  })),
  ...Object.entries(settings).map(([tag, change]): IqHandler => ({
    xmlns: "w:g2",
    type: "set",
    child: tag,
    answer(request) {
      const by = request.device.account.number;
      needs.groups.change(adminGroup(needs, request), { ...change(request.body), by });
      return [];
    },
  })),
  { xmlns: "w:g2", type: "set", child: "leave", answer: (request) => leave(needs, request) },
];

function participating({ world, groups }: Needs, { device }: IqRequest): BinaryNode[] {
  const list = world.groupsOf(device.account.number).map((group) => groups.node(group));
  return [element("groups", {}, list)];
}

function memberGroup({ world }: Needs, { device, iq }: IqRequest): Group {
  const group = world.groups.get(iq.attrs.to ?? "");
  if (!group) throw new IqError(404, "item-not-found");
  if (!group.members.has(device.account.number)) throw new IqError(403, "forbidden");
  return group;
}

function adminGroup(needs: Needs, request: IqRequest): Group {
  const group = memberGroup(needs, request);
  if (group.members.get(request.device.account.number) === "member") throw new IqError(403, "forbidden");
  return group;
}

function changeMembers(needs: Needs, request: IqRequest, action: (typeof membership)[number]): BinaryNode[] {
  const group = adminGroup(needs, request);
  const { body, device } = request;
  const participants = children(body, "participant");
  if (participants.length === 0) throw new MalformedIq(`w:g2 ${action} without participants`);
  const accounts = participants.map(({ attrs }) => ({
    jid: attrs.jid,
    account: needs.world.find(attrs.jid),
  }));
  const numbers = accounts.flatMap(({ account }) => (account ? [account.number] : []));
  needs.groups.change(group, { [action]: numbers, by: device.account.number });
  const results = accounts.map(({ jid, account }) =>
    element("participant", { jid, error: account ? undefined : "404" }),
  );
  return [element(action, {}, results)];
}

function leave({ world, groups }: Needs, { device, body }: IqRequest): BinaryNode[] {
  const id = child(body, "group")?.attrs.id ?? "";
  const group = world.groups.get(id);
  if (!group?.members.has(device.account.number)) throw new IqError(404, "item-not-found");
  groups.change(group, { remove: [device.account.number], by: device.account.number });
  return [element("leave", {}, [element("group", { id })])];
}
