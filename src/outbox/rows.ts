import type { Row } from "@libsql/client";
import { randomBytes } from "node:crypto";
import type { ErrorCode } from "../model/errors.ts";
import { SENT_STATES, type Draft } from "../model/messages.ts";
import { DAY_MS } from "../model/time.ts";
import type { SecretBox, Statement } from "../store/store.ts";

/** Why a message failed: the code of the error catalogue and what stands beside it. Stored and shown as it is. */
export interface SendError {
  code: ErrorCode;
  [extra: string]: unknown;
}

/** One message to be stored. */
export interface NewRow {
  deviceId: number;
  waId: string;
  /** Canonical chat key. */
  chat: string;
  jid: string;
  /** Destination as `results[].number` shows it. */
  number: string;
  draft: Draft;
  /** `api`, `bot:<id>` or `webhook`. */
  origin: string;
  /** The incoming message that this answers. */
  answers: { inboxId: number; ordinal: number } | null;
}

/** One stored message that waits for its outcome. */
export interface QueuedRow {
  id: number;
  deviceId: number;
  waId: string;
  chat: string;
  jid: string;
  isReply: boolean;
  attempts: number;
  createdAt: number;
  /** Null: still to be read from the row. */
  draft: Draft | null;
}

const REPLY_WINDOW_MS = DAY_MS;

// Doing it twice must be harmless: a commit whose answer was lost is made again. What is there already stays.
const INSERT_REPLY = `INSERT INTO outbox
(device_id, wa_id, chat, jid, number, kind, origin, is_reply, inbox_id, ordinal, body, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT (device_id, wa_id) DO NOTHING RETURNING id, is_reply`;
const INSERT_SEND = `INSERT INTO outbox
(device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
SELECT ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT last_incoming_at > ? FROM chat_state WHERE device_id = ? AND chat = ?), 0), ?, ?
ON CONFLICT (device_id, wa_id) DO NOTHING RETURNING id, is_reply`;
const COLUMNS = "id, device_id, wa_id, chat, jid, is_reply, attempts, created_at";
// Before the row itself moves on, and only when it does: what a receipt has said already stays the last word. Times never
// run backwards either, whatever two clocks say.
const HISTORY = `INSERT OR IGNORE INTO outbox_history (outbox_id, state, at)
SELECT id, ?, max(?, created_at, coalesce((SELECT max(at) FROM outbox_history WHERE outbox_id = outbox.id), 0))
FROM outbox WHERE `;

