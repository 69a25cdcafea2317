import { z } from "zod";
import { isoTime } from "../../model/fields.ts";
import { MESSAGE_TYPES } from "../../model/messages.ts";
import { CONTACT_PARTS, GROUP_ACTIONS, PRESENCE_STATES } from "../../webhooks/events/happening-events.ts";
import { decision } from "./decisions.ts";
import { sentMessage } from "./messages.ts";
import { device } from "./numbers.ts";
import { delivery } from "./webhooks.ts";
import { webhook } from "../../webhooks/settings.ts";

const media = z.strictObject({
  type: z.string(),
  mimetype: z.string(),
  fileName: z.string().nullable(),
  size: z.int().min(0).meta({ description: "Bytes" }),
  url: z.string().nullable().meta({ description: "Signed, expires, needs no key" }),
  error: z.string().optional(),
});

const told = {
  message: z.string().meta({ description: "Text that a person would read; empty when there is none" }),
  text: z.string().meta({ description: "The same text as `message`" }),
  from: z.string().meta({ description: "The writer: digits, or `…@lid` while the number is unknown" }),
  id: z.string(),
  pushName: z.string(),
  device: z.string().meta({ description: "The linked number" }),
  chat: z.string().meta({ description: "What `number` of a send accepts to answer there" }),
  is_group: z.boolean(),
  participant: z.string().nullable(),
  from_lid: z.string().nullable(),
  timestamp: z.int().meta({ description: "Unix seconds" }),
  type: z.enum(MESSAGE_TYPES),
  expires_at: isoTime().nullable().meta({ description: "When the message disappears from phones" }),
  quoted: z.strictObject({ id: z.string(), from: z.string(), text: z.string() }).nullable(),
  mentions: z.array(z.string()),
  media: media.nullable(),
  location: z
    .strictObject({
      latitude: z.number(),
      longitude: z.number(),
      name: z.string().nullable(),
      address: z.string().nullable(),
    })
    .nullable(),
  contacts: z.array(z.strictObject({ name: z.string(), numbers: z.array(z.string()) })).nullable(),
  reaction: z.strictObject({ id: z.string(), emoji: z.string() }).nullable(),
  target_id: z.string().nullable().meta({ description: "Message that an edit or a revoke is about" }),
  poll: z
    .strictObject({
      id: z.string(),
      name: z.string().nullable(),
      selected: z.array(z.string()).nullable(),
      options: z.array(z.strictObject({ name: z.string(), voters: z.array(z.string()) })).nullable(),
      total: z.int().nullable(),
    })
    .nullable(),
};

const groupHappening = {
  action: z.enum(GROUP_ACTIONS),
  by: z.string().nullable().meta({ description: "Who did it: digits or `…@lid`; null: nobody is named" }),
  participants: z.array(z.string()).meta({ description: "Whom it is about" }),
};
const presence = {
  state: z.enum(PRESENCE_STATES),
  last_seen: isoTime().nullable(),
};
const part = z.string().nullable().optional();
const contactChange = {
  changed: z.array(z.enum(CONTACT_PARTS)),
  old: z
    .strictObject({ name: part, lid: part, number: part })
    .meta({ description: "What was before, of each that changed; null: it was not known" }),
};

/** What is posted to a webhook; what is absent is null. */
export const webhookEvent = z
  .object({
    ...told,
    bufferImage: z.string().nullable().meta({ description: "Images up to 5 MiB: bare base64" }),
    handled_by: z.string().nullable().meta({ description: "`bot:<id>` of the bot that has answered" }),
    type: z.enum([...MESSAGE_TYPES, "status", "device", "read", "group", "presence"]),
    target_id: z.string().nullable().meta({
      description:
        "Message that an edit or a revoke is about. For `status` the sent message, for `read` the message that was read: the same as `id`",
    }),
    state: z.string().optional().meta({
      description:
        "For `status` the message's new state, for `device` the number's, for `read` the word `read`; else absent",
    }),
    reason: z.string().nullable().optional().meta({
      description:
        "For `device`: the reason, as a word; `reachout_locked` means no first contacts before `until`",
    }),
    until: isoTime()
      .nullable()
      .optional()
      .meta({ description: "For `device`: when the state ends on its own" }),
    error: z
      .looseObject({ code: z.string(), message: z.string() })
      .nullable()
      .optional()
      .meta({ description: "For `status`: why the message failed, as in `GET /messages/{id}`" }),
    group: z.strictObject(groupHappening).optional().meta({ description: "For `group`; else absent" }),
    presence: z.strictObject(presence).optional().meta({ description: "For `presence`; else absent" }),
    contact: z.strictObject(contactChange).optional().meta({
      description: "For `contact`, when it is no message with cards but what is another of a person",
    }),
  })
  .meta({ id: "Event" });

/** A message as `/events` tells of it: without what only a webhook gets. */
const incomingEvent = z.object(told).meta({ id: "IncomingMessage" });

const quoted = z.boolean().optional().meta({ description: "Quote the message that the event is about" });
const hold = z
  .number()
  .optional()
  .meta({ description: "Seconds for which the webhook holds the chat; 0 ends the hold" });
const file = z.object({
  type: z.string().optional(),
  media_type: z.string().optional(),
  url: z.string(),
  caption: z.string().optional(),
  filename: z.string().optional(),
  ptt: z.string().optional(),
  quoted,
  hold,
});
const one = z.union([
  z.string(),
  z.object({ message: z.union([z.string(), z.number()]), quoted, hold }),
  file,
  z.object({
    name: z.string(),
    option: z.array(z.string()).min(2),
    countable: z.string().optional(),
    quoted,
    hold,
  }),
  z.object({
    latitude: z.number(),
    longitude: z.number(),
    name: z.string().optional(),
    address: z.string().optional(),
    quoted,
    hold,
  }),
  z.object({
    contacts: z.array(
      z.object({
        name: z.string(),
        numbers: z.array(z.string()),
        organization: z.string().optional(),
        email: z.string().optional(),
      }),
    ),
    quoted,
    hold,
  }),
]);

/** What a webhook may answer, in the forms that are written anew; others of older gateways are read as well. */
export const webhookReply = z
  .union([
    one,
    z.array(one).max(10),
    z.object({ replies: z.array(one).max(10), hold }),
    z.object({ hold: z.number() }),
  ])
  .meta({ id: "Reply" });

const event = <const N extends string, D extends z.ZodType>(name: N, data: D) =>
  z.object({ id: z.string(), event: z.literal(name), data });

/** A message that the owner has read on the phone, or with another companion. */
const readMessage = z.object({
  id: z.string(),
  device: z.string().meta({ description: "The linked number" }),
  chat: z.string(),
  at: isoTime(),
});

const happened = {
  device: z.string(),
  chat: z.string(),
  from: z.string().nullable().meta({ description: "Who did it, or who it is about" }),
  at: isoTime(),
};

/** One event of `GET /events`: its three lines as one object. */
export const streamEvent = z
  .discriminatedUnion("event", [
    event("device", device),
    event("message.in", incomingEvent),
    event("message.out", sentMessage),
    event("read", readMessage),
    event("decision", decision.omit({ type: true }).extend({ device: z.string(), at: isoTime() })),
    event("delivery", delivery),
    event("webhook", webhook.extend({ device: z.string() })),
    event("group", z.object({ ...happened, ...groupHappening, text: z.string() })),
    event("presence", z.object({ ...happened, ...presence })),
    event("contact", z.object({ ...happened, ...contactChange })),
  ])
  .meta({ id: "StreamEvent" });
