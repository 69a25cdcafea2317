import { randomBytes } from "node:crypto";
import type { ErrorCode } from "../model/errors/errors.ts";
import { isAction, kindOf, type Draft } from "../model/content/drafts.ts";
import { SENT_STATES, type ENDED_STATES } from "../model/messages.ts";
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
  /** Of a send by REST: who asked for it. See `SendRequest`. */
  via?: string;
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
  /** Attempts that came to nothing without the connection being at fault. */
  failures: number;
  /** When the first of these ended, Unix milliseconds; null while there is none. */
  failingSince: number | null;
  createdAt: number;
  /** Null: still to be read from the row. */
  draft: Draft | null;
}

/** A message that gets another text before it leaves. */
interface Rewritten {
  deviceId: number;
  waId: string;
  draft: Draft;
  state: "scheduled" | "queued";
}

/** A state in which a message never leaves. */
export type Ended = (typeof ENDED_STATES)[number];

/** How far a message has come, and when it got there (Unix milliseconds). */
export interface Reached {
  state: (typeof SENT_STATES)[number];
  times: Partial<Record<"sent" | "delivered" | "read" | "played", number>>;
  /** Attempts so far; 0 when only a receipt tells of it. */
  attempts: number;
}

const REPLY_WINDOW_MS = DAY_MS;

// Doing it twice must be harmless: a commit whose answer was lost is made again. What is there already stays.
const INSERT_REPLY = `INSERT INTO outbox
(device_id, wa_id, chat, jid, number, kind, origin, state, send_at, not_after, target_id,
is_reply, inbox_id, ordinal, body, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT (device_id, wa_id) DO NOTHING`;
const INSERT_SEND = `INSERT INTO outbox
(device_id, wa_id, chat, jid, number, kind, origin, state, send_at, not_after, target_id, via, is_reply, body, created_at)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT last_incoming_at > ? FROM chat_state WHERE device_id = ? AND chat = ?), 0), ?, ?
ON CONFLICT (device_id, wa_id) DO NOTHING`;
const FACTS = "id, is_reply";
/**
 * The same, and which row of the number was queued last before it, in the same commit: among several nodes it may be one that
 * its owner has not heard of, and must not be overtaken.
 */
const FACTS_IN_ORDER = `${FACTS}, (SELECT max(earlier.id) FROM outbox earlier
WHERE earlier.device_id = outbox.device_id AND earlier.state = 'queued' AND earlier.id < outbox.id) AS before`;

/**
 * How far a message has come. A message moves forwards or not at all, and times never run backwards, whatever two clocks
 * say. What was delivered was sent, though the ack was not seen.
 */
const REACHED = {
  sent: moveTo("sent"),
  delivered: moveTo("delivered"),
  read: moveTo("read"),
  played: moveTo("played"),
};
const END = `UPDATE outbox SET state = ?, attempts = max(attempts, ?), error = ?, ended_at = max(?, created_at)
WHERE id = ? AND state = 'queued'`;
const ALL_END = `UPDATE outbox SET state = ?, error = ?, ended_at = max(?, created_at)
WHERE id IN (SELECT value FROM json_each(?)) AND state = 'queued'`;

const CANCEL = `UPDATE outbox SET state = 'cancelled', ended_at = max(?, created_at)
WHERE device_id = ? AND wa_id = ? AND state = 'scheduled'`;

function moveTo(state: keyof Reached["times"]): string {
  const passed = SENT_STATES.slice(1, SENT_STATES.indexOf(state) + 1).map((reached, index, all) => {
    const earlier = all.slice(0, index).map((name) => `, coalesce(${name}_at, 0)`);
    return `${reached}_at = CASE WHEN state IN (${statesBefore(reached)})
  THEN max(?, created_at${earlier.join("")}) ELSE ${reached}_at END`;
  });
  return `UPDATE outbox SET state = '${state}', attempts = max(attempts, ?), ${passed.join(", ")}
WHERE device_id = ? AND wa_id = ? AND state IN (${statesBefore(state)})`;
}

function statesBefore(state: (typeof SENT_STATES)[number]): string {
  const earlier = SENT_STATES.slice(0, SENT_STATES.indexOf(state));
  return earlier.map((name) => `'${name}'`).join(", ");
}

/** @returns opens the draft of a row @throws when it is not this row's */
export const draftOpener =
  (box: Pick<SecretBox, "openJson">) =>
  (deviceId: number, waId: string, sealed: Uint8Array): Draft =>
    box.openJson<Draft>(sealed, sealContext(deviceId, waId));

