import type { H3Event } from "h3";
import type { Caller } from "../accounts/caller.ts";
import { GatewayError } from "../model/errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { App } from "./services.ts";

/**
 * Who calls, by `api_key` where the endpoint takes one, or by `Authorization: Bearer`.
 *
 * @throws INVALID_API_KEY when there is none, when both are given and differ, or when it is not a valid key;
 *   ACCOUNT_DISABLED; RATE_LIMITED after too many wrong ones from one address
 */
export async function authenticate(
  app: App,
  event: H3Event,
  endpoint: Endpoint,
  fields: Record<string, unknown>,
): Promise<Caller> {
  const inFields = endpoint.method === "POST" || endpoint.keyIn === "query" ? asKey(fields["api_key"]) : null;
  const inHeader = bearerToken(event);
  const key = inFields ?? inHeader;
  // No key at all is no guess.
  if (key === null) throw invalidKey();
  const agree = inFields === null || inHeader === null || inFields === inHeader;
  const caller = agree ? await app.keys.authenticate(key) : null;
  if (caller === null) {
    await event.context.wrongKeys.count(event);
    throw invalidKey();
  }
  if (!caller.account.enabled)
    throw new GatewayError("ACCOUNT_DISABLED", "This account is disabled. Ask the operator of the gateway.");
  return caller;
}

/** @throws INVALID_ADMIN_TOKEN; RATE_LIMITED after too many wrong ones from one address */
export async function authenticateOperator(app: App, event: H3Event): Promise<void> {
  const token = bearerToken(event);
  if (token !== null && app.isAdminToken(token)) return;
  if (token !== null) await event.context.wrongKeys.count(event);
  throw new GatewayError(
    "INVALID_ADMIN_TOKEN",
    "Invalid admin token. Send PARLEY_ADMIN_TOKEN as Authorization: Bearer.",
    { headers: { "www-authenticate": "Bearer" } },
  );
}

const SCHEME = "bearer";

/** Other schemes are left alone: a proxy in front may use them. */
export function bearerToken(event: H3Event): string | null {
  const header = event.req.headers.get("authorization")?.trim() ?? "";
  // Cut at the first blank and trimmed: a pattern for "blanks, text, blanks" tries every place where they might part.
  const scheme = header.slice(0, SCHEME.length);
  if (scheme.toLowerCase() !== SCHEME || !/^\s/.test(header.slice(SCHEME.length))) return null;
  return header.slice(SCHEME.length).trim();
}

/** What is no text cannot be a key, and must not pass for "none given". */
function asKey(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  // An object's own `toString` is the caller's word as well: nothing of it is called.
  return typeof value === "object" ? "" : String(value);
}

function invalidKey(): GatewayError {
  return new GatewayError("INVALID_API_KEY", "Invalid data!", { headers: { "www-authenticate": "Bearer" } });
}
