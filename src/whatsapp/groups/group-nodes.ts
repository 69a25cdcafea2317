import type { BinaryNode } from "@whiskeysockets/baileys";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { childOf, childrenOf } from "../nodes.ts";
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

/** The question for one group. */
export const oneGroup = (jid: string): BinaryNode => ({
  tag: "iq",
  attrs: { to: jid, xmlns: "w:g2", type: "get" },
  content: [{ tag: "query", attrs: { request: "interactive" } }],
});

/** Reads the answer to `ALL_GROUPS`. */
export function readGroups(answer: BinaryNode): GroupInfo[] {
  return childrenOf(childOf(answer, "groups"))
    .filter(({ tag }) => tag === "group")
    .map(readGroup);
}

/** Reads one `<group>`. */
export function readGroup(node: BinaryNode): GroupInfo {
  const { id = "", subject = "", size, addressing_mode: mode, p_v_id: version } = node.attrs;
  const participants = readParticipants(node);
  return {
    id: id.includes("@") ? id : `${id}@g.us`,
    subject,
    participants,
    size: Math.max(Number(size ?? 0) || 0, participants.length),
    announce: childOf(node, "announcement") !== undefined,
    community: childOf(node, "parent") !== undefined,
    announcements: childOf(node, "default_sub_group") !== undefined,
    addressing: mode === "lid" ? "lid" : "pn",
    ephemeral: Number(childOf(node, "ephemeral")?.attrs.expiration ?? 0) || 0,
    version: version || null,
  };
}

/** The `<participant>` children of a group, or of a change of one. */
export function readParticipants(node: BinaryNode): GroupInfo["participants"] {
  return childrenOf(node)
    .filter(({ tag }) => tag === "participant")
    .map(({ attrs }) => {
      const ids = [withoutDevice(attrs.jid), withoutDevice(attrs.phone_number), withoutDevice(attrs.lid)];
      const pn = ids.find(isPn);
      return {
        id: ids[0]!,
        number: pn === undefined ? null : userOf(pn),
        lid: ids.find(isLid) ?? null,
        admin: attrs.type === "admin" || attrs.type === "superadmin",
      };
    });
}

/** LID pairs that a list of participants tells. */
export function pairsOf(participants: GroupInfo["participants"]): { pn: string; lid: string }[] {
  return participants.flatMap(({ number, lid }) =>
    number === null || lid === null ? [] : [{ pn: `${number}@s.whatsapp.net`, lid }],
  );
}
