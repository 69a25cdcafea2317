import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Time } from "../../time.ts";
import type { Group, World } from "../../world/world.ts";
import type { Groups } from "../groups/index.ts";
import { IqError } from "../iq-error.ts";
import { memberGroup } from "./group-rights.ts";
import { groupOfInvitation } from "./group-invitations.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

interface Needs {
  world: World;
  groups: Groups;
  time: Time;
}

/** Ways into groups: the link, for whoever has it, and invitations of single people. */
export const createGroupInviteHandlers = (needs: Needs): IqHandler[] => [
  { xmlns: "w:g2", type: "get", child: "invite", answer: (request) => look(needs, request) },
  { xmlns: "w:g2", type: "set", child: "invite", answer: (request) => follow(needs, request) },
  {
    xmlns: "w:g2",
    type: "set",
    child: "accept",
    answer(request) {
      const group = groupOfInvitation(needs, request, request.body);
      needs.groups.accept(group, request.device.account.number);
      return [element("group", { jid: group.id })];
    },
  },
];

/** With a code: the group behind a link, for everybody. Without: the code of a group, for its admins. */
function look(needs: Needs, request: IqRequest): BinaryNode[] {
  const { code } = request.body.attrs;
  if (code !== undefined) return [needs.groups.node(groupOfLink(needs, code))];
  return [element("invite", { code: linkOf(needs, request).invite })];
}

/** With a code: follows the link. Without: there is another code from now on. */
function follow(needs: Needs, request: IqRequest): BinaryNode[] {
  const { code } = request.body.attrs;
  const { number } = request.device.account;
  if (code === undefined) {
    const group = linkOf(needs, request);
    needs.groups.change(group, { revokeInvite: true, by: number });
    return [element("invite", { code: group.invite })];
  }
  const group = groupOfLink(needs, code);
  if (group.members.has(number)) throw new IqError(409, "conflict");
  const joined = needs.groups.follow(group, number) === "joined";
  return [element(joined ? "group" : "membership_approval_request", { jid: group.id })];
}

/** The group whose link is asked for. @throws IqError 401 for those who are no admins */
function linkOf(needs: Needs, request: IqRequest): Group {
  const group = memberGroup(needs, request);
  if (group.members.get(request.device.account.number) === "member") throw new IqError(401, "not-authorized");
  return group;
}

/** @throws IqError 410 for a link that is not valid any more, 406 for one that never was */
function groupOfLink({ world }: Needs, code: string): Group {
  const groups = [...world.groups.values()];
  const group = groups.find(({ invite }) => invite === code);
  if (group) return group;
  const isGone = groups.some(({ revokedInvites }) => revokedInvites.has(code));
  throw isGone ? new IqError(410, "gone") : new IqError(406, "not-acceptable");
}
