import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { contactFields, placeFields } from "../../model/content/shared.ts";
import type { ErrorCode } from "../../model/errors/errors.ts";
import { sendAnswer } from "../schemas/messages.ts";
import { sendFields } from "../schemas/send-fields.ts";

const send = {
  method: "POST" as const,
  access: { by: "key", permission: "messages" } as const,
  sends: true as const,
  message: "Message sent successfully!",
  errors: ["TIME_NOT_USABLE"] satisfies ErrorCode[],
  output: sendAnswer,
};

/** `POST /send-location`. */
export const sendLocation = endpoint({
  ...send,
  path: "/send-location",
  summary: "Send a place on the map to 1 to 10 destinations",
  input: z.object({ ...sendFields, ...placeFields }),
});

/** `POST /send-contact`: one person, or several in one message. */
export const sendContact = endpoint({
  ...send,
  path: "/send-contact",
  summary: "Send the cards of 1 to 10 people to 1 to 10 destinations",
  input: z.object({ ...sendFields, ...contactFields }),
});
