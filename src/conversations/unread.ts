import { inbox } from "../../drizzle/schema.ts";
import type { Incoming } from "../model/messages.ts";
import { defineQuery } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import type { Contents } from "./records.ts";

/** As many as `GET /chats` counts. */
const MOST = 100;

const UNREAD = defineQuery(
  `SELECT i.wa_id, i.body FROM json_each(?2) k CROSS JOIN inbox i
  WHERE i.device_id = ?1 AND i.chat = k.value AND i.from_me = 0 AND i.id > 0 AND i.type <> 'timer' AND i.chat <> 'status@broadcast'
  AND i.type NOT IN ('reaction', 'poll_vote', 'edit', 'revoke', 'call')
  AND i.received_at > coalesce((SELECT max(read_at) FROM chat_state WHERE device_id = ?1 AND chat IN (SELECT value FROM json_each(?2))), 0)
  ORDER BY i.received_at DESC LIMIT ${MOST}`,
  { waId: inbox.waId, body: inbox.body },
);

/** Messages of the other side since the number was linked that nobody has read, the newest {@link MOST}. @param keys under which the chat is stored */
export type Unread = (
  deviceId: number,
  keys: readonly string[],
) => Promise<Pick<Incoming, "chat" | "id" | "participant">[]>;

export const createUnread =
  ({ read }: Pick<Reading, "read">, { openIncoming }: Pick<Contents, "openIncoming">): Unread =>
  async (deviceId, keys) => {
    const rows = await read(UNREAD, [deviceId, JSON.stringify(keys)]);
    return rows.flatMap(({ waId, body }) => {
      try {
        const { chat, id, participant } = openIncoming(deviceId, waId, body);
        return [{ chat, id, participant }];
      } catch {
        // One damaged row keeps no other from being read.
        return [];
      }
    });
  };
