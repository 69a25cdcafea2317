import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { answer, errorCode } from "../schemas/answer.ts";

export const live = endpoint({
  method: "GET",
  path: "/health/live",
  access: { by: "everybody" },
  summary: "Whether the process answers",
  message: "Alive.",
  input: z.object({}),
  output: answer({}),
});

export const ready = endpoint({
  method: "GET",
  path: "/health/ready",
  access: { by: "everybody" },
  summary: "Whether requests are served; numbers that are not linked do not matter",
  message: "Ready.",
  statuses: [200, 503],
  input: z.object({}),
  output: answer({
    checks: z.strictObject({ database: z.boolean(), disk: z.boolean(), draining: z.boolean() }),
    /** Of the event loop, in the last five minutes; 0: none worth naming. */
    longest_stall_ms: z.int().nonnegative(),
    errors: z.strictObject({ code: errorCode }).optional(),
  }),
});
