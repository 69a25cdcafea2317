import { z } from "zod";
import type { ErrorCode } from "../../model/errors/errors.ts";
import { endpoint } from "../endpoint.ts";
import { answer, pageOf, record } from "../schemas/answer.ts";
import { flag, oneOf, ownNumber, pageOfFew } from "../../model/fields.ts";
import {
  device,
  deviceChange,
  newDevice,
  passkeyAssertion,
  passkeyRequest,
  why,
} from "../schemas/numbers.ts";

const devices = { by: "key", permission: "devices" } as const;
/** Whoever links a number by a link sees how it is. */
const seen = { ...devices, links: true } as const;
const nothing = z.object({});

const expiresIn = z.int().min(0);

/** `POST /generate-qr`: registers the number if need be. */
export const generateQr = endpoint({
  method: "POST",
  path: "/generate-qr",
  access: { by: "key", permission: "qr" },
  changesNothing:
    "Callers repeat it until the number is linked; the log records the number that it registers.",
  summary: "Link a number; call again until it is connected",
  message: "Processing",
  errors: ["WRONG_NUMBER", "PLAN_LIMIT", "WHATSAPP_REFUSED"],
  input: z.object({
    device: ownNumber(),
    force: flag().default(false),
    method: oneOf(["qr", "code"]).default("qr"),
  }),
  output: z.discriminatedUnion("state", [
    answer({ state: z.literal("processing") }).extend({ status: z.literal(false) }),
    answer({
      state: z.literal("qr"),
      qrcode: z.string().startsWith("data:image/png;base64,"),
      qr: z.string(),
      expires_in: expiresIn,
    }).extend({ status: z.literal(false) }),
    answer({
      state: z.literal("code"),
      code: z.string().regex(/^[A-Z0-9]{8}$/),
      expires_in: expiresIn,
    }).extend({ status: z.literal(false) }),
    answer({
      state: z.literal("passkey"),
      device: z.string(),
      passkey: passkeyRequest,
      expires_in: expiresIn,
    }).extend({
      status: z.literal(false),
    }),
    answer({
      state: z.literal("action_required"),
      reason: z.enum(["passkey", "version"]),
      device: z.string(),
    }).extend({ status: z.literal(false) }),
    answer({ state: z.literal("connected"), device: z.string() }).extend({ status: z.literal(true) }),
    answer({ state: z.literal("connecting"), device: z.string() }).extend({ status: z.literal(true) }),
  ]),
});

/** `GET /devices`: those that the key may use. */
export const listDevices = endpoint({
  method: "GET",
  path: "/devices",
  access: devices,
  summary: "Numbers of the account, newest first",
  message: "Devices.",
  input: z.object(pageOfFew()),
  output: pageOf(device),
});

export const createDevice = endpoint({
  method: "POST",
  path: "/devices",
  access: devices,
  summary: "Register a number without linking it",
  message: "Device registered.",
  errors: ["PLAN_LIMIT"],
  input: newDevice,
  output: record(device),
});

export const getDevice = endpoint({
  method: "GET",
  path: "/devices/{number}",
  access: seen,
  summary: "One number",
  message: "Device.",
  input: nothing,
  output: record(device),
});

/** `PATCH /devices/{number}`: what is not given stays as it is. */
export const changeDevice = endpoint({
  method: "PATCH",
  path: "/devices/{number}",
  access: devices,
  summary: "Change what a number does with calls, and its proxy",
  message: "Device changed.",
  errors: ["URL_NOT_ALLOWED"],
  input: deviceChange,
  output: record(device),
});

/** `DELETE /devices/{number}`: cannot be undone. */
export const deleteDevice = endpoint({
  method: "DELETE",
  path: "/devices/{number}",
  access: devices,
  summary: "Log a number out and erase it",
  message: "Device deleted.",
  input: nothing,
  output: answer({}),
});

export const logoutDevice = endpoint({
  method: "POST",
  path: "/devices/{number}/logout",
  access: devices,
  summary: "Log a number out; its record and webhook stay",
  message: "Device logged out.",
  input: nothing,
  output: record(device),
});

/** `GET /devices/{number}/why`: the advice is for people. */
export const whyDevice = endpoint({
  method: "GET",
  path: "/devices/{number}/why",
  access: seen,
  summary: "Why a number is in its state, and what to do about it",
  message: "Explanation.",
  input: nothing,
  output: record(why),
});

/** The two steps with which a person answers for the passkey. */
const passkeyStep = {
  method: "POST" as const,
  access: { by: "key", permission: "qr" } as const,
  errors: ["NO_PASSKEY_REQUEST", "WHATSAPP_REFUSED"] as ErrorCode[],
};
const linking = answer({ state: z.literal("linking") }).extend({ status: z.literal(true) });

/** `POST /devices/{number}/passkey`: what the owner's browser answered to `passkey` of `/generate-qr`. */
export const answerPasskey = endpoint({
  ...passkeyStep,
  path: "/devices/{number}/passkey",
  summary: "Answer WhatsApp's passkey request for a number",
  message: "WhatsApp has received the passkey's answer.",
  input: z.object({ assertion: passkeyAssertion }),
  output: z.discriminatedUnion("state", [
    linking,
    answer({ state: z.literal("confirm"), code: z.string() }).extend({ status: z.literal(true) }),
  ]),
});

/** `POST /devices/{number}/passkey/confirm`: the code is the one that the phone shows. */
export const confirmPasskey = endpoint({
  ...passkeyStep,
  path: "/devices/{number}/passkey/confirm",
  summary: "Confirm that the gateway and the phone show the same code",
  message: "Linking continues.",
  input: nothing,
  output: linking,
});
