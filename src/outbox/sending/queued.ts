import type { ResultSet, Row } from "@libsql/client";
import type { QueuedMessage } from "./chats.ts";
import type { NewRow } from "../rows.ts";

/** A message that was queued just now. */
export interface StoredMessage extends QueuedMessage {
  /** Row of its number that was queued last before it; null when there was none, and always in a process that is alone. */
  before: number | null;
}

/** What holds of a message that was never tried. */
const UNTRIED = {
  attempts: 0,
  failures: 0,
  failingSince: null,
  confirmed: false,
  retried: false,
  uncertain: false,
  isWarm: false,
  waitsForMedia: null,
  changing: null,
};

/**
 * A message that was stored just now, on its way out.
 *
 * @param result    of its insert
 * @param held      whether its draft stays in memory until its turn
 * @param createdAt Unix milliseconds
 * @returns null when the insert found the row there already
 */
export function toQueued(
  row: NewRow,
  result: ResultSet | undefined,
  held: boolean,
  createdAt: number,
): StoredMessage | null {
  const inserted = rowOf(result);
  if (inserted === null) return null;
  const { deviceId, waId, chat, jid } = row;
  return {
    before: inserted["before"] == null ? null : Number(inserted["before"]),
    id: Number(inserted.id),
    deviceId,
    waId,
    chat,
    jid,
    isReply: Number(inserted.is_reply) === 1,
    ...UNTRIED,
    createdAt,
    draft: held ? row.draft : null,
    // Sends by REST were asked about before they were stored.
    allowed: row.origin === "api",
  };
}

/** A message whose time has come: it was stored long ago, and nobody has tried it. */
export const takenOver = ({
  id,
  deviceId,
  waId,
  chat,
  jid,
  isReply,
  createdAt,
  before,
}: Pick<
  StoredMessage,
  "id" | "deviceId" | "waId" | "chat" | "jid" | "isReply" | "createdAt" | "before"
>): StoredMessage => ({
  ...UNTRIED,
  id,
  deviceId,
  waId,
  chat,
  jid,
  isReply,
  createdAt,
  before,
  draft: null,
  // Groups may have changed since it was asked about.
  allowed: false,
});

/** Null also when the row was stored and the answer that named it was lost. */
function rowOf(result: ResultSet | undefined): Row | null {
  try {
    return result?.rows[0] ?? null;
  } catch {
    return null;
  }
}
