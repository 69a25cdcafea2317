import type { Row } from "@libsql/client";
import type { TextDraft } from "../model/messages.ts";
import type { SecretBox, Statement } from "../store/store.ts";
import type { Attempt } from "./deliver.ts";

export const DELIVERY_STATES = ["pending", "delivered", "retrying", "dead", "disabled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What came of the accepted answer; `ids`: message ids of the replies that were sent for it. */
export interface DeliveryReply {
  understood: boolean;
  ignored: string[];
  ids: string[];
}

/** Where a reply goes, kept with the event: the inbox row may be gone when a late attempt succeeds. */
export interface ReplyTarget {
  /** Address on the wire. */
  jid: string;
  /** Canonical key of that chat. */
  chat: string;
  quote: TextDraft["quote"] | null;
  /** When the message was written, by the host's clock: Unix seconds. */
  timestamp: number;
}

/** One event for one receiver. */
export interface Delivery {
  /** The `webhook-id`. */
  id: string;
  deviceId: number;
  inboxId: number;
  messageId: string;
  /** Canonical chat key. */
  chat: string;
  type: string;
  /** Attempts made so far. */
  attempts: number;
  /** False: whatever is answered is recorded and not sent. */
  mayReply: boolean;
  createdAt: number;
  /** The event, the same on every attempt. */
  body: string;
  /** The message's image belongs into it and is put in when it is posted. */
  image?: boolean;
  target: ReplyTarget;
  reply: DeliveryReply | null;
}

export interface Progress {
  state: DeliveryState;
  /** Unix milliseconds of the next attempt. */
  nextAt: number | null;
}

/** Derived, not random: the same event has the same id when it is posted again after a crash. */
export function deliveryId(box: SecretBox, deviceId: number, inboxId: number): string {
  const hash = box.hmac("webhook-id", `${deviceId}:${inboxId}`).subarray(0, 16);
  return `msg_${hash.toString("hex")}`;
}

const ANSWER_BYTES_KEPT = 4096;

const INSERT = `insert into deliveries
  (id, device_id, inbox_id, message_id, chat, type, url, state, attempts, next_at, body, reply, may_reply, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`;

/** The row of a delivery; `delivery.attempts` and `delivery.reply` as they are after what `progress` says. */
export function insertDelivery(
  box: SecretBox,
  delivery: Delivery,
  url: string,
  progress: Progress,
): Statement {
  const { id, body, image, target, reply } = delivery;
  return {
    sql: INSERT,
    args: [
      id,
      delivery.deviceId,
      delivery.inboxId,
      delivery.messageId,
      delivery.chat,
      delivery.type,
      url,
      progress.state,
      delivery.attempts,
      progress.nextAt,
      box.sealJson({ body, target, ...(image && { image }) }, contentContext(id)),
      reply && JSON.stringify(reply),
      delivery.mayReply ? 1 : 0,
      delivery.createdAt,
    ],
  };
}

// The state in the condition: a webhook that was deleted while the attempt was under way stays deleted.
const UPDATE = `update deliveries set state = ?, attempts = ?, next_at = ?, url = ?, reply = ?
  where id = ? and state in ('pending', 'retrying')`;

export function updateDelivery(delivery: Delivery, url: string, progress: Progress): Statement {
  const { id, attempts, reply } = delivery;
  const args = [progress.state, attempts, progress.nextAt, url, reply && JSON.stringify(reply), id];
  return { sql: UPDATE, args };
}

/** @param number of this attempt, from 1 */
export function insertAttempt(box: SecretBox, id: string, number: number, attempt: Attempt): Statement {
  const { at, statusCode, durationMs, error, answer } = attempt;
  const kept = answer?.subarray(0, ANSWER_BYTES_KEPT);
  return {
    sql: `insert into delivery_attempts (delivery_id, attempt, at, status_code, duration_ms, error, answer)
      values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    args: [
      id,
      number,
      at,
      statusCode,
      durationMs,
      error,
      kept ? box.seal(kept, answerContext(id, number)) : null,
    ],
  };
}

/** Ends what waits for a further attempt: the webhook was deleted or switched off. */
export function endWaiting(deviceId: number): Statement {
  return {
    sql: `update deliveries set state = 'disabled', next_at = null
      where device_id = ? and state in ('pending', 'retrying')`,
    args: [deviceId],
  };
}

/** Attempts that are kept for their own times: an endpoint that comes and goes must not use them all up at once. */
const ATTEMPTS_BEFORE_TIME = 5;

/**
 * What waits for a later time goes out now, in the order in which it came: its number's webhook is back.
 *
 * @param now Unix milliseconds
 */
export function catchUp(deviceId: number, now: number): Statement {
  return {
    sql: `update deliveries set next_at = created_at
      where state in ('pending', 'retrying') and next_at > ? and +device_id = ? and attempts <= ?`,
    args: [now, deviceId, ATTEMPTS_BEFORE_TIME],
  };
}

export function deliveryOf(row: Row, box: SecretBox): Delivery {
  const id = String(row.id);
  const sealed = Buffer.from(row.body as ArrayBuffer);
  const { body, target, image } = box.openJson<Pick<Delivery, "body" | "target" | "image">>(
    sealed,
    contentContext(id),
  );
  return {
    id,
    deviceId: Number(row.device_id),
    inboxId: Number(row.inbox_id),
    messageId: String(row.message_id),
    chat: String(row.chat),
    type: String(row.type),
    attempts: Number(row.attempts),
    mayReply: Boolean(row.may_reply),
    createdAt: Number(row.created_at),
    body,
    ...(image && { image }),
    target,
    reply: replyOf(row.reply),
  };
}

export function replyOf(column: unknown): DeliveryReply | null {
  return typeof column === "string" ? (JSON.parse(column) as DeliveryReply) : null;
}

/** @returns the kept beginning of an answer as text */
export function answerOf(box: SecretBox, id: string, number: number, sealed: Buffer): string {
  return shownAnswer(box.open(sealed, answerContext(id, number)));
}

/** At most 4 KiB of an answer, as text. */
export function shownAnswer(answer: Uint8Array): string {
  return new TextDecoder().decode(answer.subarray(0, ANSWER_BYTES_KEPT));
}

const contentContext = (id: string): string => `delivery:${id}`;
const answerContext = (id: string, number: number): string => `delivery-answer:${id}:${number}`;
