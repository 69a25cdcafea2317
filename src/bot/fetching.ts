import { SECOND_MS } from "../model/time.ts";
import { OutboundError } from "../net/errors.ts";
import type { OutboundRequest, SafeFetch } from "../net/safe-fetch.ts";
import { milliseconds, type Duration } from "./duration.ts";

/** What `ctx.fetch` takes beside the address: what `fetch` takes, and limits. */
export interface FetchOptions {
  /** Default `GET`. */
  method?: string;
  headers?: Readonly<Record<string, string>> | Headers | readonly (readonly [string, string])[];
  body?: string | Uint8Array | URLSearchParams;
  /** For everything together, from connecting to the last byte. Default 10 s; the handler's own time ends it as well. */
  timeout?: Duration;
  /** Longest answer in bytes. Default 1 MiB, at most 16 MiB. */
  maxBytes?: number;
  /** `follow` (default): a GET goes on to where it is sent, five times at most. `manual`: the redirect is the answer. */
  redirect?: "follow" | "manual";
  /** Ends it early. */
  signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 10 * SECOND_MS;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const LARGEST = 16 * DEFAULT_MAX_BYTES;
const MOST_REDIRECTS = 5;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Asks somebody else's server for a bot: never in a private network unless the operator allows it, never for ever.
 *
 * @param turn aborts with the handler that asks
 * @returns an answer that is read already: its `json()` and `text()` wait for nobody
 * @throws {OutboundError} when there is no answer that may be used; {TypeError} for options that mean nothing
 */
export async function fetchFor(
  http: Pick<SafeFetch, "request">,
  address: string | URL,
  options: FetchOptions,
  turn: AbortSignal,
): Promise<Response> {
  const request = readOptions(options, turn);
  const answer = await http.request(String(address), request);
  if (answer.status < 200 || answer.status > 599)
    throw new OutboundError("unreachable", `The address answered ${answer.status}.`, {
      status: answer.status,
    });
  const isEmpty = WITHOUT_BODY.has(answer.status) || request.method === "HEAD";
  const response = new Response(isEmpty ? null : new Uint8Array(answer.body), {
    status: answer.status,
    headers: [...answer.headers],
  });
  return Object.defineProperty(response, "url", { value: answer.url });
}

function readOptions(options: FetchOptions, turn: AbortSignal): OutboundRequest {
  const {
    method = "GET",
    body,
    timeout,
    maxBytes = DEFAULT_MAX_BYTES,
    redirect = "follow",
    signal,
  } = options;
  const name = METHODS.find((known) => known === method.toUpperCase());
  if (name === undefined) throw new TypeError(`ctx.fetch(): \`method\` is one of ${METHODS.join(", ")}.`);
  if (body !== undefined && (name === "GET" || name === "HEAD"))
    throw new TypeError(`ctx.fetch(): ${name} has no body.`);
  if (!Number.isInteger(maxBytes) || maxBytes < 0 || maxBytes > LARGEST)
    throw new TypeError(`ctx.fetch(): \`maxBytes\` is a whole number up to ${LARGEST}.`);
  if (redirect !== "follow" && redirect !== "manual")
    throw new TypeError("ctx.fetch(): `redirect` is 'follow' or 'manual'.");
  const headers = new Headers(options.headers as Record<string, string>);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", typeOf(body));
  return {
    method: name,
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body: body instanceof URLSearchParams ? String(body) : body }),
    timeoutMs: timeout === undefined ? DEFAULT_TIMEOUT_MS : milliseconds(timeout, "ctx.fetch({ timeout })"),
    maxBytes,
    maxRedirects: redirect === "follow" ? MOST_REDIRECTS : 0,
    signal: signal === undefined ? turn : AbortSignal.any([turn, signal]),
  };
}

/** As `fetch` says it when nobody else does. */
function typeOf(body: NonNullable<FetchOptions["body"]>): string {
  if (body instanceof URLSearchParams) return "application/x-www-form-urlencoded;charset=UTF-8";
  return typeof body === "string" ? "text/plain;charset=UTF-8" : "application/octet-stream";
}
