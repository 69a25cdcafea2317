import { z } from "zod";
import { PERMISSIONS } from "../../accounts/caller.ts";
import { PLAN_NAMES } from "../../config.ts";
import { flag, isoTime, list, oneOf, ownNumber, recipient, time, trimmedText } from "./fields.ts";

export const newAccount = z.object({ name: trimmedText(1, 100), plan: oneOf(PLAN_NAMES).default("basic") });

export const accountChange = z.object({
  name: trimmedText(1, 100).optional(),
  plan: oneOf(PLAN_NAMES).optional(),
  enabled: flag().optional(),
});

export const account = z.strictObject({
  id: z.string(),
  name: z.string(),
  plan: z.string(),
  enabled: z.boolean(),
  created_at: isoTime(),
});

const limit = z.int().min(0).nullable();

export const ownAccount = z.strictObject({
  id: z.string(),
  name: z.string(),
  plan: z.string(),
  limits: z.strictObject({ devices: limit, keys: limit, sends_per_day: limit }),
  used: z.strictObject({ devices: z.int(), keys: z.int(), sends_per_day: z.int() }),
});

export const newKey = z.object({
  name: trimmedText(1, 100),
  permissions: list(oneOf(PERMISSIONS), 1, PERMISSIONS.length),
  devices: list(ownNumber(), 1, 1000).optional(),
  recipients: list(recipient(), 1, 1000).optional(),
  expires_at: time().optional(),
});

export const key = z.strictObject({
  id: z.string(),
  name: z.string(),
  permissions: z.array(z.enum(PERMISSIONS)),
  devices: z.array(z.string()).nullable(),
  recipients: z.array(z.string()).nullable(),
  expires_at: isoTime().nullable(),
  created_at: isoTime(),
  last_used_at: isoTime().nullable(),
  prefix: z.string(),
});
