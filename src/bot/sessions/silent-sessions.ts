import { DAY_MS } from "../../model/time.ts";
import { defineQuery, integer, nullable } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";

/** Sessions that have no end of their own end with the chat. */
export interface SilentSessions {
  /** Looks at some hundred of them, and the next time at those behind. */
  step(now: number): Promise<void>;
}

/** A chat in which nobody has written for so long begins anew. */
const SILENCE_MS = 365 * DAY_MS;
const AT_ONCE = 500;

const WINDOW = defineQuery(
  "SELECT max(id) AS last FROM (SELECT rowid AS id FROM bot_sessions WHERE rowid > ? ORDER BY rowid LIMIT ?)",
  { last: nullable(integer()) },
);
// A scope is a chat, and in groups the writer behind it.
const REMOVE = `DELETE FROM bot_sessions WHERE rowid > ?1 AND rowid <= ?2 AND expires_at IS NULL AND updated_at <= ?3
AND NOT EXISTS (SELECT 1 FROM chat_state c WHERE c.device_id = bot_sessions.device_id AND c.last_incoming_at > ?3
AND c.chat = substr(scope || '|', 1, instr(scope || '|', '|') - 1))`;

/** Goes round the table `bot_sessions`, one part of it at a time, however large it is. */
export function createSilentSessions({ readOne, writer }: Pick<Store, "readOne" | "writer">): SilentSessions {
  let after = 0;
  return {
    async step(now) {
      const last = (await readOne(WINDOW, [after, AT_ONCE]))?.last ?? null;
      if (last === null) return void (after = 0);
      await writer.commit([{ sql: REMOVE, args: [after, last, now - SILENCE_MS] }], { owning: null });
      after = last;
    },
  };
}
