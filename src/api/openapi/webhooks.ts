import { webhookEvent, webhookReply } from "../schemas/events.ts";
import { toJsonSchema, type NamedSchemas } from "./json-schema.ts";
import type { OpenApiDocument, Parameter } from "./types.ts";

const signed = (name: string, description: string): Parameter => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** What the gateway posts, and what may be answered. @param named takes the schemas that it refers to */
export function webhooksOf(named: NamedSchemas): OpenApiDocument["webhooks"] {
  const reply = toJsonSchema(webhookReply, "output", named);
  return {
    event: {
      post: {
        operationId: "receiveEvent",
        summary: "An event of a number, posted to its webhook",
        description:
          "Signed as in Standard Webhooks. A 2xx answer with JSON of a known shape is sent as the reply; any other answer sends nothing. Network errors, timeouts, 408, 425, 429, 5xx and redirects are retried for three days; 410 disables the webhook.",
        tags: ["Webhooks"],
        security: [],
        parameters: [
          signed("webhook-id", "The same on every attempt"),
          signed("webhook-timestamp", "Unix seconds of this attempt"),
          signed("webhook-signature", "`v1,…`, one for each secret that is in use"),
        ],
        requestBody: {
          required: true,
          content: { "application/json": { schema: toJsonSchema(webhookEvent, "output", named) } },
        },
        responses: {
          200: {
            description: "Accepted; its content is the reply.",
            content: {
              "application/json": { schema: reply, example: { message: "We close at six.", quoted: true } },
            },
          },
          410: {
            description: "The endpoint is gone: the webhook is disabled.",
            content: { "application/json": { schema: {} } },
          },
        },
      },
    },
  };
}
