import { z } from "zod";
import type { ErrorCode } from "../../model/errors/errors.ts";
import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { actionAnswer, sendAnswer, sentMessage } from "../schemas/messages.ts";
import { sendFields } from "../schemas/send-fields.ts";
import { mannerFields } from "../../model/content/manner.ts";
import { destinations, ownNumber, text, visibleText } from "../../model/fields.ts";

const chosenSender = () =>
  ownNumber()
    .optional()
    .meta({ description: "The number; needed only where several have a message of this id" });

const messages = { by: "key", permission: "messages" } as const;

const textMessage = z.object({ ...sendFields, message: visibleText(65_536) });

const send = {
  access: messages,
  sends: true as const,
  summary: "Send text to 1 to 10 destinations",
  message: "Message sent successfully!",
  errors: ["TIME_NOT_USABLE"] satisfies ErrorCode[],
  input: textMessage,
  output: sendAnswer,
};

export const sendMessage = endpoint({ ...send, method: "POST", path: "/send-message" });
/** `GET /send-message`: the key stands in the query, for scripts that can do no other. */
export const sendMessageByGet = endpoint({ ...send, method: "GET", path: "/send-message", keyIn: "query" });

/** `GET /messages/{id}`: by the id that sending answered with. */
export const getMessage = endpoint({
  method: "GET",
  path: "/messages/{id}",
  access: messages,
  summary: "What became of a message",
  message: "Message.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({ sender: chosenSender() }),
  bounded: "each state once, and of a poll the voters of its chat.",
  output: record(sentMessage),
});

/** Families and flags are long; nothing that anybody sees as one sign is longer. */
const LONGEST_EMOJI = 64;
const graphemes = new Intl.Segmenter();

function isOneGrapheme(value: string): boolean {
  if (value.length > LONGEST_EMOJI) return false;
  return [...graphemes.segment(value)].length <= 1;
}

/** Of what is done to a message: the answer of a send, with the message's record. */
const done = {
  access: messages,
  sends: true as const,
  bounded: "one result, and each state once.",
  output: actionAnswer,
};

/** `PATCH /messages/{id}`: of the number's own, for 15 minutes. */
export const editMessage = endpoint({
  ...done,
  method: "PATCH",
  path: "/messages/{id}",
  summary: "Give a message that was sent, or waits, another text or caption",
  message: "Message edited!",
  errors: ["SENDER_NOT_FOUND", "TOO_LATE", "NOT_EDITABLE"],
  input: z.object({ sender: chosenSender(), message: visibleText(65_536) }),
});

/** `DELETE /messages/{id}`: for everyone, for 48 hours. */
export const deleteMessage = endpoint({
  ...done,
  method: "DELETE",
  path: "/messages/{id}",
  summary: "Take a message back for everyone, or keep one that waits from being sent",
  message: "Message deleted!",
  errors: ["SENDER_NOT_FOUND", "TOO_LATE", "NOT_EDITABLE", "CANNOT_SEND"],
  input: z.object({ sender: chosenSender() }),
});

const { send_at, expires, typing, mentions, mention_all } = mannerFields;

/** `POST /messages/{id}/forward`: a message of any side. */
export const forwardMessage = endpoint({
  ...done,
  access: { by: "key", permission: null },
  method: "POST",
  path: "/messages/{id}/forward",
  summary: "Hand a message on to 1 to 10 destinations, marked as forwarded",
  message: "Message sent successfully!",
  errors: [
    "SENDER_NOT_FOUND",
    "PERMISSION_DENIED",
    "NOT_EDITABLE",
    "TIME_NOT_USABLE",
    "FILE_TOO_LARGE",
    "FILE_UNREACHABLE",
    "FILE_NOT_USABLE",
  ],
  input: z.object({
    sender: chosenSender(),
    number: destinations(),
    send_at,
    expires,
    typing,
    mentions,
    mention_all,
  }),
});

/** `POST /messages/{id}/reaction`: to any message of `GET /messages`. */
export const reactToMessage = endpoint({
  ...done,
  method: "POST",
  path: "/messages/{id}/reaction",
  summary: "React to a message with an emoji, or take the reaction back",
  message: "Message sent successfully!",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({
    sender: chosenSender(),
    emoji: text(0, LONGEST_EMOJI)
      .refine(isOneGrapheme, "Must be one emoji, or empty to take the reaction back.")
      .meta({ description: "One emoji; empty takes the reaction back" }),
  }),
});
