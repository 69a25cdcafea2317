import { inbox, outbox } from "../../drizzle/schema.ts";
import { defineQuery, nullable } from "../store/query.ts";

/** Where a message stands that came. */
export const CAME = defineQuery(
  "SELECT id, received_at FROM inbox WHERE device_id = ?1 AND wa_id = ?2 AND chat IN (SELECT value FROM json_each(?3)) LIMIT 1",
  { id: inbox.id, receivedAt: inbox.receivedAt },
);
/** Where one stands that was sent, and the message that it answers. */
export const LEFT = defineQuery(
  `SELECT o.created_at, o.inbox_id, i.received_at AS receivedAt FROM outbox o LEFT JOIN inbox i ON i.id = o.inbox_id
  WHERE o.device_id = ?1 AND o.wa_id = ?2 AND o.chat IN (SELECT value FROM json_each(?3)) LIMIT 1`,
  { createdAt: outbox.createdAt, inboxId: outbox.inboxId, receivedAt: nullable(inbox.receivedAt) },
);
