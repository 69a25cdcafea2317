import { z } from "zod";
import { isoTime } from "../../model/fields.ts";
import { MESSAGE_STATES } from "../../model/messages.ts";
import { answer, errorBody, sendError } from "./answer.ts";

const stateOfSend = z.enum(["sent", "queued", "scheduled", "cancelled", "failed"]);
/** Where a message that the gateway sends stands. */
export const messageState = z.enum(MESSAGE_STATES);

const results = z
  .array(
    z.strictObject({
      number: z.string(),
      status: z.boolean(),
      state: stateOfSend,
      id: z.string().nullable(),
      quoted: z.literal(false).optional().meta({
        description: "The chat does not know the message that was to be quoted: it was sent without",
      }),
      error: sendError.optional(),
    }),
  )
  .min(1);
const ofOne = { id: z.string().nullable().optional(), state: stateOfSend.optional() };

/** Answer of every send. With one destination its `id` and `state` stand at the top level too. */
export const sendAnswer = answer({ results, ...ofOne, errors: errorBody.optional() }).meta({
  id: "SendAnswer",
});

/** A send that failed: for all its destinations, with their results, or before there were any. */
export const sendFailure = answer({ errors: errorBody, results: results.optional(), ...ofOne })
  .extend({ status: z.literal(false) })
  .meta({ id: "SendFailure" });

/** Of a poll: who chose what. `total` is the number of people who have chosen something. */
const pollTally = z.strictObject({
  name: z.string(),
  options: z.array(z.strictObject({ name: z.string(), voters: z.array(z.string()) })),
  total: z.int().min(0),
});

/** Of a message that WhatsApp's history has brought. */
export const imported = z
  .literal(true)
  .meta({ description: "It was written before the number was linked, and came with WhatsApp's history" });

/** A message; one that the gateway sent with every state that it has had. */
export const sentMessage = z
  .strictObject({
    id: z.string(),
    sender: z.string(),
    number: z.string(),
    kind: z.string(),
    origin: z.string().meta({
      description:
        "`api`, `bot:<id>`, `webhook`, `calls`; `contact` or `phone` for a message that the gateway did not send",
    }),
    state: messageState.nullable().meta({ description: "Null for a message that the gateway did not send" }),
    history: z.array(z.strictObject({ state: messageState, at: isoTime() })),
    edited: z.literal(true).optional(),
    revoked: z.literal(true).optional().meta({ description: "It was taken back, or is about to be" }),
    imported: imported.optional(),
    send_at: isoTime().optional().meta({ description: "When it is, or was, to be sent" }),
    error: sendError.optional(),
    poll: pollTally.optional(),
  })
  .meta({ id: "SentMessage" });

/** Answer of what is done to a message: that of a send, with the message's record. */
export const actionAnswer = sendAnswer.extend({ data: sentMessage.optional() }).meta({ id: "ActionAnswer" });
