import { z } from "zod";
import { isoTime } from "../../model/fields.ts";
import { DELIVERY_STATES } from "../../webhooks/rows.ts";

/** What the sample event was answered; `status_code` is null when no answer came. */
export const webhookTest = z.strictObject({
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  answer: z.string().nullable(),
  understood: z.boolean(),
  /** Why nothing came of it, in a sentence. */
  error: z.string().nullable(),
  /** Exactly what was posted, signature included. */
  request: z.strictObject({
    method: z.literal("POST"),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
  }),
  /** What would have been sent for this answer, in order. */
  replies: z.array(
    z.strictObject({
      kind: z.enum(["text", "poll", "media", "location", "contact"]),
      text: z.string().nullable(),
      quoted: z.boolean(),
      options: z.array(z.string()).optional(),
      url: z.string().optional(),
    }),
  ),
  /** What of it is not understood, or may not be sent. */
  ignored: z.array(z.string()),
  /** Seconds that the chat would be the webhook's. */
  hold: z.number().nullable(),
});

/** A delivery in an answer, with its attempts. */
export const delivery = z
  .strictObject({
    id: z.string(),
    device: z.string(),
    listener: z.string().nullable().meta({ description: "For which listener; null: the webhook" }),
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
  })
  .meta({ id: "Delivery" });
