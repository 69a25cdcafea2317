import { z } from "zod";
import type { ErrorCode } from "../../model/errors/errors.ts";
import { trimmedText } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { FETCH_ERRORS, pictureLink } from "../schemas/links.ts";

const access = { by: "key", permission: "devices" } as const;
const path = "/devices/{number}/profile";
const errors = ["SENDER_NOT_CONNECTED", "RATE_LIMITED", "WHATSAPP_REFUSED"] satisfies ErrorCode[];
/** As phones limit them. */
const LONGEST_NAME = 25;
const LONGEST_ABOUT = 139;

const profile = record(
  z
    .strictObject({
      device: z.string(),
      name: z.string().nullable(),
      about: z.string().nullable().meta({ description: "The text under the name" }),
      picture_url: z.string().nullable().meta({ description: "At WhatsApp, for some days" }),
    })
    .meta({ id: "Profile" }),
);

/** `GET /devices/{number}/profile` */
export const getProfile = endpoint({
  method: "GET",
  path,
  access,
  summary: "What a number shows of itself, asked of WhatsApp now",
  message: "Profile.",
  errors,
  input: z.object({}),
  output: profile,
});

/** `PATCH /devices/{number}/profile` */
export const changeProfile = endpoint({
  method: "PATCH",
  path,
  access,
  summary: "Change a number's name, text or picture; at most 10 changes an hour",
  message: "Profile changed.",
  errors: [...errors, ...FETCH_ERRORS],
  input: z.object({
    name: trimmedText(1, LONGEST_NAME).optional(),
    about: trimmedText(0, LONGEST_ABOUT).optional(),
    picture_url: pictureLink.optional(),
  }),
  output: profile,
});
