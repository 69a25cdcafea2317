import { child, children, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { GroupChange } from "../../surface/groups.ts";
import type { Groups } from "../groups/index.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import { createCommunityHandlers } from "./communities.ts";
import { createGroupInviteHandlers } from "./group-invites.ts";
import { createGroupMemberHandlers } from "./group-members.ts";
import { addRequestNode, groupOfInvitation } from "./group-invitations.ts";
import type { IqHandler, IqRequest } from "./handler.ts";
import { adminGroup, editableGroup, memberGroup } from "./group-rights.ts";
import type { World } from "../../world/world.ts";
import type { Time } from "../../time.ts";

interface Needs {
  world: World;
  groups: Groups;
  time: Time;
}

const onOrOff = (node: BinaryNode | undefined): boolean => {
  const { state } = node?.attrs ?? {};
  if (state !== "on" && state !== "off") throw new MalformedIq(`w:g2 state ${state}`);
  return state === "on";
};

/** What each tag changes, and who may: admins, or in groups that are not locked everybody. */
const settings: Record<string, { by: "admins" | "members"; change(body: BinaryNode): GroupChange }> = {
  announcement: { by: "admins", change: () => ({ announce: true }) },
  not_announcement: { by: "admins", change: () => ({ announce: false }) },
  locked: { by: "admins", change: () => ({ locked: true }) },
  unlocked: { by: "admins", change: () => ({ locked: false }) },
  subject: { by: "members", change: (body) => ({ subject: subjectOf(text(body)) }) },
  ephemeral: { by: "members", change: ({ attrs }) => ({ ephemeral: Number(attrs.expiration) || 0 }) },
  not_ephemeral: { by: "members", change: () => ({ ephemeral: 0 }) },
  member_add_mode: {
    by: "admins",
    change: (body) => ({ memberAddMode: text(body) === "all_member_add" ? "all_member_add" : "admin_add" }),
  },
  membership_approval_mode: {
    by: "admins",
    change: (body) => ({ approval: onOrOff(child(body, "group_join") ?? child(body, "community_join")) }),
  },
};

/** Groups (`w:g2`): reading them, making them, and what members and admins change of them. */
export const createGroupHandlers = (needs: Needs): IqHandler[] => [
  { xmlns: "w:g2", type: "get", child: "participating", answer: (request) => participating(needs, request) },
  { xmlns: "w:g2", type: "get", child: "query", answer: (request) => query(needs, request) },
  { xmlns: "w:g2", type: "set", child: "create", answer: (request) => create(needs, request) },
  { xmlns: "w:g2", type: "set", child: "description", answer: (request) => describe(needs, request) },
  ...Object.entries(settings).map(([tag, { by, change }]): IqHandler => ({
    xmlns: "w:g2",
    type: "set",
    child: tag,
    answer(request) {
      const group = by === "admins" ? adminGroup(needs, request) : editableGroup(needs, request);
      needs.groups.change(group, { ...change(request.body), by: request.device.account.number });
      return [];
    },
  })),
  ...createGroupMemberHandlers(needs),
  ...createGroupInviteHandlers(needs),
  ...createCommunityHandlers(needs),
];

function participating({ world, groups }: Needs, { device }: IqRequest): BinaryNode[] {
  const list = world.groupsOf(device.account.number).map((group) => groups.node(group));
  return [element("groups", {}, list)];
}

/** One group by its address, or several by `<group jid>`; those that the asker is not in are left out of several. */
function query(needs: Needs, request: IqRequest): BinaryNode[] {
  const { iq, body, device } = request;
  const invited = child(body, "add_request");
  if (invited) return [needs.groups.node(groupOfInvitation(needs, request, invited))];
  if (iq.attrs.to?.startsWith("@") === false) return [needs.groups.node(memberGroup(needs, request))];
  const wanted = children(body, "group").map(({ attrs }) => needs.world.groups.get(attrs.jid ?? ""));
  return wanted
    .filter((group) => group?.members.has(device.account.number))
    .map((group) => needs.groups.node(group!));
}

const LONGEST_SUBJECT = 100;

function subjectOf(subject = ""): string {
  if (subject === "" || subject.length > LONGEST_SUBJECT) throw new IqError(406, "not-acceptable");
  return subject;
}

/** Those whom nobody may add stand in the answer with what an invite message needs, and are no members. */
function create({ world, groups }: Needs, { body, device }: IqRequest): BinaryNode[] {
  const creator = device.account.number;
  const people = children(body, "participant").map(({ attrs }) => world.find(attrs.jid));
  if (people.includes(undefined)) throw new IqError(404, "item-not-found");
  const [refusing, willing] = [true, false].map((refuses) =>
    people.flatMap((account) => (account!.refusesGroups === refuses ? [account!.number] : [])),
  );
  const options = {
    subject: subjectOf(body.attrs.subject),
    creator,
    members: willing!,
    announce: child(body, "announcement") !== undefined,
    locked: child(body, "locked") !== undefined,
    ephemeral: Number(child(body, "ephemeral")?.attrs.expiration) || undefined,
    description: text(child(child(body, "description"), "body")),
    approval: child(child(body, "membership_approval_mode"), "group_join")?.attrs.state === "on",
    memberAddMode: text(child(body, "member_add_mode")) as "admin_add" | undefined,
  };
  if (child(body, "parent")) return [groups.node(groups.createCommunity(options).parent)];
  const parent = child(body, "linked_parent")?.attrs.jid;
  const group = groups.create(options);
  if (parent) groups.change(world.group(parent), { link: [group.id], by: creator });
  const node = groups.node(group);
  const refused = refusing!.map((number) => addRequestNode(groups, group, number, creator));
  return [element("group", node.attrs, [...children(node), ...refused])];
}

/** The writer says which description he has seen: another one since then is a conflict. */
function describe(needs: Needs, request: IqRequest): BinaryNode[] {
  const group = editableGroup(needs, request);
  const { attrs } = request.body;
  const before = group.description?.id;
  if (before !== undefined && attrs.prev !== undefined && attrs.prev !== before)
    throw new IqError(409, "conflict");
  const words = attrs.delete === "true" ? "" : text(child(request.body, "body"));
  if (words === undefined) throw new MalformedIq("w:g2 description without body");
  const at = Math.floor(needs.time.now() / 1000);
  const by = request.device.account.number;
  needs.groups.describe(group, { id: attrs.id ?? `D${at}`, text: words, at, by });
  return [];
}
