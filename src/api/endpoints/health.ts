import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { answer, errorCode } from "../schemas/answer.ts";

/** `GET /health/live`: does not look at the database. */
export const live = endpoint({
  method: "GET",
  path: "/health/live",
  access: { by: "everybody" },
  summary: "Whether the process answers",
  message: "Alive.",
  input: z.object({}),
  output: answer({}),
});

/** `GET /health/ready`: 503 while the gateway ends, or when the database or the disk takes nothing. */
export const ready = endpoint({
  method: "GET",
  path: "/health/ready",
  access: { by: "everybody" },
  summary: "Whether requests are served; unlinked numbers do not matter",
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
