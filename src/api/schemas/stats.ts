import { z } from "zod";
import { integer, isoTime } from "../../model/fields.ts";
import { listOf } from "./answer.ts";

const count = () => z.int().min(0);

const counts = {
  in: count().meta({ description: "Messages of others that came" }),
  out: count().meta({ description: "Messages that WhatsApp took" }),
  answered_by: z.strictObject({ bot: count(), webhook: count(), nobody: count() }).meta({
    description:
      "Who answered the messages that came; `webhook` counts replies at once, not those to a later attempt",
  }),
  failed: count().meta({ description: "Messages that failed, or expired" }),
  p50_ms: count().nullable().meta({
    description: "Half of the answers took no longer, estimated; null: there were none",
  }),
  p95_ms: count().nullable().meta({ description: "95 % of the answers took no longer, estimated" }),
  posts: count().meta({ description: "Attempts at webhooks" }),
  post_failures: count(),
};

/** Query of both: hours back from now, the present one included, ninety days at most. */
export const statsHours = integer(1, 2160).default(24);

const hour = z.strictObject({ at: isoTime(), ...counts }).meta({ id: "StatsHour" });

/** What happened, hour by hour, the oldest first; the last one is not over. */
export const stats = listOf(hour)
  .extend({
    sum: z.strictObject(counts).meta({ description: "Of all these hours" }),
    complete_since: isoTime()
      .nullable()
      .meta({ description: "Before it nothing was counted; null: all is known" }),
    partial: z.boolean().meta({ description: "A node that counts, too, did not answer" }),
  })
  .meta({ id: "Stats" });