/** What every row has, in the order of the inserts. */
function valuesOf({ deviceId, waId, chat, jid, number, draft, origin }: NewRow) {
  const { sendAt = null, notAfter = null } = draft;
  const state = sendAt === null ? "queued" : "scheduled";
  const target = isAction(draft) ? draft.target.id : null;
  return [deviceId, waId, chat, jid, number, kindOf(draft), origin, state, sendAt, notAfter, target];
}

/**
 * Statements and readings of the table `outbox`. All SQL of this folder's hot paths stands here.
 *
 * @param isShared other nodes store rows for numbers of this one
 */
export function createRows(box: SecretBox, now: () => number, isShared = false) {
  const facts = isShared ? FACTS_IN_ORDER : FACTS;
  const insertReply = `${INSERT_REPLY} RETURNING ${facts}`;
  const insertSend = `${INSERT_SEND} RETURNING ${facts}`;
  // The same row, when this insert made it: what was there already has another time.
  const inserted = `SELECT ${facts} FROM outbox WHERE device_id = ? AND wa_id = ? AND created_at = ?`;
  const ended = (id: number, attempts: number, state: "failed" | "expired", error: SendError): Statement => ({
    sql: END,
    args: [state, attempts, JSON.stringify(error), now(), id],
  });

  return {
    insert(row: NewRow): Statement {
      const body = box.sealJson(row.draft, sealContext(row.deviceId, row.waId));
      const { deviceId, waId, chat, answers } = row;
      const at = now();
      const common = valuesOf(row);
      const recover = { sql: inserted, args: [deviceId, waId, at] };
      if (answers !== null)
        return { sql: insertReply, args: [...common, answers.inboxId, answers.ordinal, body, at], recover };
      const args = [...common, row.via ?? null, at - REPLY_WINDOW_MS, deviceId, chat, body, at];
      return { sql: insertSend, args, recover };
    },

    openDraft: draftOpener(box),

    reached({
      deviceId,
      waId,
      state,
      times,
      attempts,
    }: Reached & { deviceId: number; waId: string }): Statement {
      if (state === "queued") throw new TypeError("A queued message has reached no state yet.");
      const {
        sent = Math.min(...Object.values(times)),
        delivered = null,
        read = null,
        played = null,
      } = times;
      const at = [sent, delivered, read, played].slice(0, SENT_STATES.indexOf(state));
      return { sql: REACHED[state], args: [attempts, ...at, deviceId, waId] };
    },

    attempted: ({
      id,
      attempts,
      failures,
      failingSince,
    }: Pick<QueuedRow, "id" | "attempts" | "failures" | "failingSince">): Statement => ({
      sql: "UPDATE outbox SET attempts = ?, failures = ?, failing_since = ? WHERE id = ?",
      args: [attempts, failures, failingSince, id],
    }),

    failed: (id: number, attempts: number, error: SendError): Statement =>
      ended(id, attempts, "failed", error),

    expired: (id: number, attempts: number, error: SendError): Statement =>
      ended(id, attempts, "expired", error),

    /** Everything that still waits in this number's queue fails. */
    /** @param ids of rows, some hundreds at most; those that are not queued any more stay as they are */
    allEnded: (ids: number[], state: Ended, error: SendError | null): Statement => ({
      sql: ALL_END,
      args: [state, error && JSON.stringify(error), now(), JSON.stringify(ids)],
    }),

    ...waitingStatements(box, now),
  };
}

/** Statements that change what has not left. */
const waitingStatements = (box: SecretBox, now: () => number) => ({
  /** Another draft for what waits in this state. */
  rewritten: ({ deviceId, waId, draft, state }: Rewritten): Statement => ({
    sql: "UPDATE outbox SET body = ? WHERE device_id = ? AND wa_id = ? AND state = ?",
    args: [box.sealJson(draft, sealContext(deviceId, waId)), deviceId, waId, state],
  }),

  /** Takes back what waits for its time. */
  cancelled: (deviceId: number, waId: string): Statement => ({
    sql: CANCEL,
    args: [now(), deviceId, waId],
  }),
});

/** The statements of the outbox table. */
export type Rows = ReturnType<typeof createRows>;

/**
 * The WhatsApp id of a reply, the same whenever the message is answered anew after a crash.
 *
 * @param ordinal position among the replies to that message, from 0
 */
export function replyId(box: SecretBox, deviceId: number, inboxId: number, ordinal: number): string {
  return asMessageId(box.hmac("wa-id", `${deviceId}:${inboxId}:${ordinal}`));
}

/**
 * The WhatsApp id of a message that is known by a name before it is sent.
 *
 * @param name of the message among those of the number
 */
export function namedId(box: SecretBox, deviceId: number, name: string): string {
  return asMessageId(box.hmac("wa-id", `${deviceId}:named:${name}`));
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
