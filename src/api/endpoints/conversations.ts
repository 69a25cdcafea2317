import { z } from "zod";
import { destination, integer, oneOf, ownNumber, pageOfMany, text, time } from "../../model/fields.ts";
import { SENT_STATES } from "../../model/messages.ts";
import { endpoint } from "../endpoint.ts";
import { pageOf, record } from "../schemas/answer.ts";
import { listedChat, listedMessage, takeover } from "../schemas/conversations.ts";

const messages = { by: "key", permission: "messages" } as const;
const bots = { by: "key", permission: "bots" } as const;
/** A week: who needs longer takes the chat over again, or switches the bot off. */
const MOST_MINUTES = 7 * 24 * 60;

/** `GET /messages`: what numbers received and sent. */
export const listMessages = endpoint({
  method: "GET",
  path: "/messages",
  access: messages,
  summary: "What numbers received and sent, newest first",
  message: "Messages.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    sender: ownNumber().optional(),
    chat: destination().optional(),
    direction: oneOf(["in", "out"]).optional(),
    state: oneOf([...SENT_STATES, "failed", "expired"]).optional(),
    since: time().optional(),
    ...pageOfMany(),
  }),
  output: pageOf(listedMessage),
});

/** `GET /chats`: whom numbers write with. */
export const listChats = endpoint({
  method: "GET",
  path: "/chats",
  access: messages,
  summary: "Chats of numbers with their last message, newest first",
  message: "Chats.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    sender: ownNumber().optional(),
    q: text(1, 100).optional().meta({ description: "A part of the name, or of the digits" }),
    ...pageOfMany(),
  }),
  output: pageOf(listedChat),
});

/** `POST /chats/{chat}/takeover`: a person answers there, and bots do not. */
export const takeChatOver = endpoint({
  method: "POST",
  path: "/chats/{chat}/takeover",
  access: bots,
  summary: "Pause the bots in a chat",
  message: "Bots pause in this chat.",
  errors: ["SENDER_NOT_FOUND", "RECIPIENT_NOT_ALLOWED"],
  input: z.object({
    sender: ownNumber(),
    minutes: integer(1, MOST_MINUTES).optional().meta({ description: "Default: TAKEOVER_MINUTES" }),
  }),
  output: record(takeover),
});

/** `DELETE /chats/{chat}/takeover` */
export const handChatBack = endpoint({
  method: "DELETE",
  path: "/chats/{chat}/takeover",
  access: bots,
  summary: "Let the bots go on in a chat",
  message: "Bots go on in this chat.",
  errors: ["SENDER_NOT_FOUND", "RECIPIENT_NOT_ALLOWED"],
  input: z.object({ sender: ownNumber() }),
  output: record(takeover),
});
