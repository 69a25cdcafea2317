import { z } from "zod";
import { parseLid } from "../../model/address.ts";
import { endpoint } from "../endpoint.ts";
import { answer } from "../schemas/answer.ts";
import { group } from "../schemas/groups.ts";
import { flag, isoTime, list, ownNumber, phoneNumber, text } from "../../model/fields.ts";

const lid = text(1, 100).transform((value, context) => {
  const parsed = parseLid(value);
  if (parsed !== null) return parsed;
  context.issues.push({ code: "custom", input: value, message: "Must be digits, with or without @lid." });
  return z.NEVER;
});

/** `POST /groups`: `stale` when WhatsApp could not be asked, and the list is older than 60 seconds. */
export const groups = endpoint({
  method: "POST",
  path: "/groups",
  access: { by: "key", permission: "groups" },
  changesNothing: "Lists what is stored.",
  summary: "Groups of a number, cached for 60 seconds",
  message: "Groups.",
  errors: ["WHATSAPP_REFUSED"],
  bounded: "WhatsApp lists all groups of a number in one answer.",
  input: z.object({ sender: ownNumber(), refresh: flag().default(false) }),
  output: answer({
    total: z.int().min(0),
    data: z.array(group),
    cached_at: isoTime(),
    stale: z.boolean(),
    /** With `refresh`: whether WhatsApp has given the list for it, or it is the one in store. */
    refreshed: z.boolean().optional(),
  }),
});

/** `POST /resolve-lid`: an unknown LID is an answer (`status` false, HTTP 200), not an error. */
export const resolveLid = endpoint({
  method: "POST",
  path: "/resolve-lid",
  access: { by: "key", permission: "lid" },
  changesNothing: "Looks up a number.",
  summary: "The phone number behind a LID",
  message: "Number found.",
  input: z.object({ sender: ownNumber(), lid }),
  output: answer({
    lid: z.string().endsWith("@lid"),
    number: z.string().nullable(),
    errors: z.strictObject({ code: z.literal("NUMBER_NOT_AVAILABLE") }).optional(),
  }),
});

const numberCheck = z
  .strictObject({
    number: z.string().meta({ description: "Digits" }),
    exists: z.boolean().nullable().meta({ description: "Null: WhatsApp did not say" }),
    lid: z.string().endsWith("@lid").nullable(),
    checked_at: isoTime().meta({ description: "When WhatsApp was asked" }),
  })
  .meta({ id: "NumberCheck" });

/** `POST /check-numbers`: kept answers are free; WhatsApp is asked about at most 500 numbers an hour. */
export const checkNumbers = endpoint({
  method: "POST",
  path: "/check-numbers",
  access: { by: "key", permission: "lid" },
  changesNothing: "Asks WhatsApp.",
  summary: "Which of up to 50 numbers are on WhatsApp; answers are kept for 24 hours",
  message: "Numbers checked.",
  bounded: "A request names at most 50 numbers.",
  input: z.object({
    sender: ownNumber(),
    numbers: list(phoneNumber(), 1, 50).meta({
      description: "1 to 50 phone numbers, digits with the country code",
    }),
  }),
  output: answer({ total: z.int().min(0), data: z.array(numberCheck) }),
});
