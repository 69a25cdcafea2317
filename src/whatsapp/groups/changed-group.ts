import { isLid } from "../jids.ts";
import type { GroupChange, GroupInfo } from "../port.ts";

/**
 * A group after a change that WhatsApp tells of. Of the members it is believed when it follows the version that is known:
 * whoever is missing in the list gets no key, and whoever stands there in vain might.
 *
 * @returns the group itself when nothing of it changes; null when it has to be asked for
 */
export function changed(group: GroupInfo, change: GroupChange): GroupInfo | null {
  switch (change.kind) {
    case "group":
      return change.group;
    case "subject":
      return { ...group, subject: change.subject };
    case "announce":
      return { ...group, announce: change.announce };
    case "ephemeral":
      return { ...group, ephemeral: change.seconds };
    case "members":
      if (change.version === null || group.version === null) return null;
      if (change.version === group.version) return group;
      if (change.before !== group.version) return null;
      return change.action === "modify"
        ? withOtherNumber(group, change, change.version)
        : withMembers(group, change, change.version);
    case "nothing":
      return group;
    case "left":
    case "unknown":
      return null;
  }
}

function withMembers(
  group: GroupInfo,
  { action, members }: Extract<GroupChange, { kind: "members" }>,
  version: string,
): GroupInfo | null {
  // A group that has moved to the other kind of address names everybody by it.
  if (members.some(({ id }) => isLid(id) !== (group.addressing === "lid"))) return null;
  const ids = new Set(members.map(({ id }) => id));
  const { participants } = group;
  const isListed = participants.length === group.size;
  const known = participants.filter(({ id }) => ids.has(id)).length;
  // Whoever was told of already stands in the list, and whoever goes must have stood there.
  if (!isListed || known !== (action === "add" ? 0 : members.length)) return null;
  const after =
    action === "add"
      ? [...participants, ...members]
      : action === "remove"
        ? participants.filter(({ id }) => !ids.has(id))
        : participants.map((one) => (ids.has(one.id) ? { ...one, admin: action === "promote" } : one));
  return { ...group, participants: after, size: after.length, version };
}

/** Somebody under another number, or under the same LID with another one, keeps the place and the role. */
function withOtherNumber(
  group: GroupInfo,
  { members: [now], was }: Extract<GroupChange, { kind: "members" }>,
  version: string,
): GroupInfo | null {
  const { participants } = group;
  const isListed = participants.length === group.size;
  if (!now || !isListed || isLid(now.id) !== (group.addressing === "lid")) return null;
  const before =
    participants.find(({ id }) => id === now.id) ?? participants.find(({ id }) => id === was?.id);
  if (before === undefined) return null;
  const after = participants.map((one) => (one === before ? { ...now, admin: one.admin } : one));
  return { ...group, participants: after, version };
}
