import { withSentence } from "../../model/errors/error-sentences.ts";
import type { ErrorCode } from "../../model/errors/errors.ts";
import type { SentState } from "../../model/messages.ts";
import { publicAddress, type WebhookEvent } from "./payload.ts";

/** An event that no message brings: every field of one, and what only these say. */
export interface StateEvent extends Omit<WebhookEvent, "type"> {
  type: "status" | "device" | "read";
  /** `status`: the message's new state. `device`: the number's. `read`: that. */
  state: string;
  /** `device`: why, in a word. */
  reason: string | null;
  /** `device`: when it ends by itself, ISO 8601. */
  until: string | null;
  /** `status`: why it failed. */
  error: { code: ErrorCode; message: string } | null;
}

/** What became of a message that was sent. */
export interface SentStanding {
  /** The number that sent it, digits. */
  device: string;
  waId: string;
  /** Canonical chat key. */
  chat: string;
  state: SentState;
  /** Unix milliseconds. */
  at: number;
  error: { code: ErrorCode } | null;
}

/** How a number does. Times are Unix milliseconds. */
export interface StandingOf {
  /** Digits. */
  number: string;
  state: string;
  /** Since when. */
  at: number;
  reason: string | null;
  until: number | null;
}

/** The event of a sent message's new state. Its `id`, and what it is about, is the message's. */
export function statusEvent({ device, waId, chat, state, at, error }: SentStanding): StateEvent {
  return {
    ...withoutMessage(waId, device, at),
    chat: publicAddress(chat),
    is_group: chat.endsWith("@g.us"),
    type: "status",
    target_id: waId,
    state,
    error: error && withSentence(error),
  };
}

/** Messages that the owner has read on another device of the number. */
export interface ReadElsewhere {
  /** Digits. */
  number: string;
  /** Canonical chat key. */
  chat: string;
  waIds: string[];
  /** Unix milliseconds. */
  at: number;
}

/** The event of a message that the owner has read elsewhere. Its `id`, and what it is about, is the message's. */
export function readEvent(waId: string, { number, chat, at }: Omit<ReadElsewhere, "waIds">): StateEvent {
  return {
    ...withoutMessage(waId, number, at),
    chat: publicAddress(chat),
    is_group: chat.endsWith("@g.us"),
    type: "read",
    target_id: waId,
    state: "read",
  };
}

/**
 * The event of a number's new state.
 *
 * @param id no message stands behind it: the delivery's
 */
export function deviceEvent(id: string, { number, state, at, reason, until }: StandingOf): StateEvent {
  return {
    ...withoutMessage(id, number, at),
    type: "device",
    state,
    reason,
    until: until === null ? null : new Date(until).toISOString(),
  };
}

/** Every field of an event that says nothing of a message, nor of a state. */
function withoutMessage(id: string, device: string, at: number): Omit<StateEvent, "type" | "state"> {
  return { ...nothingSaid(id, device, at), reason: null, until: null, error: null };
}

/** Every field of an event that no message brings. */
export function nothingSaid(id: string, device: string, at: number): Omit<WebhookEvent, "type"> {
  return {
    message: "",
    text: "",
    bufferImage: null,
    from: device,
    id,
    pushName: "",
    device,
    chat: device,
    is_group: false,
    participant: null,
    from_lid: null,
    timestamp: Math.floor(at / 1000),
    expires_at: null,
    quoted: null,
    mentions: [],
    media: null,
    location: null,
    contacts: null,
    reaction: null,
    target_id: null,
    poll: null,
    handled_by: null,
  };
}
