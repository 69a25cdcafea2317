import { z } from "zod";
import { parseLid } from "../../model/address.ts";
import { endpoint } from "../endpoint.ts";
import { answer, pageOf, record } from "../schemas/answer.ts";
import { blockedContact, contact, contactDetails } from "../schemas/contacts.ts";
import { group } from "../schemas/groups.ts";
import { flag, isoTime, list, ownNumber, pageOfMany, phoneNumber, text } from "../../model/fields.ts";

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

const lidAccess = { by: "key", permission: "lid" } as const;
const devicesAccess = { by: "key", permission: "devices" } as const;

/** `GET /contacts` */
export const listContacts = endpoint({
  method: "GET",
  path: "/contacts",
  access: lidAccess,
  summary: "People whom a number has written with, or has in its phone's address book; met last first",
  message: "Contacts.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    sender: ownNumber(),
    q: text(1, 100).optional().meta({
      description:
        "A part of a name, or of the digits. Names are stored sealed: a page looks through 200 people, may be empty, and goes on with `next`",
    }),
    ...pageOfMany(),
  }),
  output: pageOf(contact),
});

/** `GET /contacts/{contact}`: somebody never met is 404. */
export const getContact = endpoint({
  method: "GET",
  path: "/contacts/{contact}",
  access: lidAccess,
  summary: "A person, with what WhatsApp shows of him; WhatsApp is asked at most every 24 hours",
  message: "Contact.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({ sender: ownNumber() }),
  output: record(contactDetails),
});

const BLOCKING = ["SENDER_NOT_FOUND", "SENDER_NOT_CONNECTED", "NOT_ON_WHATSAPP", "WHATSAPP_REFUSED"] as const;

/** `PUT /contacts/{contact}/block` */
export const blockContact = endpoint({
  method: "PUT",
  path: "/contacts/{contact}/block",
  access: devicesAccess,
  summary: "Block a person: direct messages and calls of him do not arrive any more",
  message: "Blocked.",
  errors: [...BLOCKING],
  input: z.object({ sender: ownNumber() }),
  output: record(blockedContact),
});

/** `DELETE /contacts/{contact}/block` */
export const unblockContact = endpoint({
  method: "DELETE",
  path: "/contacts/{contact}/block",
  access: devicesAccess,
  summary: "Let a person who was blocked in again",
  message: "No longer blocked.",
  errors: [...BLOCKING],
  input: z.object({ sender: ownNumber() }),
  output: record(blockedContact),
});
