import { child, children, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Group } from "../../world.ts";
import { applyGroupChange, groupNode } from "../groups.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

/** What a group setting's tag changes. */
const settings: Record<string, (body: BinaryNode) => Parameters<typeof applyGroupChange>[2]> = {
  announcement: () => ({ announce: true }),
  not_announcement: () => ({ announce: false }),
  locked: () => ({ locked: true }),
  unlocked: () => ({ locked: false }),
  subject: (body) => ({ subject: text(body) ?? "" }),
};

const membership = ["add", "remove", "promote", "demote"] as const;

/** Groups: reading them, and what members and admins do to them. */
export const groupHandlers: IqHandler[] = [
  { xmlns: "w:g2", type: "get", child: "participating", answer: participating },
  {
    xmlns: "w:g2",
    type: "get",
    child: "query",
    answer: (request) => [groupNode(request.server, memberGroup(request))],
  },
  ...membership.map((action): IqHandler => ({
    xmlns: "w:g2",
    type: "set",
    child: action,
    answer: (request) => changeMembers(request, action),
  })),
  ...Object.entries(settings).map(([tag, change]): IqHandler => ({
    xmlns: "w:g2",
    type: "set",
    child: tag,
    answer(request) {
      const group = adminGroup(request);
      applyGroupChange(request.server, group, { ...change(request.body), by: request.device.account.number });
      return [];
    },
  })),
  { xmlns: "w:g2", type: "set", child: "leave", answer: leave },
];

function participating({ server, device }: IqRequest): BinaryNode[] {
  const groups = server.world.groupsOf(device.account.number);
  return [
    element(
      "groups",
      {},
      groups.map((group) => groupNode(server, group)),
    ),
  ];
}

function memberGroup({ server, device, iq }: IqRequest): Group {
  const group = server.world.groups.get(iq.attrs.to ?? "");
  if (!group) throw new IqError(404, "item-not-found");
  if (!group.members.has(device.account.number)) throw new IqError(403, "forbidden");
  return group;
}

function adminGroup(request: IqRequest): Group {
  const group = memberGroup(request);
  if (group.members.get(request.device.account.number) === "member") throw new IqError(403, "forbidden");
  return group;
}

function changeMembers(request: IqRequest, action: (typeof membership)[number]): BinaryNode[] {
  const group = adminGroup(request);
  const { server, body, device } = request;
  const participants = children(body, "participant");
  if (participants.length === 0) throw new MalformedIq(`w:g2 ${action} without participants`);
  const accounts = participants.map(({ attrs }) => ({
    jid: attrs.jid,
    account: server.world.find(attrs.jid),
  }));
  const numbers = accounts.flatMap(({ account }) => (account ? [account.number] : []));
  applyGroupChange(server, group, { [action]: numbers, by: device.account.number });
  const results = accounts.map(({ jid, account }) =>
    element("participant", { jid, error: account ? undefined : "404" }),
  );
  return [element(action, {}, results)];
}

function leave({ server, device, body }: IqRequest): BinaryNode[] {
  const id = child(body, "group")?.attrs.id ?? "";
  const group = server.world.groups.get(id);
  if (!group?.members.has(device.account.number)) throw new IqError(404, "item-not-found");
  applyGroupChange(server, group, { remove: [device.account.number], by: device.account.number });
  return [element("leave", {}, [element("group", { id })])];
}
