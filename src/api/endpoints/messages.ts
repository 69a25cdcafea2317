import { z } from "zod";
import { SENT_STATES } from "../../model/messages.ts";
import { endpoint } from "../endpoint.ts";
import { answer, errorBody, record, sendError } from "../schemas/answer.ts";
import { destinations, isoTime, ownNumber, text, visibleText } from "../../model/fields.ts";

const messages = { by: "key", permission: "messages" } as const;
const stateOfSend = z.enum(["sent", "queued", "failed"]);
const stateOfMessage = z.enum([...SENT_STATES, "failed", "expired"]);

const textMessage = z.object({
  sender: ownNumber(),
  number: destinations(),
  message: visibleText(65_536),
  msgid: text(1, 255).optional().meta({ description: "A message to quote, when it is known" }),
});

/** Answer of every send. With one destination its `id` and `state` stand at the top level too. */
export const sendAnswer = answer({
  results: z
    .array(
      z.strictObject({
        number: z.string(),
        status: z.boolean(),
        state: stateOfSend,
        id: z.string().nullable(),
        error: sendError.optional(),
      }),
    )
    .min(1),
  id: z.string().nullable().optional(),
  state: stateOfSend.optional(),
  errors: errorBody.optional(),
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

/** Of a poll: who chose what. `total` is the number of people who have chosen something. */
const pollTally = z.strictObject({
  name: z.string(),
  options: z.array(z.strictObject({ name: z.string(), voters: z.array(z.string()) })),
  total: z.int().min(0),
});

/** `GET /messages/{id}`: by the id that sending answered with. */
export const getMessage = endpoint({
  method: "GET",
  path: "/messages/{id}",
  access: messages,
  summary: "What became of a message",
  message: "Message.",
  input: z.object({}),
  output: record(
    z.strictObject({
      id: z.string(),
      sender: z.string(),
      number: z.string(),
      kind: z.string(),
      origin: z.string(),
      state: stateOfMessage,
      history: z.array(z.strictObject({ state: stateOfMessage, at: isoTime() })),
      error: sendError.optional(),
      poll: pollTally.optional(),
    }),
  ),
});
