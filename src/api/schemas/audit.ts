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
    lost: count().meta({ description: "Messages that existed, are not here, and do not come any more" }),
    received: count().meta({ description: "Messages of others in the inbox" }),
    answered_or_forwarded: count().meta({
      description: "Those that a bot answered or that the webhook was given",
    }),
    pending: count().meta({ description: "Those that wait for a decision" }),
    awaited: count().meta({ description: "Missing, asked for again, and still expected" }),
    recovered: count().meta({ description: "Missing at first, and here by now" }),
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
      .meta({ description: "Newest first, at most 100; `announced`: what WhatsApp said was waiting" }),
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
