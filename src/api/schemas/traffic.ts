import { z } from "zod";
import { integer, isoTime } from "../../model/fields.ts";

const count = () => z.int().min(0);

const counts = {
  in: count().meta({ description: "Messages of others that came" }),
  out: count().meta({ description: "Messages that WhatsApp took" }),
  failed: count().meta({ description: "Messages that failed, or expired" }),
  answered: count().meta({ description: "Messages that a bot or the webhook took" }),
  answer_ms: z
    .strictObject({ p50: count(), p95: count() })
    .nullable()
    .meta({ description: "How long answers took, estimated; null: there were none" }),
  posts: count().meta({ description: "Attempts at webhooks" }),
  post_failures: count(),
};

/** Query of both: hours back from now, ninety days at most. */
export const trafficHours = integer(1, 2160).default(24);

/** What happened, step by step. */
export const traffic = z
  .strictObject({
    since: isoTime(),
    until: isoTime(),
    step_seconds: z
      .union([z.literal(300), z.literal(3600)])
      .meta({ description: "Five minutes for up to 24 hours, else an hour" }),
    complete_since: isoTime().nullable().meta({
      description: "Before it nothing was counted, or it is not known any more; null: all is known",
    }),
    partial: z.boolean().meta({ description: "A node that counts, too, did not answer" }),
    buckets: z
      .array(z.strictObject({ at: isoTime(), ...counts }))
      .meta({ description: "Oldest first, one for each step" }),
    total: z.strictObject(counts),
  })
  .meta({ id: "Traffic" });
