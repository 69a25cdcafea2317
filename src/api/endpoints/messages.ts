import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { sendAnswer, sentMessage } from "../schemas/messages.ts";
import { destinations, ownNumber, quotedId, visibleText } from "../../model/fields.ts";

const messages = { by: "key", permission: "messages" } as const;

const textMessage = z.object({
  sender: ownNumber(),
  number: destinations(),
  message: visibleText(65_536),
  msgid: quotedId(),
});

const send = {
  access: messages,
  sends: true as const,
  summary: "Send text to 1 to 10 destinations",
  message: "Message sent successfully!",
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
  input: z.object({}),
  bounded: "each state once, and of a poll the voters of its chat.",
  output: record(sentMessage),
});
