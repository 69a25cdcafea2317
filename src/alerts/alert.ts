import { z } from "zod";
import { isoTime } from "../model/fields.ts";
import type { RecordOf } from "../model/view.ts";

/** What an operator is told of. */
export const ALERT_KINDS = [
  /** The phone or WhatsApp removed the link of a number. */
  "number_logged_out",
  /** WhatsApp refuses a number. */
  "number_blocked",
  /** A linked number has had no connection for five minutes. */
  "number_away",
  /** Parley has switched a number's webhook, or a listener, off. */
  "webhook_off",
  /** The disk of `DATA_DIR` runs full. */
  "disk_low",
  /** The gateway was started again after an end that was none of its own. */
  "restarted",
  /** The last scheduled backup failed. */
  "backup_failed",
  /** Asked for by the operator; about nothing. */
  "test",
] as const;
/** One of them. */
export type AlertKind = (typeof ALERT_KINDS)[number];

/** An alert as it is posted to `ALERT_URL`, and as `GET /admin/alerts` shows it. */
export const alert = z
  .strictObject({
    id: z.string().meta({ description: "The same when it is told to be over" }),
    alert: z.enum(ALERT_KINDS),
    status: z.enum(["open", "over"]),
    since: isoTime(),
    until: isoTime().nullable().meta({ description: "Null while it is open" }),
    account: z.string().nullable().meta({ description: "Id of the account, if it is about a number" }),
    device: z.string().nullable().meta({ description: "The number, digits" }),
    node: z.string().nullable().meta({ description: "The node, if it is about one process" }),
    text: z.string().meta({ description: "One sentence for people" }),
    advice: z.string().nullable().meta({ description: "What to do" }),
  })
  .meta({ id: "Alert" });

/** An alert in the program. Times are Unix milliseconds. */
export type AlertRecord = RecordOf<typeof alert>;

/** What holds, before anybody was told. */
export type Condition = Pick<
  AlertRecord,
  "alert" | "since" | "account" | "device" | "node" | "text" | "advice"
>;

/** What is about no number and no process. */
export const GENERAL = { account: null, device: null, node: null } as const;
