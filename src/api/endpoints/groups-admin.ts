import { z } from "zod";
import { parseDestination } from "../../model/address.ts";
import { flag, isoTime, list, oneOf, ownNumber, text, timer, trimmedText } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { answer, record } from "../schemas/answer.ts";
import { MEMBER_ACTIONS, REQUEST_ACTIONS } from "../../directory/group-admin.ts";
import { FETCH_ERRORS, pictureLink } from "../schemas/links.ts";
import { groupDetails as details } from "../schemas/groups.ts";

const read = { by: "key", permission: "groups" } as const;
const admin = { by: "key", permission: "groups_admin" } as const;
const MOST_MEMBERS = 1_023;
const MOST_AT_ONCE = 50;
const LONGEST_NAME = 100;
const LONGEST_DESCRIPTION = 2_048;

const person = text(1, 100)
  .transform((value, context) => {
    const parsed = parseDestination(value);
    if (parsed !== null && (parsed.kind === "number" || parsed.kind === "lid")) return parsed;
    const message = "Must be a phone number with the country code, or …@lid.";
    context.issues.push({ code: "custom", input: value, message });
    return z.NEVER;
  })
  .meta({ description: "Digits with the country code, or `…@lid`" });

const CODE = /^(?:(?:https?:\/\/)?chat\.whatsapp\.com\/(?:invite\/)?)?([A-Za-z0-9]{10,40})(?:[/?#].*)?$/;
const inviteCode = text(1, 200)
  .transform((value, context) => {
    const code = CODE.exec(value.trim())?.[1];
    if (code !== undefined) return code;
    const message = "Must be an invite link, https://chat.whatsapp.com/…, or its code.";
    context.issues.push({ code: "custom", input: value, message });
    return z.NEVER;
  })
  .meta({ description: "An invite link, or its code" });

const outcome = z.strictObject({ number: z.string(), status: z.boolean(), error: z.string().optional() });
const ERRORS = ["CANNOT_SEND", "NOT_FOUND", "WHATSAPP_REFUSED"] as const;
const bounded = "WhatsApp names the members of a group in one answer.";

/** `GET /groups/{id}` */
export const groupDetails = endpoint({
  method: "GET",
  path: "/groups/{id}",
  access: read,
  summary: "A group with its members and settings, asked of WhatsApp now",
  message: "Group.",
  errors: [...ERRORS],
  bounded,
  input: z.object({ sender: ownNumber() }),
  output: record(details),
});

/** `POST /groups/create` */
export const createGroup = endpoint({
  method: "POST",
  path: "/groups/create",
  access: admin,
  summary: "Make a group",
  message: "Group created.",
  errors: [...ERRORS, "NOT_ON_WHATSAPP", "RECIPIENT_NOT_ALLOWED"],
  bounded,
  input: z.object({
    sender: ownNumber(),
    name: trimmedText(1, LONGEST_NAME),
    description: trimmedText(0, LONGEST_DESCRIPTION).default(""),
    participants: list(person, 1, MOST_MEMBERS),
    invite: flag()
      .default(false)
      .meta({ description: "Who may not be added gets the invite link as a message" }),
  }),
  output: answer({
    data: details,
    results: z.array(
      z.strictObject({
        number: z.string(),
        added: z.boolean(),
        reason: z.string().optional(),
        invite: z.string().optional().meta({ description: "Id of the message with the invite link" }),
      }),
    ),
  }),
});

/** `PATCH /groups/{id}` */
export const changeGroup = endpoint({
  method: "PATCH",
  path: "/groups/{id}",
  access: admin,
  summary: "Change a group's name, description, picture or settings",
  message: "Group changed.",
  errors: [...ERRORS, ...FETCH_ERRORS],
  bounded,
  input: z.object({
    sender: ownNumber(),
    name: trimmedText(1, LONGEST_NAME).optional(),
    description: trimmedText(0, LONGEST_DESCRIPTION).optional(),
    picture_url: pictureLink.optional(),
    announce: flag().optional().meta({ description: "Only admins write" }),
    locked: flag().optional().meta({ description: "Only admins change name, description and timer" }),
    join_approval: flag().optional().meta({ description: "Admins decide who may join" }),
    disappearing: timer().optional(),
  }),
  output: record(details),
});

const results = answer({ results: z.array(outcome) });

/** `POST /groups/{id}/participants` */
export const changeMembers = endpoint({
  method: "POST",
  path: "/groups/{id}/participants",
  access: admin,
  summary: "Add or remove members, or make them admins or no longer",
  message: "Members changed.",
  errors: [...ERRORS, "RECIPIENT_NOT_ALLOWED"],
  input: z.object({
    sender: ownNumber(),
    action: oneOf(MEMBER_ACTIONS),
    numbers: list(person, 1, MOST_AT_ONCE),
  }),
  output: results,
});

const invite = record(z.strictObject({ invite: z.string(), link: z.string() }));

/** `GET /groups/{id}/invite` */
export const groupInvite = endpoint({
  method: "GET",
  path: "/groups/{id}/invite",
  access: admin,
  summary: "The invite link of a group",
  message: "Invite link.",
  errors: [...ERRORS],
  input: z.object({ sender: ownNumber() }),
  output: invite,
});

/** `POST /groups/{id}/invite` */
export const renewInvite = endpoint({
  method: "POST",
  path: "/groups/{id}/invite",
  access: admin,
  summary: "Make a new invite link; the old one is no longer valid",
  message: "New invite link.",
  errors: [...ERRORS],
  input: z.object({ sender: ownNumber() }),
  output: invite,
});

/** `POST /groups/join` */
export const joinGroup = endpoint({
  method: "POST",
  path: "/groups/join",
  access: admin,
  summary: "Join a group by its invite link",
  message: "Joined.",
  statuses: [200, 202],
  errors: [...ERRORS],
  input: z.object({ sender: ownNumber(), invite: inviteCode }),
  output: answer({ id: z.string(), state: z.enum(["joined", "requested"]) }),
});

/** `POST /groups/{id}/leave` */
export const leaveGroup = endpoint({
  method: "POST",
  path: "/groups/{id}/leave",
  access: admin,
  summary: "Leave a group",
  message: "Left.",
  errors: [...ERRORS],
  input: z.object({ sender: ownNumber() }),
  output: answer({ id: z.string() }),
});

/** `GET /groups/{id}/requests` */
export const joinRequests = endpoint({
  method: "GET",
  path: "/groups/{id}/requests",
  access: admin,
  summary: "Who has asked to join a group",
  message: "Requests.",
  errors: [...ERRORS],
  bounded: "WhatsApp lists all requests in one answer.",
  input: z.object({ sender: ownNumber() }),
  output: answer({
    data: z.array(
      z.strictObject({ number: z.string().nullable(), lid: z.string().nullable(), at: isoTime() }),
    ),
  }),
});

/** `POST /groups/{id}/requests` */
export const decideRequests = endpoint({
  method: "POST",
  path: "/groups/{id}/requests",
  access: admin,
  summary: "Let people join who have asked, or not",
  message: "Requests answered.",
  errors: [...ERRORS],
  input: z.object({
    sender: ownNumber(),
    action: oneOf(REQUEST_ACTIONS),
    numbers: list(person, 1, MOST_AT_ONCE),
  }),
  output: results,
});
