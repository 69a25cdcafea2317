import { z } from "zod";
import {
  destination,
  flag,
  integer,
  isoTime,
  oneOf,
  ownNumber,
  pageOfMany,
  text,
  time,
  timer,
} from "../../model/fields.ts";
import { MESSAGE_STATES } from "../../model/messages.ts";
import { endpoint } from "../endpoint.ts";
import { pageOf, record } from "../schemas/answer.ts";
import {
  changedChat,
  chatRead,
  listedChat,
  listedMessage,
  openDialogue,
  takeover,
} from "../schemas/conversations.ts";
import { trace } from "../schemas/trace.ts";

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
    state: oneOf(MESSAGE_STATES).optional(),
    since: time().optional(),
    until: time().optional().meta({ description: "What was stored at that time is among them" }),
    q: text(1, 100).optional().meta({
      description:
        "A part of the text. Texts are stored sealed and opened one by one: a page looks through 500 messages, may be empty, and goes on with `next`",
    }),
    ...pageOfMany(),
  }),
  output: pageOf(listedMessage),
});

/** `GET /scheduled`: what waits for its `send_at`. */
export const listScheduled = endpoint({
  method: "GET",
  path: "/scheduled",
  access: messages,
  summary: "Messages that are to be sent later, newest first",
  message: "Scheduled messages.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({ sender: ownNumber().optional(), chat: destination().optional(), ...pageOfMany() }),
  output: pageOf(listedMessage),
});

/** `GET /messages/{id}/trace`: of messages of both directions, and of those that the owner typed. */
export const traceMessage = endpoint({
  method: "GET",
  path: "/messages/{id}/trace",
  access: messages,
  summary:
    "The way of a message: what happened when, who was asked, what was committed, and why nobody answered",
  message: "The way of the message.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    sender: ownNumber()
      .optional()
      .meta({ description: "The number, where two of the account have the same message" }),
  }),
  bounded: "who was asked, at most 50 replies, and the last 30 attempts at the webhook.",
  output: record(trace),
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
    chat: destination().optional().meta({ description: "This chat alone, by any form of its address" }),
    q: text(1, 100).optional().meta({ description: "A part of the name, or of the digits" }),
    unanswered: flag().optional().meta({ description: "1: only chats in which the other side wrote last" }),
    ...pageOfMany(),
  }),
  output: pageOf(listedChat),
});

/** `PATCH /chats/{chat}`: the phone shows it, and so do all companions. */
export const changeChat = endpoint({
  method: "PATCH",
  path: "/chats/{chat}",
  access: messages,
  summary: "Archive, pin, mute or mark a chat, or let its messages disappear, as the phone shows it",
  message: "Chat changed.",
  errors: [
    "SENDER_NOT_FOUND",
    "SENDER_NOT_CONNECTED",
    "NOT_FOUND",
    "CANNOT_SEND",
    "NOT_ON_WHATSAPP",
    "WHATSAPP_REFUSED",
  ],
  input: z.object({
    sender: ownNumber(),
    archived: flag().optional().meta({ description: "What is archived is not pinned any more" }),
    pinned: flag().optional().meta({ description: "Phones show at most three chats on top" }),
    muted_until: time()
      .refine((at) => at > Date.now(), "Must be in the future.")
      .nullable()
      .optional()
      .meta({ description: "Null: it makes a sound; from the year 9000 on: for ever" }),
    unread: flag()
      .optional()
      .meta({ description: "`true` marks it by hand; `false`: what is there was read, without receipts" }),
    disappearing: timer().optional(),
  }),
  output: record(changedChat),
});

/** `POST /chats/{chat}/read`: `unread` of the chat begins anew. */
export const readChat = endpoint({
  method: "POST",
  path: "/chats/{chat}/read",
  access: messages,
  changesNothing: "Notes that somebody looked.",
  summary:
    "Note that what there is in a chat was read, and send read receipts as the owner's privacy has them",
  message: "Read.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    sender: ownNumber(),
    receipts: flag()
      .default(true)
      .meta({ description: "`false`: only the gateway notes it, and WhatsApp is told nothing" }),
  }),
  output: record(chatRead),
});

/** `POST /chats/{chat}/typing` */
export const showTyping = endpoint({
  method: "POST",
  path: "/chats/{chat}/typing",
  access: messages,
  changesNothing: "Shows for seconds that somebody writes.",
  summary: "Show in a chat that the number is typing or recording",
  message: "Shown.",
  errors: ["SENDER_NOT_FOUND", "SENDER_NOT_CONNECTED"],
  input: z.object({
    sender: ownNumber(),
    state: oneOf(["typing", "recording", "paused"]),
    seconds: integer(1, 25).default(5).meta({ description: "1 to 25; then it shows nothing again" }),
  }),
  output: record(
    z.strictObject({
      sender: z.string(),
      chat: z.string(),
      state: z.enum(["typing", "recording", "paused"]),
    }),
  ),
});

/** `POST /chats/{chat}/presence`: what comes of it are events. */
export const watchPresence = endpoint({
  method: "POST",
  path: "/chats/{chat}/presence",
  access: messages,
  changesNothing: "Listens for minutes.",
  summary:
    "Let `presence` events of a chat come for a while; the number is online meanwhile, and its phone shows no notifications",
  message: "Watched.",
  errors: ["SENDER_NOT_FOUND", "SENDER_NOT_CONNECTED", "NOT_FOUND"],
  input: z.object({
    sender: ownNumber(),
    seconds: integer(1, 600).default(600).meta({ description: "1 to 600" }),
  }),
  output: record(z.strictObject({ sender: z.string(), chat: z.string(), until: isoTime() })),
});

/** `GET /devices/{number}/dialogues`: what bots are in the middle of. */
export const listDialogues = endpoint({
  method: "GET",
  path: "/devices/{number}/dialogues",
  access: bots,
  summary: "Dialogues of bots that are under way, those that went on last first",
  message: "Dialogues.",
  input: z.object(pageOfMany()),
  output: pageOf(openDialogue),
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
