import { z } from "zod";
import { isoTime, ownNumber } from "../../model/fields.ts";
import { LINK_STATES } from "../../numbers/link.ts";

/** Input that registers a number: its digits with country code. */
export const newDevice = z.object({ device: ownNumber() });

/** A number in an answer; what is not known yet is null. */
export const device = z.strictObject({
  device: z.string(),
  state: z.enum(LINK_STATES),
  since: isoTime(),
  last_in: isoTime().nullable(),
  last_out: isoTime().nullable(),
  lid: z.string().nullable(),
  name: z.string().nullable(),
  platform: z.string().nullable(),
});

/** Why a number is in its state; `last_close` is null while it has never lost a connection. */
export const why = z.strictObject({
  state: z.enum(LINK_STATES),
  since: isoTime(),
  last_close: z.strictObject({ code: z.int(), reason: z.string(), at: isoTime() }).nullable(),
  next_retry_at: isoTime().nullable(),
  advice: z.string(),
});
