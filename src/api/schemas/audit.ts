import { z } from "zod";
import { MISSING_REASONS, MISSING_STATES } from "../../audit/report.ts";
import { isoTime, time } from "../../model/fields.ts";

/** Query of `GET /devices/{number}/audit`: from when on messages are compared. */
export const auditFilter = z.object({ since: time().optional() });

const count = () => z.int().min(0);

/** What was received, and what is missing, between `since` and `until`. */
export const audit = z
  .strictObject({
    since: isoTime(),
    until: isoTime(),
    lost: count().meta({
      description: "Messages that existed, are missing here, and are no longer expected",
    }),
    received: count().meta({ description: "Incoming messages from others" }),
    answered_or_forwarded: count().meta({
      description: "Messages that a bot answered or that the webhook was given",
    }),
    pending: count().meta({ description: "Messages that wait for a decision" }),
    awaited: count().meta({
      description: "Missing messages that were requested again and are still expected",
    }),
    recovered: count().meta({ description: "Messages that were missing at first and have arrived since" }),
    connections: z
      .array(
        z.strictObject({
          opened_at: isoTime(),
          closed_at: isoTime().nullable(),
          code: z.int().nullable(),
          announced: count().nullable(),
          arrived: count(),
        }),
      )
      .meta({
        description: "Newest first, at most 100; `announced` is how many messages WhatsApp said were waiting",
      }),
    missing: z
      .array(
        z.strictObject({
          id: z.string(),
          chat: z.string(),
          from: z.string(),
          reason: z.enum(MISSING_REASONS),
          state: z.enum(MISSING_STATES),
          noticed_at: isoTime(),
          resolved_at: isoTime().nullable(),
        }),
      )
      .meta({ description: "Newest first, at most 500" }),
  })
  .meta({ id: "Audit" });
