import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { destinations, ownNumber, quotedId } from "../../model/fields.ts";
import { contactFields, placeFields } from "../../model/content/shared.ts";
import { sendAnswer } from "../schemas/messages.ts";

const fields = { sender: ownNumber(), number: destinations(), msgid: quotedId() };
const send = {
  method: "POST" as const,
  access: { by: "key", permission: "messages" } as const,
  sends: true as const,
  message: "Message sent successfully!",
  output: sendAnswer,
};

/** `POST /send-location`. */
export const sendLocation = endpoint({
  ...send,
  path: "/send-location",
  summary: "Send a place on the map to 1 to 10 destinations",
  input: z.object({ ...fields, ...placeFields }),
});

/** `POST /send-contact`: one person, or several in one message. */
export const sendContact = endpoint({
  ...send,
  path: "/send-contact",
  summary: "Send the cards of 1 to 10 people to 1 to 10 destinations",
  input: z.object({ ...fields, ...contactFields }),
});
