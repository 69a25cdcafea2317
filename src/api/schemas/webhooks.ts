import { z } from "zod";
import { isoTime } from "../../model/fields.ts";
import { DELIVERY_STATES } from "../../webhooks/rows.ts";

/** What the sample event was answered; `status_code` is null when no answer came. */
export const webhookTest = z.strictObject({
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  answer: z.string().nullable(),
  understood: z.boolean(),
});

/** A delivery in an answer, with its attempts. */
export const delivery = z
  .strictObject({
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
  })
  .meta({ id: "Delivery" });
