import type { GroupChange, GroupInfo } from "../whatsapp/port.ts";

/** One group as `/groups` lists it. */
export interface GroupRecord {
  id: string;
  name: string;
  /** Number of members. */
  participants: number;
  onlyAdmins: boolean;
  isMember: boolean;
  isAdmin: boolean;
  canSend: boolean;
  /** The parent group of a community, in which nobody writes. Absent: it is none. */
  community?: true;
  /** Of the list of members, to compare changes with. Absent: WhatsApp names none, and changes are asked for. */
  version?: string;
}

/** The linked number itself: digits, and `<digits>@lid` when it has one. */
export interface Own {
  number: string;
  lid: string | null;
}

/** A group as WhatsApp names it, seen by one number. */
export function toRecord(group: GroupInfo, own: Own): GroupRecord {
  const me = group.participants.find(({ number, lid }) => isOwn(number, lid, own));
  // WhatsApp names only groups that the number is in. That it is not among the members says something only when they
  // are all there and it could be told apart: without a LID of its own it cannot be found in a list of LIDs.
  const wouldShow = group.participants.length > 0 && (group.addressing === "pn" || own.lid !== null);
  const isMember = me !== undefined || !wouldShow;
  const isAdmin = me?.admin ?? false;
  const { id, subject: name, size: participants, announce: onlyAdmins, community, version } = group;
  return withRights({
    id,
    name,
    participants,
    onlyAdmins,
    isMember,
    isAdmin,
    ...(community && { community }),
    ...(version !== null && { version }),
  });
}

function withRights(group: Omit<GroupRecord, "canSend">): GroupRecord {
  const { isMember, isAdmin, onlyAdmins, community } = group;
  return { ...group, canSend: isMember && !community && (!onlyAdmins || isAdmin) };
}

function isOwn(number: string | null, lid: string | null, own: Own): boolean {
  return (number !== null && number === own.number) || (lid !== null && lid === own.lid);
}

/** As it stands after the number left the group, or was removed from it. What becomes of it from then on is not told. */
export function left({ version: _unseen, ...group }: GroupRecord): GroupRecord {
  return { ...group, isMember: false, isAdmin: false, canSend: false };
}

/**
 * A group after what WhatsApp tells of it.
 *
 * @param group as it is known; undefined when it is not
 * @returns undefined when nothing is known of it still; `ask` when what is told is not enough
 */
export function after(
  group: GroupRecord | undefined,
  change: GroupChange,
  own: Own,
): GroupRecord | undefined | "ask" {
  if (change.kind === "group") {
    // Only members are told of a group: a list without the number is not all of it.
    const record = toRecord(change.group, own);
    return record.isMember ? record : "ask";
  }
  if (change.kind === "left") return group && left(group);
  if (change.kind === "nothing" || change.kind === "ephemeral") return group;
  if (change.kind === "unknown" || group === undefined || !group.isMember) return "ask";
  if (change.kind === "subject") return { ...group, name: change.subject };
  // A list from a service that names no versions, or from before they were kept.
  if (group.version === undefined) return "ask";
  if (change.kind === "announce") return withRights({ ...group, onlyAdmins: change.announce });
  return withMembers(group, change, group.version);
}

/** A change counts once: its version says whether the list has it already, and whether nothing is missing before it. */
function withMembers(
  group: GroupRecord,
  { action, members, own, version, before }: Extract<GroupChange, { kind: "members" }>,
  known: string,
): GroupRecord | "ask" {
  if (version === known) return group;
  if (version === null || before !== known) return "ask";
  const isAdmin = own && action !== "add" ? action === "promote" : group.isAdmin;
  const more = action === "add" ? members.length : action === "remove" ? -members.length : 0;
  return withRights({ ...group, isAdmin, participants: group.participants + more, version });
}

/** Why nothing can be sent to a group, in the words of `CANNOT_SEND`; null when something can. */
export function whyNot(group: GroupRecord): "not_member" | "only_admins" | "community" | null {
  if (group.canSend) return null;
  if (!group.isMember) return "not_member";
  return group.onlyAdmins && !group.isAdmin ? "only_admins" : "community";
}

const byName = new Intl.Collator("en");

/** By name, then id. */
export function inOrder(groups: GroupRecord[]): GroupRecord[] {
  return groups.sort((a, b) => byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
}
