import { tooMuchIn } from "../../model/content/json-shape.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { OutboundError } from "../../net/errors.ts";
import type { OutboundAnswer, OutboundRequest, SafeFetch } from "../../net/safe-fetch.ts";
import { milliseconds, type Duration } from "../duration.ts";

/** Options of `ctx.fetch`: those of `fetch`, and limits. */
export interface FetchOptions {
  /** Default `GET`; with `json`, default `POST`. */
  method?: string;
  headers?: Readonly<Record<string, string>> | Headers | readonly (readonly [string, string])[];
  body?: string | Uint8Array | URLSearchParams;
  /** Sent as JSON, instead of `body`. Uses POST unless `method` says otherwise. */
  json?: unknown;
  /** Time for the whole request, from connecting to the last byte. Default 10 s. The handler's own time limit also ends it. */
  timeout?: Duration;
  /** Maximum size of the response in bytes. Default 1 MiB, at most 16 MiB. */
  maxBytes?: number;
  /** `follow` (default): a GET follows up to five redirects. `manual`: returns the redirect itself. */
  redirect?: "follow" | "manual";
  /** Aborts the request early. */
  signal?: AbortSignal;
  /**
   * Gets the bytes of a successful response as they arrive. Return true to stop: the rest is dropped, and `onData` is not
   * called again.
   */
  onData?: (bytes: Uint8Array) => boolean | void;
  /** Maximum time without a byte once the response has begun. Default: only `timeout` applies. */
  idle?: Duration;
  /**
   * How often to try. Default 1, at most 5. `ctx.fetch` tries again after 429, 502, 503 and 504, and when the connection
   * fails. It waits as long as `Retry-After` says, otherwise 1 s, 2 s, 4 s, …. If it would have to wait longer than 10 s, it
   * returns the response it has. Each try has its own `timeout`.
   */
  tries?: number;
}

const DEFAULT_TIMEOUT_MS = 10 * SECOND_MS;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const LARGEST = 16 * DEFAULT_MAX_BYTES;
const MOST_REDIRECTS = 5;
const MOST_TRIES = 5;
const LONGEST_WAIT_MS = 10 * SECOND_MS;
const BUSY = new Set([429, 502, 503, 504]);
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const MOST_LEVELS = 1_000;
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Asks somebody else's server for a bot: never in a private network unless the operator allows it, never for ever.
 *
 * @param turn aborts with the handler that asks
 * @returns an answer that is read already: its `json()` and `text()` wait for nobody
 * @throws {OutboundError} when there is no answer that may be used; {TypeError} for options that mean nothing
 */
export async function fetchFor(
  { http, time }: FetchDeps,
  address: string | URL,
  options: FetchOptions,
  turn: AbortSignal,
): Promise<Response> {
  const request = readOptions(options, turn);
  const answer = await askUntilAnswered({ http, time }, String(address), request, readTries(options));
  if (answer.status < 200 || answer.status > 599)
    throw new OutboundError("unreachable", `The address answered ${answer.status}.`, {
      status: answer.status,
    });
  const isEmpty = WITHOUT_BODY.has(answer.status) || request.method === "HEAD";
  const response = new Response(isEmpty ? null : new Uint8Array(answer.body), {
    status: answer.status,
    headers: [...answer.headers],
  });
  return withLimits(response, answer.url);
}

/** Its `json()` reads no more than {@link MOST_LEVELS}; nor does that of its clones. */
function withLimits(response: Response, url: string): Response {
  const clone = response.clone.bind(response);
  return Object.defineProperties(response, {
    url: { value: url },
    json: { value: async () => parse(await response.text()) },
    clone: { value: () => withLimits(clone(), url) },
  });
}

/** @throws {SyntaxError} when it is no JSON, or is nested deeper than any answer is */
function parse(text: string): unknown {
  if (tooMuchIn(text, { levels: MOST_LEVELS }) !== null)
    throw new SyntaxError(`The answer is nested deeper than ${MOST_LEVELS} levels.`);
  return JSON.parse(text);
}

/** What `ctx.fetch` stands on. */
interface FetchDeps {
  http: Pick<SafeFetch, "request">;
  time: Pick<Time, "now" | "pause">;
}

