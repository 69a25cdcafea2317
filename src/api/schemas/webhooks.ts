import { z } from "zod";
import { flag, integer, isoTime, list, oneOf, text } from "./fields.ts";

export const WEBHOOK_EVENTS = [
  "message",
  "poll_vote",
  "reaction",
  "edit",
  "revoke",
  "own",
  "channel",
] as const;

const MODES = ["fallback", "always", "off"] as const;
const REPLY_TO = ["chat", "sender"] as const;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;

export const httpUrl = () =>
  text(1, 2048).refine(isHttpUrl, "Must be a complete address that starts with http:// or https://.");

const headers = z
  .record(
    z.string().regex(HEADER_NAME, "Is not a header name."),
    text(0, 4096).refine((value) => HEADER_VALUE.test(value), "Is not a header value."),
  )
  .refine((entries) => Object.keys(entries).length <= 50, "Must be at most 50 headers.");

export const webhookInput = z.object({
  url: httpUrl(),
  mode: oneOf(MODES).default("fallback"),
  reply_to: oneOf(REPLY_TO).default("chat"),
  events: list(oneOf(WEBHOOK_EVENTS), 0, WEBHOOK_EVENTS.length).default(["message", "poll_vote"]),
  headers: headers.default({}),
  timeout_ms: integer(1000, 30_000).optional(),
  reply_max_age: integer(0, 31_536_000).default(3600),
  read: flag().default(false),
  typing: flag().default(false),
  enabled: flag().default(true),
});

const health = z.strictObject({
  state: z.enum(["ok", "failing", "paused", "disabled"]),
  failures: z.int().min(0),
  failing_since: isoTime().nullable(),
  paused_until: isoTime().nullable(),
  reason: z.enum(["gone", "failing"]).nullable(),
});

export const webhook = z.strictObject({
  url: z.string(),
  mode: z.enum(MODES),
  reply_to: z.enum(REPLY_TO),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  headers: z.record(z.string(), z.string()),
  timeout_ms: z.int(),
  reply_max_age: z.int(),
  read: z.boolean(),
  typing: z.boolean(),
  enabled: z.boolean(),
  health,
});

export const webhookTest = z.strictObject({
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  answer: z.string().nullable(),
  understood: z.boolean(),
});

export const DELIVERY_STATES = ["pending", "delivered", "retrying", "dead", "disabled"] as const;

export const delivery = z.strictObject({
  id: z.string(),
  device: z.string(),
  message_id: z.string(),
  type: z.string(),
  url: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.array(
    z.strictObject({
      at: isoTime(),
      status_code: z.int().nullable(),
      duration_ms: z.int(),
      error: z.string().nullable(),
      answer: z.string().nullable(),
    }),
  ),
  next_at: isoTime().nullable(),
  reply: z
    .strictObject({ understood: z.boolean(), ignored: z.array(z.string()), ids: z.array(z.string()) })
    .nullable(),
});

function isHttpUrl(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  return new URL(value).hostname !== "";
}
