import { z } from "zod";
import { isBlank, isoTime, oneOf, ownNumber, text } from "../../model/fields.ts";
import { readProxy } from "../../net/proxy-address.ts";
import { LINK_STATES } from "../../numbers/link.ts";

/** Input that registers a number: its digits with country code. */
export const newDevice = z.object({ device: ownNumber() });

const CALLS = ["ignore", "reject"] as const;

/** Input of `PATCH /devices/{number}`: what is not given stays; an empty `calls_text` is none. */
export const deviceChange = z.object({
  /** `ignore`: the phone rings; `reject`: it does not. */
  calls: oneOf(CALLS).optional(),
  /** Sent to those whose call was rejected, once in 24 hours to each. */
  calls_text: text(0, 4096)
    .refine((value) => value === "" || !isBlank(value), "Must not be blank.")
    .optional(),
  /** For the connection, uploads and downloads of this number; null, or an empty text, removes it. */
  proxy: text(0, 2048)
    .refine(
      (value) => value === "" || readProxy(value) !== null,
      "Must be http://, https:// or socks5:// with a host, user:password@ before it if need be, and nothing behind the port.",
    )
    .nullable()
    .optional(),
});

const reachoutLock = z.strictObject({ locked_until: isoTime(), reason: z.string().nullable() });

/** A number in an answer; what is not known yet is null. */
export const device = z
  .strictObject({
    device: z.string(),
    state: z.enum(LINK_STATES),
    since: isoTime(),
    last_in: isoTime().nullable(),
    last_out: isoTime().nullable(),
    lid: z.string().nullable(),
    name: z.string().nullable(),
    platform: z.string().nullable(),
    waiting: z.int().min(0).nullable().meta({
      description: "Messages from the time offline that WhatsApp still holds back; null when it has not said",
    }),
    reachout: reachoutLock.nullable().meta({ description: "First contacts are blocked until then" }),
    new_chats: z
      .strictObject({
        limit: z.int().min(0).nullable().meta({ description: "Null: no limit" }),
        used: z.int().min(0),
        resets_at: isoTime().nullable(),
      })
      .nullable()
      .meta({ description: "How many chats WhatsApp lets the number begin; null until WhatsApp says" }),
    calls: z.enum(CALLS),
    calls_text: z.string().nullable(),
    proxy: z.string().nullable().meta({ description: "Without its password; null: none" }),
  })
  .meta({ id: "Device" });

/**
 * Why a number is in its state; `last_close` is null while it has never lost a connection, `reachout` unless WhatsApp lets it write
 * to nobody for the first time, `waiting` unless WhatsApp says how much it still holds back.
 */
export const why = z
  .strictObject({
    state: z.enum(LINK_STATES),
    reason: z.string().nullable(),
    since: isoTime(),
    until: isoTime().nullable(),
    last_close: z.strictObject({ code: z.int(), reason: z.string(), at: isoTime() }).nullable(),
    next_retry_at: isoTime().nullable(),
    waiting: z.int().min(0).nullable(),
    reachout: reachoutLock.nullable(),
    warm_up: z
      .strictObject({
        day: z.int().min(1).max(10).meta({ description: "1 is the day of the linking" }),
        limit: z.int().meta({ description: "How many people it may write to for the first time that day" }),
        used: z.int().min(0),
        resets_at: isoTime(),
      })
      .nullable()
      .meta({ description: "Null: WARM_UP is off, or the number was linked ten days ago" }),
    webhook: z
      .strictObject({
        state: z.enum(["failing", "paused", "disabled"]),
        failing_since: isoTime().nullable(),
        next_attempt_at: isoTime().nullable(),
      })
      .nullable()
      .meta({ description: "Null: the number has no webhook, or it takes what is posted" }),
    advice: z.string(),
  })
  .meta({ id: "Why" });

const base64url = z
  .string()
  .max(65_536)
  .regex(/^[\w-]+$/);

/** What `navigator.credentials.get` is to be called with, as WhatsApp asks it. */
export const passkeyRequest = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  allowCredentials: z.array(z.object({ id: z.string(), type: z.string(), transports: z.array(z.string()) })),
  userVerification: z.string(),
  extensions: z.record(z.string(), z.unknown()),
});

const assertion = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal("public-key"),
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
});

/** What the browser answered. Whatever is wrong with it is said of the whole: it is made by a program, and pasted. */
export const passkeyAssertion = z.preprocess((value, context) => {
  const parsed = assertion.safeParse(value);
  if (parsed.success) return parsed.data;
  const place = parsed.error.issues[0]?.path.join(".") || "the whole";
  context.addIssue({
    code: "custom",
    message: `Must be the result of navigator.credentials.get, with its bytes in base64url without padding; see ${place}.`,
  });
  return z.NEVER;
}, assertion);
