import type { GroupMetadata } from "@whiskeysockets/baileys";
import { HOUR_MS } from "../../model/time.ts";
import { createLru } from "../../model/lru.ts";

const MAX_GROUPS = 200;

interface GroupCache {
  /** Members and settings as a send needs them; asked once, also by several sends at a time. */
  get(jid: string): Promise<GroupMetadata>;
  forget(jid: string): void;
}

/**
 * Members of the groups that are written to: without it every send to a group asks WhatsApp for them, which it limits.
 *
 * @param ask the question to WhatsApp
 */
export function createGroupCache(ask: (jid: string) => Promise<GroupMetadata>): GroupCache {
  const known = createLru<string, Promise<GroupMetadata>>(MAX_GROUPS, HOUR_MS);
  return {
    get(jid) {
      const cached = known.get(jid);
      if (cached !== undefined) return cached;
      const asked = ask(jid);
      known.set(jid, asked);
      asked.catch(() => {
        if (known.get(jid) === asked) known.delete(jid);
      });
      return asked;
    },
    forget: (jid) => void known.delete(jid),
  };
}
