import { deliveries } from "../../drizzle/schema.ts";
import type { TextDraft } from "../model/content/drafts.ts";
import { openOnceClear } from "../store/sealed/once-clear.ts";
import type { SecretBox, Statement } from "../store/store.ts";
import type { Target } from "./receiver.ts";
import { ATTEMPTS_BEFORE_TIME, isBehindOthers, WAITING } from "./attempts/waiting.ts";

/** `pending` waits for its first attempt, `retrying` for another; `dead` was given up, `disabled` with its webhook. */
export const DELIVERY_STATES = ["pending", "delivered", "retrying", "dead", "disabled"] as const;
/** Where a delivery stands. */
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
export interface Delivery extends Target {
  /** The `webhook-id`. */
  id: string;
  /** Message that it is about; 0: none. */
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

/** What is kept of an attempt. */
export interface KeptAttempt {
  /** When it began, Unix milliseconds. */
  at: number;
  /** Null when no answer came. */
  statusCode: number | null;
  durationMs: number;
  /** Why it failed, for people; null when it was accepted. */
  error: string | null;
  /** The answer's text as UTF-8, or its bytes when they are none, of which the beginning is kept; null: no answer could be read. */
  answer: Buffer | null;
}

/** Where an attempt has brought its delivery; `nextAt` is null when no other follows. */
export interface Progress {
  state: DeliveryState;
  /** Unix milliseconds of the next attempt. */
  nextAt: number | null;
}

/**
 * Derived, not random: the same event has the same id when it is posted again after a crash.
 *
 * @param event    id of the inbox row that it is about, or what makes an event about none of them this one and no other
 * @param listener for whom, see `Target`; each has an id of its own
 */
export function deliveryId(
  box: Pick<SecretBox, "hmac">,
  deviceId: number,
  event: number | string,
  listener = "",
): string {
  const whose = listener === "" ? "" : `${listener}:`;
  const hash = box.hmac("webhook-id", `${whose}${deviceId}:${event}`).subarray(0, 16);
  return `msg_${hash.toString("hex")}`;
}

const ANSWER_BYTES_KEPT = 4096;

const insert = (nextAt: string): string => `insert into deliveries
  (id, device_id, inbox_id, message_id, chat, type, url, state, attempts, next_at, body, reply, may_reply, created_at, listener)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ${nextAt}, ?11, ?12, ?13, ?14, ?15) on conflict (id) do nothing`;
const INSERT = insert("?10");
// Asked in the commit itself: what it is held behind can neither end before it is here nor forget to let it go.
const INSERT_BEHIND = insert(`case when exists (select 1 from deliveries older where older.device_id = ?2
  and older.listener = ?15 and older.chat = ?5 and older.${WAITING} and (older.next_at is null or older.attempts <= ${ATTEMPTS_BEFORE_TIME}))
  then null else ?10 end`);
const OWN_PLACES = { id: "?1", deviceId: "?2", listener: "?15", chat: "?5", now: "?10" };
const INSERT_IN_TURN = insert(`case when ${isBehindOthers(OWN_PLACES)} then null else ?10 end`);
const INSERTS = { any: INSERT, behind: INSERT_BEHIND, "in turn": INSERT_IN_TURN };

/**
 * The row of a delivery; `delivery.attempts` and `delivery.reply` as they are after what `progress` says.
 *
 * @param order `behind`: while something of its chat waits, it is held: only a chat's oldest has a time at which it may go.
 *   `in turn`: held while an event of its chat is about to go
 */
export function insertDelivery(
  box: SecretBox,
  delivery: Delivery,
  url: string,
  progress: Progress,
  order: keyof typeof INSERTS = "any",
): Statement {
  const { id, body, image, target, reply } = delivery;
  return {
    sql: INSERTS[order],
    args: [
      id,
      delivery.deviceId,
      delivery.inboxId,
      delivery.messageId,
      delivery.chat,
      delivery.type,
      box.seal(url, urlContext(id)),
      progress.state,
      delivery.attempts,
      progress.nextAt,
      box.sealJson({ body, target, ...(image && { image }) }, contentContext(id)),
      reply && JSON.stringify(reply),
      delivery.mayReply ? 1 : 0,
      delivery.createdAt,
      delivery.listener,
    ],
  };
}

// The state in the condition: a webhook that was deleted while the attempt was under way stays deleted.
const UPDATE = `update deliveries set state = ?, attempts = ?, next_at = ?, url = ?, reply = ?
  where id = ? and state in ('pending', 'retrying')`;

/** Writes down where a delivery stands. Changes nothing when it has ended meanwhile. */
export function updateDelivery(
  box: Pick<SecretBox, "seal">,
  delivery: Delivery,
  url: string,
  progress: Progress,
): Statement {
  const { id, attempts, reply } = delivery;
  const sealed = box.seal(url, urlContext(id));
  const args = [progress.state, attempts, progress.nextAt, sealed, reply && JSON.stringify(reply), id];
  return { sql: UPDATE, args };
}

/** @param number of this attempt, from 1 */
export function insertAttempt(box: SecretBox, id: string, number: number, attempt: KeptAttempt): Statement {
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

/** The columns of a row that is to be posted. */
export const DELIVERY_COLUMNS = {
  id: deliveries.id,
  deviceId: deliveries.deviceId,
  listener: deliveries.listener,
  inboxId: deliveries.inboxId,
  messageId: deliveries.messageId,
  chat: deliveries.chat,
  type: deliveries.type,
  attempts: deliveries.attempts,
  mayReply: deliveries.mayReply,
  createdAt: deliveries.createdAt,
  nextAt: deliveries.nextAt,
  reply: deliveries.reply,
  body: deliveries.body,
};

/** A row of these columns. */
export interface DeliveryRow extends Omit<Delivery, "body" | "target" | "image" | "inboxId"> {
  inboxId: number | null;
  nextAt: number | null;
  /** Sealed. */
  body: Buffer;
}

/** @throws when the content does not open */
export function deliveryOf({ body: sealed, nextAt: _nextAt, ...row }: DeliveryRow, box: SecretBox): Delivery {
  const content = box.openJson<Pick<Delivery, "body" | "target" | "image">>(sealed, contentContext(row.id));
  return { ...row, inboxId: row.inboxId ?? 0, ...content };
}

/** @returns the kept beginning of an answer as text */
export function answerOf(box: SecretBox, id: string, number: number, sealed: Buffer): string {
  return shownAnswer(box.open(sealed, answerContext(id, number)));
}

/** At most 4 KiB of an answer, as text. */
export function shownAnswer(answer: Uint8Array): string {
  return new TextDecoder().decode(answer.subarray(0, ANSWER_BYTES_KEPT));
}

/** The address that a delivery was posted to, as its row has it. @throws when it does not open */
export function deliveryUrl(box: Pick<SecretBox, "open">, id: string, url: Buffer | string): string {
  return openOnceClear(box, url, urlContext(id));
}

const urlContext = (id: string): string => `delivery-url:${id}`;
const contentContext = (id: string): string => `delivery:${id}`;
const answerContext = (id: string, number: number): string => `delivery-answer:${id}:${number}`;
