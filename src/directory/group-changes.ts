import type { GroupChange } from "../whatsapp/port.ts";
import { after, inOrder, type GroupRecord, type Own } from "./group-record.ts";

/** A list of groups after changes that WhatsApp told of. */
export interface ChangedList {
  groups: GroupRecord[];
  /** Something was told that is not enough: the list has to be asked for. */
  isIncomplete: boolean;
}

/**
 * Follows changes in a list of groups, in their order. Such as the list has already count for nothing: it may have been asked for
 * before they were told, and given after.
 */
export function follow(groups: GroupRecord[], changes: GroupChange[], own: Own): ChangedList {
  const byId = new Map(groups.map((group) => [group.id, group]));
  let isIncomplete = false;
  for (const change of sinceTheList(byId, changes)) {
    const group = after(byId.get(change.id), change, own);
    if (group === "ask") isIncomplete = true;
    else if (group !== undefined) byId.set(change.id, group);
  }
  return { groups: inOrder([...byId.values()]), isIncomplete };
}

/** Without changes of members up to the one whose version the list has. */
function sinceTheList(groups: Map<string, GroupRecord>, changes: GroupChange[]): GroupChange[] {
  const seen = new Map<string, number>();
  changes.forEach((change, index) => {
    const version = change.kind === "members" ? change.version : null;
    if (version !== null && version === groups.get(change.id)?.version) seen.set(change.id, index);
  });
  return changes.filter(({ id, kind }, index) => kind !== "members" || index > (seen.get(id) ?? -1));
}

/**
 * Whether a change must be stored at once. Who else comes and goes in a group is counted when somebody asks: strangers make many of
 * these, and each would write the whole list.
 */
export const isUrgent = (change: GroupChange): boolean =>
  change.kind === "members" ? change.own : change.kind !== "nothing" && change.kind !== "ephemeral";
