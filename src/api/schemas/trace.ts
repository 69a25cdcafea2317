import { z } from "zod";
import { SILENCE_REASONS } from "../../conversations/silence.ts";
import { CAME_OUTCOMES } from "../../conversations/trace.ts";
import { TRACE_STEPS } from "../../conversations/trace-steps.ts";
import { isoTime } from "../../model/fields.ts";
import { MESSAGE_STATES } from "../../model/messages.ts";

const step = z
  .strictObject({
    step: z.enum(TRACE_STEPS),
    at: isoTime().nullable().meta({ description: "Null: no row says when" }),
    ms: z.int().min(0).nullable().meta({ description: "How long it took" }),
    by: z.string().optional().meta({ description: "`guard:<name>`, `bot:<id>`, `webhook`, `api`" }),
    outcome: z.string().optional(),
    route: z.string().optional(),
    detail: z.string().optional(),
    id: z.string().optional().meta({ description: "Of the reply, the delivery, or the message answered" }),
    count: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "Of a lane: messages before it; of an attempt: which it was" }),
    commit: z
      .strictObject({ name: z.enum(["T1", "T2"]), held: z.array(z.string()) })
      .optional()
      .meta({ description: "What one commit made so together" }),
  })
  .meta({ id: "TraceStep" });

/** The way of a message. */
export const trace = z
  .strictObject({
    id: z.string(),
    sender: z.string(),
    chat: z.string(),
    direction: z.enum(["in", "out"]),
    type: z.string(),
    outcome: z.enum([...CAME_OUTCOMES, ...MESSAGE_STATES]),
    silence: z
      .strictObject({
        reason: z.enum(SILENCE_REASONS as [string, ...string[]]),
        text: z.string().meta({ description: "The reason in one sentence" }),
      })
      .nullable()
      .meta({ description: "Why nobody answered a message that came; null: somebody did" }),
    steps: z.array(step).meta({ description: "In order" }),
  })
  .meta({ id: "Trace" });
