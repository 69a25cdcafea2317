import { defineQuery, text } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";

/** No table comes near as many rows; ids have 53 bits. */
const IDS_SKIPPED = 1_000_000_000;
/** No table gets as many rows in a second. One backup that is restored twice gives other ids each time. */
const IDS_A_MS = 100;
/** How old a message that waits may be and still be sent: as old as an automatic answer, by default. */
const MAY_BE_SENT_MS = 3_600_000;

const COUNTED = defineQuery(
  "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'",
  { name: text() },
);

/**
 * Ids that were given to rows after the backup are never given to others. WhatsApp ids of replies, `webhook-id`s and signed
 * links are made of them: with the same id, phones and receivers would take a new message for a repetition.
 */
export async function skipUsedIds({ read, now }: Pick<Store, "read" | "now">): Promise<Statement[]> {
  const counted = await read(COUNTED);
  return counted.flatMap(({ name }) => [
    {
      sql: `INSERT INTO sqlite_sequence (name, seq) SELECT ?, 0
        WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)`,
      args: [name, name],
    },
    {
      sql: "UPDATE sqlite_sequence SET seq = max(seq + ?, ?) WHERE name = ?",
      args: [IDS_SKIPPED, now() * IDS_A_MS, name],
    },
  ]);
}

/**
 * Messages that waited when the backup was made have most likely left since. Young ones go out once more under the same id,
 * which phones drop; what is older than an hour would reach people out of nowhere, and expires.
 */
export function expireWaiting(now: number): Statement[] {
  const before = now - MAY_BE_SENT_MS;
  return [
    {
      sql: "UPDATE outbox SET state = 'expired', ended_at = ? WHERE state = 'queued' AND created_at < ?",
      args: [now, before],
    },
    {
      sql: "UPDATE outbox SET state = 'expired', ended_at = ? WHERE state = 'scheduled' AND send_at < ?",
      args: [now, before],
    },
  ];
}
