import { awayError, errorOf, ParleyError } from "./error.ts";
import { SENDS } from "./schema.ts";
import type { CallOptions } from "./types.ts";
import { backoffMs, limit, pause } from "./waiting.ts";

/** A value, or who knows it at the moment of a request. */
export type Now<T> = T | (() => T | null | undefined);

/** How a client reaches its gateway. */
export interface ClientOptions {
  /** Address of the gateway, also with a path. Default `""`: where the page came from. */
  baseUrl?: string;
  /** Sent as `Authorization: Bearer`. Without it a session's cookie counts, if there is one. */
  apiKey?: Now<string>;
  /** The operator's token; used for `/admin/…` and `/metrics`, and for everything when there is no `apiKey`. */
  adminToken?: Now<string>;
  /** Of a session: goes with every request that changes something. */
  csrfToken?: Now<string>;
  /** Default: the platform's own. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Further attempts after the first, where a repetition can do no harm; default 4. */
  retries?: number;
  /** For each attempt, until its answer has come; default 120,000. Sends wait for files and for WhatsApp. */
  timeoutMs?: number;
  /** The longest `Retry-After` that is waited for; a longer one ends the call. Default 30,000. */
  longestWaitMs?: number;
}

/** A request before it has a host: what the typed methods of the client hand on. */
export interface Request extends CallOptions {
  method: string;
  /** As in the schema, with `{names}`. */
  template: string;
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/** Paths of POST that only ask. */
const QUESTIONS = new Set(["POST /groups", "POST /resolve-lid"]);
/** Nothing was done, whatever the method. */
const NOT_DONE = new Set(["REQUEST_TIMEOUT", "RATE_LIMITED", "UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS"]);
/** The gateway's last word, although the status is one of those that pass. */
const FINAL = new Set(["WHATSAPP_REFUSED", "REACHOUT_LOCKED", "CONVERTER_MISSING", "EXPIRED"]);

/** `url`, `method` and the rest for `fetch`. @throws TypeError when a part of the path is missing */
export function prepare(options: ClientOptions, request: Request): { url: string; init: RequestInit } {
  const { method, template, body } = request;
  const headers: Record<string, string> = {
    ...authorization(options, template),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const csrf = method === "GET" ? undefined : now(options.csrfToken);
  if (csrf) headers["x-csrf-token"] = csrf;
  // The cookie of a session goes with requests to the page's own gateway by itself.
  const init: RequestInit = { method, headers };
  if (body !== undefined) init.body = JSON.stringify(body);
  return { url: urlOf(options, request), init };
}

/** The whole address of a request. */
export function urlOf({ baseUrl = "" }: ClientOptions, { template, path = {}, query = {} }: Request): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    if (value === undefined || value === "") throw new TypeError(`${template} needs path.${name}.`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) search.append(name, String(one));
  const base = baseUrl.endsWith("/") ? baseUrl.slice(0, -1) : baseUrl;
  const asked = search.toString();
  return base + filled + (asked === "" ? "" : `?${asked}`);
}

/**
 * Asks, and asks again where that can do no harm: what only reads or sets, what the gateway has said it did not do, and sends,
 * each of which has one Idempotency-Key for all its attempts.
 *
 * @returns the JSON of the answer
 * @throws ParleyError, or the signal's reason
 */
export async function ask(options: ClientOptions, request: Request): Promise<unknown> {
  const isSend = SENDS.includes(`${request.method} ${request.template}`);
  const { url, init } = prepare(options, request);
  if (isSend) (init.headers as Record<string, string>)["idempotency-key"] = keyOf(request);
  const retries = request.retries ?? options.retries ?? 4;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt(options, url, init, request.signal);
    } catch (error) {
      if (!(error instanceof ParleyError) || failures > retries) throw error;
      if (!mayRepeat(request, isSend, error)) throw error;
      const wait = Math.max(backoffMs(failures), (error.retryAfter ?? 0) * 1000);
      if (wait > (options.longestWaitMs ?? 30_000)) throw error;
      await pause(wait, request.signal);
    }
  }
}

async function attempt(
  options: ClientOptions,
  url: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  const { signal: own, end } = limit(options.timeoutMs ?? 120_000, signal);
  try {
    const response = await call(url, { ...init, signal: own });
    const text = await response.text();
    const body = parse(text);
    if (!response.ok) throw errorOf(response, body);
    if (body === null) throw awayError(url, undefined, "UNEXPECTED_ANSWER", response.status);
    return body;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw error instanceof ParleyError ? error : awayError(url, error, "NETWORK_ERROR");
  } finally {
    end();
  }
}

/** What has no name of the gateway's may have been done: it is repeated only where twice is once. */
function mayRepeat({ method, template }: Request, isSend: boolean, { code, status }: ParleyError): boolean {
  if (NOT_DONE.has(code)) return true;
  if (FINAL.has(code)) return false;
  if (method === "POST" && !isSend && !QUESTIONS.has(`POST ${template}`)) return false;
  return status === 0 || status === 408 || status === 429 || status >= 500;
}

/** Browsers give a random UUID only to pages that came by TLS. */
function keyOf({ idempotencyKey, body, query }: Request): string {
  const given = idempotencyKey ?? (body as Fields)?.idempotency_key ?? (query as Fields)?.idempotency_key;
  if (given !== undefined) return given;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
type Fields = { idempotency_key?: string } | undefined;

function authorization(options: ClientOptions, template: string): Record<string, string> {
  const apiKey = now(options.apiKey);
  const operator = now(options.adminToken);
  const isOperators = template.startsWith("/admin/") || template === "/metrics";
  const token = isOperators ? (operator ?? apiKey) : (apiKey ?? operator);
  return token ? { authorization: `Bearer ${token}` } : {};
}

const now = <T>(value: Now<T> | undefined): T | undefined =>
  (typeof value === "function" ? (value as () => T | null | undefined)() : value) ?? undefined;

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
