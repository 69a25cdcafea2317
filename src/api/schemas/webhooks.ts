import { z } from "zod";
import { WEBHOOK_EVENTS } from "../../webhooks/payload.ts";
import { DELIVERY_STATES } from "../../webhooks/rows.ts";
import {
  DISABLED_REASONS,
  HEADER_NAME,
  HEADER_VALUE,
  HEALTH_STATES,
  REPLY_TO,
  WEBHOOK_DEFAULTS,
  WEBHOOK_LIMITS,
  WEBHOOK_MODES,
} from "../../webhooks/settings.ts";
import { flag, integer, isoTime, list, oneOf, text } from "./fields.ts";

const httpUrl = () =>
  text(1, WEBHOOK_LIMITS.urlLength).refine(
    isHttpUrl,
    "Must be a complete address that starts with http:// or https://.",
  );

const headers = z
  .record(
    z.string().regex(HEADER_NAME, "Is not a header name."),
    text(0, WEBHOOK_LIMITS.headerLength).refine(
      (value) => HEADER_VALUE.test(value),
      "Is not a header value.",
    ),
  )
  .refine(
    (entries) => Object.keys(entries).length <= WEBHOOK_LIMITS.headers,
    `Must be at most ${WEBHOOK_LIMITS.headers} headers.`,
  );

const { timeoutMs, replyMaxAge } = WEBHOOK_LIMITS;

/** Input of `PUT /devices/{number}/webhook`. It replaces everything: what is not given is the default again. */
export const webhookInput = z.object({
  url: httpUrl(),
  mode: oneOf(WEBHOOK_MODES).default(WEBHOOK_DEFAULTS.mode),
  reply_to: oneOf(REPLY_TO).default(WEBHOOK_DEFAULTS.replyTo),
  events: list(oneOf(WEBHOOK_EVENTS), 0, WEBHOOK_EVENTS.length).default(WEBHOOK_DEFAULTS.events),
  headers: headers.default(WEBHOOK_DEFAULTS.headers),
  timeout_ms: integer(timeoutMs.min, timeoutMs.max).optional(),
  reply_max_age: integer(replyMaxAge.min, replyMaxAge.max).default(WEBHOOK_DEFAULTS.replyMaxAge),
  read: flag().default(WEBHOOK_DEFAULTS.read),
  typing: flag().default(WEBHOOK_DEFAULTS.typing),
  enabled: flag().default(WEBHOOK_DEFAULTS.enabled),
});

const health = z.strictObject({
  state: z.enum(HEALTH_STATES),
  failures: z.int().min(0),
  failing_since: isoTime().nullable(),
  paused_until: isoTime().nullable(),
  reason: z.enum(DISABLED_REASONS).nullable(),
});

/** A webhook in an answer, without its secret. */
export const webhook = z.strictObject({
  url: z.string(),
  mode: z.enum(WEBHOOK_MODES),
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

/** What the sample event was answered; `status_code` is null when no answer came. */
export const webhookTest = z.strictObject({
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  answer: z.string().nullable(),
  understood: z.boolean(),
});

/** A delivery in an answer, with its attempts. */
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