/** Statements and readings of the table `outbox`. All SQL of this folder's hot paths stands here. */
export function createRows(box: SecretBox, now: () => number) {
  const ended = (id: number, state: "sent" | "failed" | "expired"): Statement => ({
    sql: `${HISTORY} id = ? AND state = 'queued'`,
    args: [state, now(), id],
  });

  return {
    insert(row: NewRow): Statement {
      const body = box.sealJson(row.draft, sealContext(row.deviceId, row.waId));
      const { deviceId, waId, chat, jid, number, draft, origin, answers } = row;
      const at = now();
      const common = [deviceId, waId, chat, jid, number, draft.kind, origin];
      if (answers !== null)
        return { sql: INSERT_REPLY, args: [...common, answers.inboxId, answers.ordinal, body, at] };
      return { sql: INSERT_SEND, args: [...common, at - REPLY_WINDOW_MS, deviceId, chat, body, at] };
    },

    openDraft(deviceId: number, waId: string, sealed: unknown): Draft {
      return box.openJson<Draft>(new Uint8Array(sealed as ArrayBuffer), sealContext(deviceId, waId));
    },

    sent(id: number, attempts: number): Statement[] {
      return [
        ended(id, "sent"),
        {
          sql: "UPDATE outbox SET state = 'sent', attempts = ? WHERE id = ? AND state = 'queued'",
          args: [attempts, id],
        },
      ];
    },

    attempted: (id: number, attempts: number): Statement => ({
      sql: "UPDATE outbox SET attempts = ? WHERE id = ?",
      args: [attempts, id],
    }),

    failed(id: number, attempts: number, error: SendError): Statement[] {
      return [
        ended(id, "failed"),
        {
          sql: "UPDATE outbox SET state = 'failed', attempts = ?, error = ? WHERE id = ? AND state = 'queued'",
          args: [attempts, JSON.stringify(error), id],
        },
      ];
    },

    expired(id: number, error: SendError): Statement[] {
      return [
        ended(id, "expired"),
        {
          sql: "UPDATE outbox SET state = 'expired', error = ? WHERE id = ? AND state = 'queued'",
          args: [JSON.stringify(error), id],
        },
      ];
    },

    /** Everything that still waits in this number's queue fails. */
    allFailed(deviceId: number, error: SendError): Statement[] {
      return [
        { sql: `${HISTORY} device_id = ? AND state = 'queued'`, args: ["failed", now(), deviceId] },
        {
          sql: "UPDATE outbox SET state = 'failed', error = ? WHERE device_id = ? AND state = 'queued'",
          args: [JSON.stringify(error), deviceId],
        },
      ];
    },

    /** A receipt moves a message forwards or not at all; one that arrived was sent, though the ack was not seen. */
    received(
      deviceId: number,
      waId: string,
      state: "delivered" | "read" | "played",
      at: number,
    ): Statement[] {
      const before = STATES_BEFORE[state];
      const which = `device_id = ? AND wa_id = ? AND state IN (${before})`;
      return [
        {
          sql: `${HISTORY} device_id = ? AND wa_id = ? AND state = 'queued'`,
          args: ["sent", at, deviceId, waId],
        },
        { sql: `${HISTORY} ${which}`, args: [state, at, deviceId, waId] },
        { sql: `UPDATE outbox SET state = ? WHERE ${which}`, args: [state, deviceId, waId] },
      ];
    },
  };
}
export type Rows = ReturnType<typeof createRows>;

const STATES_BEFORE = {
  delivered: statesBefore("delivered"),
  read: statesBefore("read"),
  played: statesBefore("played"),
};

function statesBefore(state: (typeof SENT_STATES)[number]): string {
  return SENT_STATES.slice(0, SENT_STATES.indexOf(state))
    .map((earlier) => `'${earlier}'`)
    .join(", ");
}

export const SELECT_QUEUED = `SELECT ${COLUMNS} FROM outbox WHERE device_id = ? AND state = 'queued' ORDER BY id`;

/** One row of {@link SELECT_QUEUED}; drafts are read when their turn comes, because a queue may be long. */
export function readQueued(row: Row): QueuedRow {
  return {
    id: Number(row.id),
    deviceId: Number(row.device_id),
    waId: String(row.wa_id),
    chat: String(row.chat),
    jid: String(row.jid),
    isReply: Number(row.is_reply) === 1,
    attempts: Number(row.attempts),
    createdAt: Number(row.created_at),
    draft: null,
  };
}

/**
 * The WhatsApp id of a reply, the same whenever the message is answered anew after a crash.
 *
 * @param ordinal position among the replies to that message, from 0
 */
export function replyId(box: SecretBox, deviceId: number, inboxId: number, ordinal: number): string {
  return asMessageId(box.hmac("wa-id", `${deviceId}:${inboxId}:${ordinal}`));
}

/** For messages that answer nothing: made once and stored before the first attempt. */
export function randomId(): string {
  return asMessageId(randomBytes(9));
}

/** The shape of ids that companions make: `3EB0` and 18 hex digits. */
function asMessageId(bytes: Buffer): string {
  return `3EB0${bytes.toString("hex", 0, 9).toUpperCase()}`;
}

/** Binds a sealed draft to its row, whose own id is not known before the insert. */
function sealContext(deviceId: number, waId: string): string {
  return `outbox:${deviceId}:${waId}`;
}

/** Destination as people write it: digits where the number is known. */
export function shownNumber(chat: string): string {
  return chat.replace(/@s\.whatsapp\.net$/, "");
}
