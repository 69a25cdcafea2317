import { z } from "zod";
import { isoTime, ownNumber } from "./fields.ts";

export const DEVICE_STATES = [
  "unlinked",
  "linking",
  "connecting",
  "connected",
  "logged_out",
  "blocked",
  "replaced",
  "action_required",
] as const;

export const newDevice = z.object({ device: ownNumber() });

export const device = z.strictObject({
  device: z.string(),
  state: z.enum(DEVICE_STATES),
  since: isoTime(),
  last_in: isoTime().nullable(),
  last_out: isoTime().nullable(),
  lid: z.string().nullable(),
  name: z.string().nullable(),
  platform: z.string().nullable(),
});

export const why = z.strictObject({
  state: z.enum(DEVICE_STATES),
  since: isoTime(),
  last_close: z.strictObject({ code: z.int(), reason: z.string(), at: isoTime() }).nullable(),
  next_retry_at: isoTime().nullable(),
  advice: z.string(),
});