async function askUntilAnswered(
  { http, time }: FetchDeps,
  address: string,
  request: OutboundRequest,
  tries: number,
): Promise<OutboundAnswer> {
  // Who was given the beginning of an answer would take another's for its end.
  let hasBegun = false;
  const { onData } = request;
  const onBytes = (bytes: Uint8Array): boolean | void => ((hasBegun = true), onData?.(bytes));
  const asked = onData === undefined ? request : { ...request, onData: onBytes };
  for (let tried = 1; ; tried++) {
    const answer = await http.request(address, asked).catch((error: unknown) => {
      if (hasBegun || tried >= tries || !(error instanceof OutboundError) || error.problem !== "unreachable")
        throw error;
      return null;
    });
    if (answer !== null && (tried >= tries || !BUSY.has(answer.status))) return answer;
    const wait = waitOf(answer?.headers.get("retry-after") ?? null, tried, time.now());
    if (answer !== null && wait > LONGEST_WAIT_MS) return answer;
    await time.pause(wait, request.signal);
    request.signal?.throwIfAborted();
  }
}

/** @param said seconds or a date, as the other side wishes */
function waitOf(said: string | null, tried: number, now: number): number {
  const seconds = said !== null && /^\d{1,9}$/.test(said.trim()) ? Number(said) * SECOND_MS : null;
  const until = said === null || seconds !== null ? NaN : Date.parse(said) - now;
  return seconds ?? (Number.isFinite(until) ? Math.max(0, until) : SECOND_MS * 2 ** (tried - 1));
}

function readTries({ tries = 1 }: FetchOptions): number {
  if (Number.isInteger(tries) && tries >= 1 && tries <= MOST_TRIES) return tries;
  throw new TypeError(`ctx.fetch(): \`tries\` must be a whole number from 1 to ${MOST_TRIES}.`);
}

function readOptions(options: FetchOptions, turn: AbortSignal): OutboundRequest {
  const {
    json,
    method = json === undefined ? "GET" : "POST",
    body = json === undefined ? undefined : JSON.stringify(json),
    timeout,
    maxBytes = DEFAULT_MAX_BYTES,
    redirect = "follow",
    signal,
    onData,
    idle,
  } = options;
  const name = METHODS.find((known) => known === method.toUpperCase());
  if (name === undefined)
    throw new TypeError(`ctx.fetch(): \`method\` must be one of ${METHODS.join(", ")}.`);
  if (body !== undefined && (name === "GET" || name === "HEAD"))
    throw new TypeError(`ctx.fetch(): ${name} cannot have a body.`);
  if (!Number.isInteger(maxBytes) || maxBytes < 0 || maxBytes > LARGEST)
    throw new TypeError(`ctx.fetch(): \`maxBytes\` must be a whole number up to ${LARGEST}.`);
  if (redirect !== "follow" && redirect !== "manual")
    throw new TypeError("ctx.fetch(): `redirect` must be 'follow' or 'manual'.");
  const headers = new Headers(options.headers as Record<string, string>);
  if (json !== undefined && options.body !== undefined)
    throw new TypeError("ctx.fetch(): give either `body` or `json`, not both.");
  if (body !== undefined && !headers.has("content-type"))
    headers.set("content-type", json === undefined ? typeOf(body) : "application/json");
  return {
    method: name,
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body: body instanceof URLSearchParams ? String(body) : body }),
    timeoutMs: timeout === undefined ? DEFAULT_TIMEOUT_MS : milliseconds(timeout, "ctx.fetch({ timeout })"),
    maxBytes,
    ...(onData && { onData }),
    ...(idle !== undefined && { idleMs: milliseconds(idle, "ctx.fetch({ idle })") }),
    maxRedirects: redirect === "follow" ? MOST_REDIRECTS : 0,
    signal: signal === undefined ? turn : AbortSignal.any([turn, signal]),
  };
}

/** As `fetch` says it when nobody else does. */
function typeOf(body: NonNullable<FetchOptions["body"]>): string {
  if (body instanceof URLSearchParams) return "application/x-www-form-urlencoded;charset=UTF-8";
  return typeof body === "string" ? "text/plain;charset=UTF-8" : "application/octet-stream";
}
