import { z } from "zod";
import { CHANNEL_ROLES } from "../../directory/channels.ts";
import { parseChannel } from "../../model/address.ts";
import { endpoint } from "../endpoint.ts";
import { answer, pageOf, record } from "../schemas/answer.ts";
import { ownNumber, pageOfFew, text } from "../../model/fields.ts";

const access = { by: "key", permission: "channels" } as const;

const reference = text(1, 500).transform((value, context) => {
  const parsed = parseChannel(value);
  if (parsed !== null) return parsed;
  context.issues.push({
    code: "custom",
    input: value,
    message: "Must be an invite link (https://whatsapp.com/channel/…) or an id (…@newsletter).",
  });
  return z.NEVER;
});

const channel = z
  .strictObject({
    id: z.string().endsWith("@newsletter"),
    name: z.string(),
    role: z.enum(CHANNEL_ROLES),
    can_send: z.boolean(),
  })
  .meta({ id: "Channel" });

export const listChannels = endpoint({
  method: "GET",
  path: "/channels",
  access,
  summary: "Registered channels of a number, newest first",
  message: "Channels.",
  input: z.object({ sender: ownNumber(), ...pageOfFew() }),
  output: pageOf(channel),
});

export const addChannel = endpoint({
  method: "POST",
  path: "/channels",
  access,
  summary: "Register a channel by its invite link or id and follow it",
  message: "Channel registered.",
  errors: ["NOT_ON_WHATSAPP", "WHATSAPP_REFUSED"],
  input: z.object({ sender: ownNumber(), channel: reference }),
  output: record(channel),
});

export const removeChannel = endpoint({
  method: "DELETE",
  path: "/channels/{id}",
  access,
  summary: "Remove a channel and unfollow it",
  message: "Channel removed.",
  errors: ["WHATSAPP_REFUSED"],
  input: z.object({ sender: ownNumber() }),
  output: answer({}),
});
