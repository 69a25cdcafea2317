import { z } from "zod";
import { isoTime } from "../../model/fields.ts";
import { imported, messageState } from "./messages.ts";

/** What a message is; `type` of the webhook's event uses the same words. */
export const messageType = z.string();
const direction = z.enum(["in", "out"]);

const media = z.strictObject({
  type: z.string(),
  mimetype: z.string(),
  fileName: z.string().nullable(),
  size: z.int().min(0),
  seconds: z.number().min(0).optional().meta({ description: "Of sound and video that came" }),
  url: z.string().nullable().meta({ description: "Signed, expires, needs no key" }),
  error: z.string().optional(),
});

const poll = z.strictObject({
  id: z.string(),
  name: z.string().nullable().meta({ description: "Null: the poll that the vote is about is not known" }),
  options: z.array(z.string()),
  selected: z
    .array(z.string())
    .optional()
    .meta({ description: "Of a vote: what was chosen; none: it was withdrawn" }),
});
const location = z.strictObject({
  latitude: z.number(),
  longitude: z.number(),
  name: z.string().nullable(),
  address: z.string().nullable(),
});

/** A message in the list of what was received and sent. */
export const listedMessage = z
  .strictObject({
    id: z.string(),
    sender: z.string().meta({ description: "The number itself" }),
    chat: z.string().meta({ description: "What `number` of a send accepts to answer there" }),
    direction,
    from: z.string().meta({ description: "The writer: digits, or `…@lid` while the number is unknown" }),
    type: messageType,
    name: z.string().optional().meta({ description: "What the writer calls themselves" }),
    message: z.string().meta({ description: "The text, after its last edit" }),
    target_id: z
      .string()
      .optional()
      .meta({ description: "The message that a reaction, a vote, an edit or a revoke is about" }),
    poll: poll.optional(),
    location: location.optional(),
    contacts: z.array(z.strictObject({ name: z.string(), numbers: z.array(z.string()) })).optional(),
    media: media.optional(),
    quoted: z.strictObject({ id: z.string(), from: z.string(), text: z.string() }).optional(),
    at: isoTime(),
    send_at: isoTime().optional().meta({ description: "When it is, or was, to be sent" }),
    expires_at: isoTime().optional(),
    state: messageState.optional(),
    answered_by: z
      .string()
      .optional()
      .meta({ description: "`bot:<id>` or `webhook`: who answered it, or wrote it" }),
    by: z.string().optional().meta({
      description:
        "Who wrote what went out: `bot:<id>`, `webhook`, `console`, `phone`, `api:<key name>`, or `calls`, the text for callers; `api` when an earlier version stored it",
    }),
    edited: z.boolean().optional(),
    revoked: z.boolean().optional(),
    imported: imported.optional(),
  })
  .meta({ id: "Message" });

/** How the number's phone shows a chat. */
const settings = {
  archived: z.boolean(),
  pinned: z.boolean(),
  muted_until: isoTime().nullable().meta({ description: "In the year 9999: for ever" }),
  marked_unread: z.boolean().meta({ description: "Somebody has marked it by hand" }),
  disappearing: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: "Seconds; 0: messages stay; null: not told of this group yet" }),
};

/** A chat with its last message. */
export const listedChat = z
  .strictObject({
    sender: z.string(),
    chat: z.string(),
    name: z.string().nullable(),
    is_group: z.boolean(),
    last: z.strictObject({
      id: z.string(),
      at: isoTime(),
      direction,
      type: messageType,
      message: z.string(),
    }),
    unanswered: z
      .boolean()
      .meta({ description: "The other side has written last, and since the number was linked" }),
    unread: z.int().min(0).max(100).meta({
      description:
        "Messages of the other side since the chat was last read, by `POST /chats/{chat}/read` or on the phone, without reactions, votes, edits and revokes. The last 100 are looked at",
    }),
    taken_over_until: isoTime().nullable(),
    bot: z.string().nullable().meta({ description: "Which bot answered last" }),
    ...settings,
  })
  .meta({ id: "Chat" });

/** A chat whose settings were changed. */
export const changedChat = z
  .strictObject({ sender: z.string(), chat: z.string(), ...settings })
  .meta({ id: "ChatSettings" });

/** A chat in which bots pause, or go on (null). */
export const takeover = z.strictObject({
  sender: z.string(),
  chat: z.string(),
  taken_over_until: isoTime().nullable(),
});

/** A chat that was read. */
export const chatRead = z.strictObject({ sender: z.string(), chat: z.string() });

/** A dialogue of a bot that is under way. */
export const openDialogue = z
  .strictObject({
    chat: z.string(),
    participant: z.string().nullable().meta({ description: "In a group who is being talked to" }),
    bot: z.string(),
    dialogue: z.string().meta({ description: "Its name in the bot: of a form, a menu, a flow" }),
    updated_at: isoTime().meta({ description: "When it last went on" }),
    expires_at: isoTime().nullable().meta({ description: "When it ends by itself; null: never" }),
  })
  .meta({ id: "OpenDialogue" });
