import { z } from "zod";
import { PERMISSIONS } from "../../accounts/caller.ts";
import { PLAN_NAMES } from "../../config.ts";
import { flag, isoTime, list, oneOf, ownNumber, recipient, time, trimmedText } from "../../model/fields.ts";

/** Input of `POST /admin/accounts`; the plan is `basic` when none is named. */
export const newAccount = z.object({ name: trimmedText(1, 100), plan: oneOf(PLAN_NAMES).default("basic") });

/** Input of `PATCH /admin/accounts/{id}`: what is not given stays. */
export const accountChange = z.object({
  name: trimmedText(1, 100).optional(),
  plan: oneOf(PLAN_NAMES).optional(),
  enabled: flag().optional(),
});

/** An account in an answer. */
export const account = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    plan: z.string(),
    enabled: z.boolean(),
    created_at: isoTime(),
  })
  .meta({ id: "Account" });

const limit = z.int().min(0).nullable();

/** What a key is told about its own account: limits of the plan (null: none) and what is used of them. */
export const ownAccount = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    plan: z.string(),
    limits: z.strictObject({ devices: limit, keys: limit, sends_per_day: limit }),
    used: z.strictObject({ devices: z.int(), keys: z.int(), sends_per_day: z.int() }),
  })
  .meta({ id: "OwnAccount" });

/** Input that makes a key. Without `devices` or `recipients` it may use all; without `expires_at` it lasts. */
export const newKey = z.object({
  name: trimmedText(1, 100),
  permissions: list(oneOf(PERMISSIONS), 1, PERMISSIONS.length),
  devices: list(ownNumber(), 1, 1000).optional(),
  recipients: list(recipient(), 1, 1000).optional(),
  expires_at: time()
    .refine((at) => at > Date.now(), "Must be in the future.")
    .optional(),
});

/** A key in an answer, without its secret. */
export const key = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    permissions: z.array(z.enum(PERMISSIONS)),
    devices: z.array(z.string()).nullable(),
    recipients: z.array(z.string()).nullable(),
    expires_at: isoTime().nullable(),
    created_at: isoTime(),
    last_used_at: isoTime().nullable(),
    prefix: z.string(),
  })
  .meta({ id: "Key" });

/** A key that may do more than the one that asks. */
export const strongerKey = key.pick({ id: true, name: true, prefix: true }).meta({ id: "StrongerKey" });
