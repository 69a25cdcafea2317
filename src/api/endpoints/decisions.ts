import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { pageOf } from "../schemas/answer.ts";
import { before, destinations, limit, text } from "../../model/fields.ts";

/** Who was asked and what came of it, in the order of asking. */
const trailEntry = z.strictObject({
  by: z.string(),
  outcome: z.string(),
  route: z.string().optional(),
  detail: z.string().optional(),
});

const decision = z.strictObject({
  message_id: z.string(),
  chat: z.string(),
  type: z.string(),
  by: z.string().nullable(),
  route: z.string().nullable(),
  guard: z.string().nullable(),
  trail: z.array(trailEntry),
  at: z.iso.datetime(),
});

export const listDecisions = endpoint({
  method: "GET",
  path: "/devices/{number}/decisions",
  access: { by: "key", permission: "bots" },
  summary: "Why messages were answered or not, newest first",
  message: "Decisions.",
  input: z.object({
    message: text(1, 255).optional(),
    chat: destinations().optional(),
    limit: limit(),
    before: before(),
  }),
  output: pageOf(decision),
});
