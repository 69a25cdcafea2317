import { z } from "zod";
import { isoTime } from "../../model/fields.ts";
import { messageState } from "./messages.ts";

/** What a message is; `type` of the webhook's event uses the same words. */
export const messageType = z.string();
const direction = z.enum(["in", "out"]);

const media = z.strictObject({
  type: z.string(),
  mimetype: z.string(),
  fileName: z.string().nullable(),
  size: z.int().min(0),
  url: z.string().nullable().meta({ description: "Signed, expires, needs no key" }),
  error: z.string().optional(),
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
    message: z.string().meta({ description: "The text, after its last edit" }),
    media: media.optional(),
    quoted: z.strictObject({ id: z.string(), from: z.string(), text: z.string() }).optional(),
    at: isoTime(),
    expires_at: isoTime().optional(),
    state: messageState.optional(),
    answered_by: z
      .string()
      .optional()
      .meta({ description: "`bot:<id>` or `webhook`: who answered it, or wrote it" }),
    edited: z.boolean().optional(),
    revoked: z.boolean().optional(),
  })
  .meta({ id: "Message" });

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
    unanswered: z.boolean().meta({ description: "The other side has written last" }),
    taken_over_until: isoTime().nullable(),
    bot: z.string().nullable().meta({ description: "Which bot answered last" }),
  })
  .meta({ id: "Chat" });

/** A chat in which bots pause, or go on (null). */
export const takeover = z.strictObject({
  sender: z.string(),
  chat: z.string(),
  taken_over_until: isoTime().nullable(),
});
