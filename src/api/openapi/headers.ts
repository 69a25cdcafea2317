import type { Endpoint } from "../endpoint.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A header of answers. */
export interface HeaderObject {
  description: string;
  schema: JsonSchema;
}

const count = (description: string): HeaderObject => ({ description, schema: { type: "integer" } });

/** Every header that answers may have and callers may want to read. */
export const HEADERS: Record<string, HeaderObject> = {
  "X-Request-Id": {
    description: "The caller's own when it is 1 to 128 printable ASCII characters; the log has it.",
    schema: { type: "string" },
  },
  "RateLimit-Limit": count("Requests that the key has a minute."),
  "RateLimit-Remaining": count("Requests that are left of them."),
  "RateLimit-Reset": count("Seconds until there are more."),
  "X-Quota-Limit": count("Sends that the plan allows a day; absent when it does not limit them."),
  "X-Quota-Remaining": count("Sends that are left of them."),
  "Retry-After": count("Seconds after which to try again."),
  "Idempotency-Replayed": {
    description: "`true`: the first answer to this idempotency key comes again, and nothing was sent.",
    schema: { type: "string", enum: ["true"] },
  },
};

const RETRY = new Set([409, 429, 503]);

/** @returns references to the headers of one answer */
export function headersOf({ access, sends }: Endpoint, status: number): Record<string, { $ref: string }> {
  const names = ["X-Request-Id"];
  if (access.by === "key" && status !== 401)
    names.push("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
  if (sends && status < 300) names.push("X-Quota-Limit", "X-Quota-Remaining", "Idempotency-Replayed");
  if (RETRY.has(status)) names.push("Retry-After");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
