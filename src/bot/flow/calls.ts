import { validate } from "../standard-schema.ts";
import type { AnyContext } from "../types/context.ts";
import type { StepWork } from "./steps.ts";
import type { CallOptions, StepOptions } from "./types.ts";

/** The other side's answer is no success. */
class AnsweredError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`The server answered ${status}.`);
    this.status = status;
    this.name = "AnsweredError";
  }
}

/**
 * One request as the work of a step.
 *
 * @returns work that gives the answer's JSON, null for one without a body; it throws for all that is no answer of use
 */
export function callOf(
  ctx: Pick<AnyContext, "fetch">,
  address: string,
  { schema, ...request }: Omit<CallOptions<unknown>, keyof StepOptions>,
): StepWork {
  const isChange = request.json !== undefined || (request.method ?? "GET").toUpperCase() !== "GET";
  return async (signal, idempotencyKey) => {
    const headers = new Headers(request.headers as Record<string, string>);
    if (isChange && !headers.has("idempotency-key")) headers.set("idempotency-key", idempotencyKey);
    const response = await ctx.fetch(address, { ...request, headers, signal });
    if (!response.ok) throw new AnsweredError(response.status);
    const text = await response.text();
    const answer = text === "" ? null : (JSON.parse(text) as unknown);
    if (schema === undefined) return answer;
    const read = await validate(schema, answer);
    if ("problems" in read) throw new Error(`The server's answer does not fit: ${read.problems.join("; ")}`);
    return read.value;
  };
}
