import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { userJid } from "../../world/accounts.ts";
import type { Group, World } from "../../world/world.ts";
import type { Groups } from "../groups/index.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import { adminGroup, memberGroup } from "./group-rights.ts";
import { addRequestNode } from "./group-invitations.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

interface Needs {
  world: World;
  groups: Groups;
}

const ACTIONS = ["add", "remove", "promote", "demote"] as const;
type Action = (typeof ACTIONS)[number];

/** Members of groups: who comes, goes and is admin, and those who have asked to join. */
export const createGroupMemberHandlers = (needs: Needs): IqHandler[] => [
  ...ACTIONS.map((action): IqHandler => ({
    xmlns: "w:g2",
    type: "set",
    child: action,
    answer: (request) => changeMembers(needs, request, action),
  })),
  { xmlns: "w:g2", type: "set", child: "leave", answer: (request) => leave(needs, request) },
  {
    xmlns: "w:g2",
    type: "get",
    child: "membership_approval_requests",
    answer: (request) => [listRequests(needs, adminGroup(needs, request))],
  },
  {
    xmlns: "w:g2",
    type: "set",
    child: "membership_requests_action",
    answer: (request) => decide(needs, request),
  },
];

function changeMembers(needs: Needs, request: IqRequest, action: Action): BinaryNode[] {
  const { body, device } = request;
  const member = memberGroup(needs, request);
  const mayAdd = action === "add" && member.memberAddMode === "all_member_add";
  const group = mayAdd ? member : adminGroup(needs, request);
  const participants = children(body, "participant");
  if (participants.length === 0) throw new MalformedIq(`w:g2 ${action} without participants`);
  const by = device.account.number;
  const outcomes = participants.map(({ attrs }) =>
    outcomeOf(needs, group, action, { jid: attrs.jid ?? "", by }),
  );
  const numbers = outcomes.flatMap(({ number }) => number ?? []);
  if (numbers.length > 0) needs.groups.change(group, { [action]: numbers, by });
  return [
    element(
      action,
      {},
      outcomes.map(({ node }) => node),
    ),
  ];
}

/** What becomes of one of those who are named; without a number nothing does. */
function outcomeOf(
  { world, groups }: Needs,
  group: Group,
  action: Action,
  { jid, by }: { jid: string; by: string },
): { node: BinaryNode; number?: string } {
  const refused = (error: string) => ({ node: element("participant", { jid, error }) });
  const account = world.find(jid);
  if (!account) return refused("404");
  const { number } = account;
  if (action !== "add") {
    if (!group.members.has(number)) return refused("404");
    return { node: element("participant", { jid }), number };
  }
  if (group.members.has(number)) return refused("409");
  if (account.refusesGroups) return { node: addRequestNode(groups, group, number, by, jid) };
  return { node: element("participant", { jid }), number };
}

/** One or several groups, or a community with all that belongs to it. */
function leave({ world, groups }: Needs, { device, body }: IqRequest): BinaryNode[] {
  const { number } = device.account;
  const named = children(body).filter(({ tag }) => tag === "group" || tag === "community");
  const left = named.map(({ tag, attrs }) => {
    const group = world.groups.get(attrs.id ?? "");
    if (!group?.members.has(number)) throw new IqError(404, "item-not-found");
    for (const linked of world.linkedGroups(group.id)) groups.change(linked, { leave: [number] });
    groups.change(group, { leave: [number] });
    return element(tag, { id: attrs.id });
  });
  return [element("leave", {}, left)];
}

function listRequests({ world }: Needs, group: Group): BinaryNode {
  const requests = [...group.requests].map(([number, { at, method }]) =>
    element("membership_approval_request", {
      jid: userJid(world.account(number), group.addressing),
      request_time: String(at),
      request_method: method,
    }),
  );
  return element("membership_approval_requests", {}, requests);
}

function decide(needs: Needs, request: IqRequest): BinaryNode[] {
  const group = adminGroup(needs, request);
  const answers = children(request.body).map((action) => {
    if (action.tag !== "approve" && action.tag !== "reject") throw new MalformedIq(`w:g2 ${action.tag}`);
    const named = children(action, "participant").map(({ attrs }) => ({
      jid: attrs.jid,
      number: needs.world.find(attrs.jid)?.number ?? "",
    }));
    const asked = named.filter(({ number }) => group.requests.has(number)).map(({ number }) => number);
    needs.groups.change(group, { [action.tag]: asked, by: request.device.account.number });
    const results = named.map(({ jid, number }) =>
      element("participant", { jid, error: asked.includes(number) ? undefined : "404" }),
    );
    return element(action.tag, {}, results);
  });
  return [element("membership_requests_action", {}, answers)];
}
