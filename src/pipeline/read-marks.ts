import type { Statement } from "../model/statement.ts";
import type { Store } from "../store/store.ts";

/** Notes the newest of some messages as read; nothing that was read becomes unread again. @param newest one time, or null */
const markUpTo = (newest: string): string => `INSERT INTO chat_state (device_id, chat, read_at)
SELECT ?1, ?2, newest FROM (${newest}) WHERE newest IS NOT NULL
ON CONFLICT (device_id, chat) DO UPDATE SET read_at = max(excluded.read_at, coalesce(read_at, 0))`;
const MARK_MESSAGES = markUpTo(`SELECT max(received_at) AS newest FROM inbox
  WHERE device_id = ?1 AND wa_id IN (SELECT value FROM json_each(?3))`);
const MARK_CHAT = markUpTo(`SELECT max(at) AS newest FROM (SELECT (SELECT received_at FROM inbox
  WHERE device_id = ?1 AND chat = k.value AND from_me = 0 AND type <> 'timer' AND chat <> 'status@broadcast'
  ORDER BY received_at DESC LIMIT 1) AS at FROM json_each(?3) k)`);

/** The owner has read these messages on another device. @param chat its canonical key */
export const messagesRead = (deviceId: number, chat: string, waIds: readonly string[]): Statement => ({
  sql: MARK_MESSAGES,
  args: [deviceId, chat, JSON.stringify(waIds)],
});

/**
 * Somebody has read what there is in a chat. Without effect where nothing is.
 *
 * @param keys under which it is stored, the canonical one first
 */
export type MarkRead = (deviceId: number, keys: readonly string[]) => Promise<void>;

/** Whichever node is asked writes it: nobody remembers it. */
export const createMarkRead =
  ({ writer }: Pick<Store, "writer">): MarkRead =>
  async (deviceId, keys) => {
    const args = [deviceId, keys[0]!, JSON.stringify(keys)];
    await writer.commit([{ sql: MARK_CHAT, args }], { owning: null });
  };
