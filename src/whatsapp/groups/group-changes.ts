import type { BinaryNode } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { childOf, childrenOf } from "../nodes.ts";
import type { GroupChange, GroupInfo } from "../port.ts";
import { readGroup, readParticipants } from "./group-nodes.ts";

/** What a change says beside the group's id. */
type Said = GroupChange extends infer C ? (C extends GroupChange ? Omit<C, "id"> : never) : never;

const NOTHING: Said = { kind: "nothing" };
const UNKNOWN: Said = { kind: "unknown" };
const LEFT: Said = { kind: "left" };

/** Changes of the list of members; `leave` is what WhatsApp called a `remove` of oneself until 2025. */
const MEMBERS = {
  add: "add",
  remove: "remove",
  leave: "remove",
  promote: "promote",
  demote: "demote",
} as const;

/** Who is told to have made a change; null when nobody is. */
type Author = GroupInfo["participants"][number] | null;

/**
 * Changes by their tag. A tag that is not here may mean anything. Sources: whatsmeow `group.go`, whatsapp-rust `stanza/groups.rs`, zapo
 * `client/events/group.ts`.
 */
const READERS: Record<string, (node: BinaryNode, own: OwnIds, author: Author) => Said> = {
  create(node) {
    const group = childOf(node, "group");
    return group === undefined ? UNKNOWN : { kind: "group", group: readGroup(group) };
  },
  delete: () => LEFT,
  subject: ({ attrs }) => (attrs.subject ? { kind: "subject", subject: attrs.subject } : UNKNOWN),
  announcement: () => ({ kind: "announce", announce: true }),
  not_announcement: () => ({ kind: "announce", announce: false }),
  ephemeral: ({ attrs }) => ({ kind: "ephemeral", seconds: Number(attrs.expiration) || 0 }),
  not_ephemeral: () => ({ kind: "ephemeral", seconds: 0 }),
  ...Object.fromEntries(Object.keys(MEMBERS).map((tag) => [tag, readMembers])),
  modify: readOtherNumber,
  ...Object.fromEntries(
    [
      "description",
      "locked",
      "unlocked",
      "invite",
      "revoke",
      "member_add_mode",
      "membership_approval_mode",
      "membership_approval_request",
      "created_membership_requests",
      "revoked_membership_requests",
      "created_sub_group_suggestion",
      "revoked_sub_group_suggestions",
      "no_frequently_forwarded",
      "frequently_forwarded_ok",
      "growth_locked",
      "growth_unlocked",
      "missing_participant_identification",
      // Whose groups are suggested to a community.
      "change_number",
    ].map((tag) => [tag, () => NOTHING]),
  ),
};

function readMembers(node: BinaryNode, own: OwnIds): Said {
  const action = MEMBERS[node.tag as keyof typeof MEMBERS];
  const members = readParticipants(node);
  const isOwn = members.some((member) => isOneself(member, own));
  if (isOwn && action === "remove") return LEFT;
  // Whoever comes gets the whole group beside it, or has to ask for it.
  if (members.length === 0 || (isOwn && action === "add")) return UNKNOWN;
  const { v_id: version, prev_v_id: before } = node.attrs;
  return { kind: "members", action, members, own: isOwn, version: version || null, before: before || null };
}

/** A member has another number: the one who was there makes the change, and the one who is there now is named in it. */
function readOtherNumber(node: BinaryNode, own: OwnIds, author: Author): Said {
  const members = readParticipants(node);
  if (members.length !== 1 || isOneself(members[0]!, own) || (author !== null && isOneself(author, own)))
    return UNKNOWN;
  const { v_id: version, prev_v_id: before } = node.attrs;
  return {
    kind: "members",
    action: "modify",
    members,
    was: author,
    own: false,
    version: version || null,
    before: before || null,
  };
}

function authorOf({ attrs }: BinaryNode): Author {
  const { participant: jid, participant_pn: phone_number, participant_lid: lid } = attrs;
  if (!jid) return null;
  const named = { jid, ...(phone_number && { phone_number }), ...(lid && { lid }) };
  const node = { tag: "participant", attrs: named };
  return readParticipants({ tag: "", attrs: {}, content: [node] })[0]!;
}

const isOneself = ({ id, number, lid }: GroupInfo["participants"][number], own: OwnIds): boolean =>
  id === own.pn || (number !== null && number === userOf(own.pn)) || (lid !== null && lid === own.lid);

/**
 * What a notification of a group says (`type=w:gp2`), each of its changes by itself. A notification that says nothing may mean
 * anything.
 */
export function readGroupChanges(notification: BinaryNode, own: OwnIds): GroupChange[] {
  const id = withoutDevice(notification.attrs.from);
  const author = authorOf(notification);
  const changes = childrenOf(notification).map(
    (node) => ({ ...(READERS[node.tag]?.(node, own, author) ?? UNKNOWN), id }) as GroupChange,
  );
  return changes.length > 0 ? changes : [{ id, kind: "unknown" }];
}

/** Pairs of numbers and LIDs that a notification of a group tells: of who has made the change, and of those whom it is about. */
export function pairsIn(notification: BinaryNode): { pn: string; lid: string }[] {
  const named = childrenOf(notification).flatMap((change) => {
    const group = change.tag === "create" ? childOf(change, "group") : undefined;
    return childrenOf(group ?? change).filter(({ tag }) => tag === "participant" || tag === "requested_user");
  });
  const { participant, participant_pn: pn, participant_lid: lid } = notification.attrs;
  return [
    [participant, pn, lid],
    ...named.map(({ attrs }) => [attrs.jid, attrs.phone_number, attrs.lid]),
  ].flatMap((ids) => {
    const plain = ids.map(withoutDevice);
    const [number, hidden] = [plain.find(isPn), plain.find(isLid)];
    return number && hidden ? [{ pn: number, lid: hidden }] : [];
  });
}
