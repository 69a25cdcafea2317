import { createLru } from "../../model/lru.ts";
import { HOUR_MS } from "../../model/time.ts";
import type { GroupChange, GroupInfo } from "../port.ts";
import { changed } from "./changed-group.ts";

const MAX_GROUPS = 200;

interface GroupCache {
  /** Members and settings as a send needs them; asked once, also by several sends at a time. */
  get(jid: string): Promise<GroupInfo>;
  /** WhatsApp tells of a group: what is known follows, or is asked for anew by the next send. */
  change(change: GroupChange): void;
  forget(jid: string): void;
}

interface Known {
  asked: Promise<GroupInfo>;
  /** Null while it is being asked for. */
  group: GroupInfo | null;
}

/**
 * Members of the groups that are written to: without it every send to a group asks WhatsApp for them, which it limits.
 *
 * @param ask the question to WhatsApp
 */
export function createGroupCache(ask: (jid: string) => Promise<GroupInfo>): GroupCache {
  const groups = createLru<string, Known>(MAX_GROUPS, HOUR_MS);
  const keep = (group: GroupInfo): void =>
    void groups.set(group.id, { asked: Promise.resolve(group), group });
  return {
    async get(jid) {
      const cached = groups.get(jid);
      if (cached !== undefined) return cached.asked;
      const known: Known = { asked: ask(jid), group: null };
      groups.set(jid, known);
      known.asked.then(
        (group) => (known.group = group),
        () => {
          if (groups.get(jid) === known) groups.delete(jid);
        },
      );
      return known.asked;
    },
    change(change) {
      const known = groups.get(change.id);
      if (known === undefined || change.kind === "nothing") return;
      // What is on its way may be from before.
      const group = known.group && changed(known.group, change);
      if (group === null) groups.delete(change.id);
      else if (group !== known.group) keep(group);
    },
    forget: (jid) => void groups.delete(jid),
  };
}
