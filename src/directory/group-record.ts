import type { GroupInfo } from "../whatsapp/port.ts";

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
  const canSend = isMember && !group.community && (!group.announce || isAdmin);
  const { id, subject: name, size: participants, announce: onlyAdmins } = group;
  return { id, name, participants, onlyAdmins, isMember, isAdmin, canSend };
}

function isOwn(number: string | null, lid: string | null, own: Own): boolean {
  return (number !== null && number === own.number) || (lid !== null && lid === own.lid);
}

/** As it stands after the number left the group, or was removed from it. */
export function left(group: GroupRecord): GroupRecord {
  return { ...group, isMember: false, isAdmin: false, canSend: false };
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
