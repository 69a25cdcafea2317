import { z } from "zod";
import { alert } from "../../alerts/alert.ts";
import { isoTime } from "../../model/fields.ts";

const telling = z.strictObject({
  delivered_at: isoTime().nullable().meta({ description: "When the last alert arrived" }),
  failing_since: isoTime().nullable().meta({ description: "Since when none arrives" }),
  failures: z.int().min(0).meta({ description: "Attempts in a row that failed" }),
  last_error: z.string().nullable(),
  next_attempt_at: isoTime().nullable(),
  given_up: z.int().min(0).meta({ description: "Alerts that could not be delivered for a day" }),
});

/** What the operator sees of alerts. */
export const alertsReport = z
  .strictObject({
    host: z.string().nullable().meta({ description: "Of ALERT_URL; null: nobody is told" }),
    signed: z.boolean().meta({ description: "Whether ALERT_SECRET is set" }),
    telling: telling.nullable(),
    open: z.array(alert),
  })
  .meta({ id: "Alerts" });

/** What came of a sample. */
export const alertTest = z
  .strictObject({
    delivered: z.boolean(),
    status_code: z.int().nullable().meta({ description: "Null: no answer came" }),
    duration_ms: z.int().min(0),
    error: z.string().nullable(),
  })
  .meta({ id: "AlertTest" });
