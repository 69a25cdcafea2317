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
    description:
      "Id of the request, also in the log. The caller's own is kept when it is 1 to 128 printable ASCII characters.",
    schema: { type: "string" },
  },
  "RateLimit-Limit": count("Requests per minute that the key may make."),
  "RateLimit-Remaining": count("Requests that are left now."),
  "RateLimit-Reset": count("Seconds until more requests are allowed."),
  "X-Quota-Limit": count("Sends per day that the plan allows; absent when the plan sets no limit."),
  "X-Quota-Remaining": count("Sends that are left today."),
  "Retry-After": count("Seconds to wait before the next try."),
  "Idempotency-Replayed": {
    description: "`true`: this repeats the first answer to the idempotency key, and nothing was sent.",
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
