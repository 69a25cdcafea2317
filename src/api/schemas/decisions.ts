import { z } from "zod";

/** Who was asked and what came of it, in the order of asking. */
const trailEntry = z.strictObject({
  by: z.string(),
  outcome: z.string(),
  route: z.string().optional(),
  detail: z.string().optional(),
});

/** What was decided about one message, and why. */
export const decision = z
  .strictObject({
    message_id: z.string(),
    chat: z.string(),
    type: z.string(),
    by: z.string().nullable(),
    route: z.string().nullable(),
    guard: z.string().nullable(),
    trail: z.array(trailEntry),
    at: z.iso.datetime(),
  })
  .meta({ id: "Decision" });
