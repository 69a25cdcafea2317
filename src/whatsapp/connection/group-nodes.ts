import type { BinaryNode } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import type { GroupInfo } from "../port.ts";

/** The question for all groups that the number is in. */
export const ALL_GROUPS: BinaryNode = {
  tag: "iq",
  attrs: { to: "@g.us", xmlns: "w:g2", type: "get" },
  content: [
    {
      tag: "participating",
      attrs: {},
      content: [
        { tag: "participants", attrs: {} },
        { tag: "description", attrs: {} },
      ],
    },
  ],
};

/** Reads the answer to `ALL_GROUPS`. */
export function readGroups(answer: BinaryNode): GroupInfo[] {
  return childrenOf(childOf(answer, "groups"), "group").map(readGroup);
}

function readGroup(node: BinaryNode): GroupInfo {
  const { id = "", subject = "", size, addressing_mode: mode } = node.attrs;
  const participants = childrenOf(node, "participant").map(readParticipant);
  return {
    id: id.includes("@") ? id : `${id}@g.us`,
    subject,
    participants,
    size: Math.max(Number(size ?? 0) || 0, participants.length),
    announce: childOf(node, "announcement") !== undefined,
    community: childOf(node, "parent") !== undefined,
    addressing: mode === "lid" ? "lid" : "pn",
  };
}

function readParticipant({ attrs }: BinaryNode): GroupInfo["participants"][number] {
  const id = withoutDevice(attrs.jid);
  const pn = [id, withoutDevice(attrs.phone_number)].find(isPn);
  return {
    id,
    number: pn === undefined ? null : userOf(pn),
    lid: [id, withoutDevice(attrs.lid)].find(isLid) ?? null,
    admin: attrs.type === "admin" || attrs.type === "superadmin",
  };
}

/** LID pairs that a list of participants tells. */
export function pairsOf(participants: GroupInfo["participants"]): { pn: string; lid: string }[] {
  return participants.flatMap(({ number, lid }) =>
    number === null || lid === null ? [] : [{ pn: `${number}@s.whatsapp.net`, lid }],
  );
}

/** Does this group notification say that the number itself left or was removed? */
export function tellsOwnLeaving(notification: BinaryNode, own: OwnIds): boolean {
  const children = Array.isArray(notification.content) ? notification.content : [];
  return children
    .filter(({ tag }) => tag === "remove" || tag === "leave")
    .flatMap((child) => childrenOf(child, "participant"))
    .flatMap(({ attrs }) => [withoutDevice(attrs.jid), withoutDevice(attrs.phone_number)])
    .some((id) => id !== "" && (id === own.pn || id === own.lid));
}

function childrenOf(node: BinaryNode | undefined, tag: string): BinaryNode[] {
  return Array.isArray(node?.content) ? node.content.filter((child) => child.tag === tag) : [];
}

const childOf = (node: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  childrenOf(node, tag)[0];
