import type { BinaryNode } from "@whiskeysockets/baileys";
import { SECOND_MS } from "../../model/time.ts";
import type { OwnIds } from "../addresses.ts";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { childOf, childrenOf, textOf } from "../nodes.ts";
import type { GroupAction, GroupHappening } from "../port/happenings.ts";
import { secondsIn } from "../stanza-numbers.ts";

/** What everybody is told by a word; a tag that is not here is nothing that people see. */
const ACTIONS: Record<string, GroupAction> = {
  create: "created",
  subject: "subject",
  description: "description",
  add: "add",
  remove: "remove",
  leave: "leave",
  promote: "promote",
  demote: "demote",
  ...Object.fromEntries(
    [
      "announcement",
      "not_announcement",
      "locked",
      "unlocked",
      "ephemeral",
      "not_ephemeral",
      "member_add_mode",
      "membership_approval_mode",
      "invite",
      "no_frequently_forwarded",
      "frequently_forwarded_ok",
    ].map((tag) => [tag, "settings"]),
  ),
};
/** A group may have thousands of members, and all of them stand in what tells of a new one. */
const MOST_NAMED = 1_024;
const LONGEST_TEXT = 2_048;

/** What a notification of a group (`type=w:gp2`) tells people, each of its changes by itself. */
export function readGroupHappenings(notification: BinaryNode, own: OwnIds): GroupHappening[] {
  const { id = "", from, participant, participant_pn: pn, participant_lid: lid, t } = notification.attrs;
  const by = shown([participant, pn, lid]);
  return childrenOf(notification).flatMap((node, index): GroupHappening[] => {
    const action = ACTIONS[node.tag];
    if (action === undefined) return [];
    const of = { key: `${id}:${index}`, group: withoutDevice(from), at: secondsIn(t) * SECOND_MS };
    return [{ ...of, ...said(node, action, by, own) }];
  });
}

function said(
  node: BinaryNode,
  action: GroupAction,
  by: string | null,
  own: OwnIds,
): Pick<GroupHappening, "action" | "by" | "participants" | "text"> {
  if (action === "created") {
    const group = childOf(node, "group");
    const text = (group?.attrs["subject"] ?? "").slice(0, LONGEST_TEXT).toWellFormed();
    // Whoever comes to a group that there is already gets all of it, too.
    return node.attrs["type"] === "new"
      ? { action, by, participants: people(group), text }
      : { action: "add", by, participants: [userOf(own.pn)], text: "" };
  }
  const participants = people(node);
  // Until 2025 WhatsApp called it a removal of oneself.
  const isLeaving = action === "remove" && by !== null && participants.every((one) => one === by);
  return { action: isLeaving ? "leave" : action, by, participants, text: textIn(node, action) };
}

function textIn(node: BinaryNode, action: GroupAction): string {
  const text =
    action === "subject"
      ? (node.attrs["subject"] ?? "")
      : action === "description"
        ? textOf(childOf(node, "body"))
        : "";
  return text.slice(0, LONGEST_TEXT).toWellFormed();
}

const people = (node: BinaryNode | undefined): string[] =>
  childrenOf(node)
    .filter(({ tag }) => tag === "participant")
    .slice(0, MOST_NAMED)
    .flatMap(({ attrs }) => shown([attrs["jid"], attrs["phone_number"], attrs["lid"]]) ?? []);

/** Digits where one of somebody's addresses has them. */
function shown(addresses: (string | undefined)[]): string | null {
  const plain = addresses.map((address) => withoutDevice(address));
  const pn = plain.find(isPn);
  return pn === undefined ? (plain.find(isLid) ?? null) : userOf(pn);
}
