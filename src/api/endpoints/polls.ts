import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import type { ErrorCode } from "../../model/errors/errors.ts";
import { isBlank, trimmedText } from "../../model/fields.ts";
import { sendAnswer } from "../schemas/messages.ts";
import { sendFields } from "../schemas/send-fields.ts";

const LONGEST_OPTION = 100;

/** Whatever is wrong with one of the options is told of the field: who sends a form does not number them. */
const options = z
  .array(trimmedText(0, 10_000))
  .min(2)
  .max(5)
  .superRefine((given, context) => {
    const problem = problemOf(given);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  })
  .meta({ description: `2 to 5 different texts of 1 to ${LONGEST_OPTION} characters, trimmed` });

function problemOf(given: string[]): string | null {
  if (given.some(isBlank)) return "Must not have a blank entry.";
  if (given.some((option) => option.length > LONGEST_OPTION))
    return `Must not have an entry of more than ${LONGEST_OPTION} characters.`;
  if (new Set(given).size < given.length) return "Must not have the same entry twice.";
  return null;
}

const asList = (value: unknown): unknown =>
  value === undefined || typeof value === "object" ? value : [value];

/** A single value of a query is a list whose entries are separated by commas: no poll has one option. */
function asQueryList(value: unknown): unknown {
  const list = asList(value);
  return Array.isArray(list) && list.length === 1 ? String(list[0]).split(",") : list;
}

const asText = (value: unknown): unknown => (typeof value === "number" ? String(value) : value);

const poll = {
  ...sendFields,
  name: trimmedText(1, 255),
  countable: z
    .preprocess(asText, z.enum(["1", "0"]))
    .default("1")
    .meta({ description: "1: one choice, 0: any number of choices" }),
};

const send = {
  access: { by: "key", permission: "polls" } as const,
  sends: true as const,
  summary: "Send a poll to 1 to 10 destinations",
  message: "Message sent successfully!",
  errors: ["TIME_NOT_USABLE"] satisfies ErrorCode[],
  output: sendAnswer,
};

/** `POST /send-poll`: `option` is a list, or a single text. */
export const sendPoll = endpoint({
  ...send,
  method: "POST",
  path: "/send-poll",
  input: z.object({ ...poll, option: z.preprocess(asList, options) }),
});
/** `GET /send-poll`: `option` is given more than once, or once with commas between the options. */
export const sendPollByGet = endpoint({
  ...send,
  method: "GET",
  path: "/send-poll",
  keyIn: "query",
  input: z.object({ ...poll, option: z.preprocess(asQueryList, options) }),
});
