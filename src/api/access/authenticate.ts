import type { H3Event } from "h3";
import { authorize as requirePermission } from "../../accounts/authorize.ts";
import type { Caller } from "../../accounts/caller.ts";
import type { Session } from "../../accounts/sessions.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { requireCsrfToken } from "./csrf.ts";
import type { Endpoint } from "../endpoint.ts";
import type { App } from "../services.ts";
import { sessionToken } from "./session-cookie.ts";

/** Who asks, once it is known. */
export interface Asker {
  /** What may be done, and in whose account; null: the operator's token, or a session that has chosen no account. */
  caller: Caller | null;
  /** Null: by a key or the operator's token itself. */
  session: Session | null;
  /** Whose requests a minute these are; null: nobody counts them. */
  countedAs: string | null;
  /** Hash of what it was let in by: whatever was opened or made with the same key belongs together. */
  credential(): string;
}

/**
 * Who asks: by `api_key` where the endpoint takes one, by `Authorization: Bearer`, or by a session's cookie. Whoever brings a
 * key or a token is not asked for the cookie.
 *
 * @throws INVALID_API_KEY when there is none, when both are given and differ, or when it is not a valid key;
 *   INVALID_ADMIN_TOKEN; SESSION_EXPIRED; CSRF_TOKEN_INVALID; ACCOUNT_DISABLED; RATE_LIMITED after too many wrong ones from
 *   one address
 */
export async function authenticate(
  app: App,
  event: H3Event,
  endpoint: Endpoint,
  fields: Record<string, unknown>,
): Promise<Asker> {
  const { by } = endpoint.access;
  const inFields =
    by === "key" && (endpoint.method === "POST" || endpoint.keyIn === "query")
      ? asKey(fields["api_key"])
      : null;
  const inHeader = bearerToken(event);
  const key = inFields ?? inHeader;
  const cookie = key === null || by === "session" ? sessionToken(app, event) : null;
  if (cookie !== null || by === "session") return bySession(app, event, endpoint, cookie);
  if (by === "operator" || (by === "key or operator" && key !== null && app.isAdminToken(key)))
    return byOperator(app, event, key);
  const agree = inFields === null || inHeader === null || inFields === inHeader;
  return byKey(app, event, key, agree);
}

async function byKey(app: App, event: H3Event, key: string | null, agree: boolean): Promise<Asker> {
  // No key at all is no guess.
  if (key === null) throw invalidKey();
  const caller = agree ? await app.keys.authenticate(key) : null;
  if (caller === null) {
    await event.context.wrongKeys.count(event);
    throw invalidKey();
  }
  requireEnabled(caller);
  return { caller, session: null, countedAs: caller.keyId, credential: () => app.keys.hashOf(key) };
}

async function byOperator(app: App, event: H3Event, token: string | null): Promise<Asker> {
  if (token !== null && app.isAdminToken(token))
    return { caller: null, session: null, countedAs: null, credential: app.sessions.operatorCredential };
  if (token !== null) await event.context.wrongKeys.count(event);
  throw invalidToken();
}

async function bySession(app: App, event: H3Event, endpoint: Endpoint, token: string | null): Promise<Asker> {
  const session = token === null ? null : await app.sessions.authenticate(token);
  if (session === null) {
    // Not signed in is no guess; a cookie that nobody has may be one.
    if (token !== null) await event.context.wrongKeys.count(event);
    throw sessionExpired();
  }
  const { by } = endpoint.access;
  const { kind } = session;
  if (by === "operator" && kind !== "operator") throw invalidToken();
  requireCsrfToken(endpoint, event, session);
  const isOperators = by === "operator" || (by !== "key" && kind === "operator");
  const caller = isOperators ? null : requireChosen(session.caller, endpoint);
  // Whoever is signed in may see that, and sign out.
  if (caller !== null && by !== "session") requireEnabled(caller);
  // A person who clicks takes nothing from the programs that use the same key.
  const countedAs = kind === "operator" ? null : `session:${session.caller!.keyId}`;
  return { caller, session, countedAs, credential: () => session.credential };
}

/** @throws PERMISSION_DENIED */
function requireChosen(caller: Caller | null, { access }: Endpoint): Caller {
  if (caller !== null) return caller;
  throw new GatewayError("PERMISSION_DENIED", "Choose an account first: PUT /console/session/account.", {
    extra: { permission: access.by === "key" ? (access.permission ?? "account") : "account" },
  });
}

/**
 * Whether this caller may call this endpoint at all.
 *
 * @throws PERMISSION_DENIED with the permission that is lacking
 */
export function requireAccess({ access }: Endpoint, caller: Caller | null): void {
  if (caller === null) return;
  if (access.by === "key or operator" && caller.byLink) requirePermission(caller, "*");
  if (access.by !== "key" || (caller.byLink && access.links)) return;
  // What any key may ask says something of the account as a whole.
  const permission = access.permission ?? (caller.byLink ? "*" : null);
  if (permission !== null) requirePermission(caller, permission);
}

/**
 * The one who asked for `event`, at a later time. Does not count as a use of a session.
 *
 * @returns null when the key or the session has ended, or the session is in another account by now
 */
export async function callerStill(app: App, event: H3Event, before: Caller): Promise<Caller | null> {
  const key = bearerToken(event);
  const caller =
    key === null
      ? (await app.sessions.authenticate(sessionToken(app, event) ?? "", false))?.caller
      : await app.keys.authenticate(key);
  return caller?.accountId === before.accountId ? caller : null;
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

/** @throws ACCOUNT_DISABLED */
export function requireEnabled({ account }: Caller): void {
  if (!account.enabled)
    throw new GatewayError("ACCOUNT_DISABLED", "This account is disabled. Ask the operator of the gateway.");
}

/** The refusal of a key, whatever is wrong with it. */
export const invalidKey = (): GatewayError =>
  new GatewayError("INVALID_API_KEY", "Invalid data!", { headers: { "www-authenticate": "Bearer" } });

/** The refusal of an operator's token. */
export const invalidToken = (): GatewayError =>
  new GatewayError(
    "INVALID_ADMIN_TOKEN",
    "Invalid admin token. Send PARLEY_ADMIN_TOKEN as Authorization: Bearer.",
    { headers: { "www-authenticate": "Bearer" } },
  );

const sessionExpired = (): GatewayError =>
  new GatewayError("SESSION_EXPIRED", "You are not signed in, or your session has ended. Sign in again.");
