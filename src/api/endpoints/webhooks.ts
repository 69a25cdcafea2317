import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { answer, pageOf, record } from "../schemas/answer.ts";
import { before, limit, list, oneOf, ownNumber, text, time } from "../../model/fields.ts";
import { DELIVERY_STATES } from "../../webhooks/rows.ts";
import { webhook, webhookInput } from "../../webhooks/settings.ts";
import { ATTEMPTS_SHOWN } from "../../webhooks/records.ts";
import { delivery, webhookTest } from "../schemas/webhooks.ts";

const webhooks = { by: "key", permission: "webhooks" } as const;
const nothing = z.object({});
const path = "/devices/{number}/webhook";
const attemptsShown = `its last ${ATTEMPTS_SHOWN} attempts.`;

export const getWebhook = endpoint({
  method: "GET",
  path,
  access: webhooks,
  summary: "The webhook of a number",
  message: "Webhook.",
  input: nothing,
  output: record(webhook),
});

/** `PUT /devices/{number}/webhook`: the secret is in the answer only when it was made now. */
export const putWebhook = endpoint({
  method: "PUT",
  path,
  access: webhooks,
  summary: "Set the webhook of a number; replaces all of it",
  message: "Webhook saved.",
  errors: ["URL_NOT_ALLOWED"],
  input: webhookInput,
  output: record(webhook, { secret: z.string().startsWith("whsec_").optional() }),
});

export const deleteWebhook = endpoint({
  method: "DELETE",
  path,
  access: webhooks,
  summary: "Remove the webhook; what is pending ends",
  message: "Webhook deleted.",
  input: nothing,
  output: answer({}),
});

export const rotateWebhook = endpoint({
  method: "POST",
  path: `${path}/rotate`,
  access: webhooks,
  summary: "A new signing secret; old and new sign for 24 hours",
  message: "Secret rotated. The new one is shown this once.",
  input: nothing,
  output: record(webhook, { secret: z.string().startsWith("whsec_") }),
});

export const testWebhook = endpoint({
  method: "POST",
  path: `${path}/test`,
  access: webhooks,
  changesNothing: "Shows what would come of it.",
  summary: "Post a sample event; nothing goes to WhatsApp",
  message: "Sample event posted.",
  input: nothing,
  bounded: "at most 10 replies.",
  output: record(webhookTest),
});

export const listDeliveries = endpoint({
  method: "GET",
  path: "/deliveries",
  access: webhooks,
  summary: "Deliveries to webhooks, newest first",
  message: "Deliveries.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    device: ownNumber().optional(),
    state: oneOf(DELIVERY_STATES).optional(),
    message_id: text(1, 255).optional().meta({ description: "Deliveries of this message, or event" }),
    limit: limit(),
    before: before(),
  }),
  output: pageOf(delivery),
});

export const getDelivery = endpoint({
  method: "GET",
  path: "/deliveries/{id}",
  access: webhooks,
  summary: "One delivery with its attempts",
  message: "Delivery.",
  input: nothing,
  bounded: attemptsShown,
  output: record(delivery),
});

export const replayDelivery = endpoint({
  method: "POST",
  path: "/deliveries/{id}/replay",
  access: webhooks,
  summary: "One more attempt under the same id",
  message: "Delivery queued again.",
  statuses: [202],
  input: nothing,
  bounded: attemptsShown,
  output: record(delivery),
});

export const replayDeliveries = endpoint({
  method: "POST",
  path: "/deliveries/replay",
  access: webhooks,
  summary: "One more attempt of each delivery that matches; by default of those given up (dead and disabled)",
  message: "Deliveries queued again.",
  statuses: [202],
  errors: ["SENDER_NOT_FOUND", "NOT_FOUND"],
  input: z.object({
    device: ownNumber().optional(),
    state: oneOf(DELIVERY_STATES).optional(),
    since: time().optional(),
    until: time().optional(),
    ids: list(text(1, 100), 1, 1000).optional(),
  }),
  output: answer({ replayed: z.int().min(0) }),
});
