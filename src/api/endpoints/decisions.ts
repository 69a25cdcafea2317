import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { pageOf } from "../schemas/answer.ts";
import { decision } from "../schemas/decisions.ts";
import { before, destinations, limit, text } from "../../model/fields.ts";

export const listDecisions = endpoint({
  method: "GET",
  path: "/devices/{number}/decisions",
  access: { by: "key", permission: "bots" },
  summary: "Decisions of a number: why messages were answered or not, newest first",
  message: "Decisions.",
  input: z.object({
    message: text(1, 255).optional(),
    chat: destinations().optional(),
    limit: limit(),
    before: before(),
  }),
  output: pageOf(decision),
});
