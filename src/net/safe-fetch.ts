import { lookup } from "node:dns/promises";
import { createFetch } from "ofetch";
import type { Dispatcher } from "undici";
import type { Config } from "../config.ts";
import { systemTime } from "../model/time.ts";
import { isPublicAddress, literalAddress } from "./addresses.ts";
import { OutboundError } from "./errors.ts";
import { download, type Download, type DownloadLimits } from "./download.ts";
import type { Timers } from "./pace.ts";
import { createGuardedAgent, notAllowed } from "./guard.ts";
import { endedWithKeptConnection } from "./kept-connections.ts";
import {
  asOutboundError,
  discard,
  encoded,
  headerOf,
  isEncoded,
  parseUrl,
  REDIRECTS,
  splitCredentials,
} from "./outbound.ts";

/** A request to somebody else's server, and what it may cost. */
export interface OutboundRequest {
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For everything together: connecting, redirects, the last byte of the answer. */
  timeoutMs: number;
  /** Default 1 MiB, counted as the bytes arrive. */
  maxBytes?: number;
  /**
   * How many redirects a GET or HEAD follows, each checked like the first address. What says who asks goes to the first
   * server only. Default 0: a 3xx is the answer.
   */
  maxRedirects?: number;
  /**
   * The server knows it for the same one when it comes twice: it is written once more, to a new connection, when the one
   * that was kept open ended before it was answered. Default false.
   */
  repeatable?: boolean;
  /** Told of the bytes of a successful answer as they arrive; true: there is enough, and the rest is not transferred. */
  onData?: (bytes: Uint8Array) => boolean | void;
  /** Longest time without a byte, once the answer has begun. Default: none but `timeoutMs`. */
  idleMs?: number;
  /** Ends the request early; it then fails with this signal's reason. */
  signal?: AbortSignal;
}

/** An answer, read to its end; any status. */
export interface OutboundAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
  /** Address that answered, after redirects. */
  url: string;
}

/**
 * HTTP to addresses that others name: with limits of time and size, and never into a private network unless allowed.
 */
export interface SafeFetch {
  /** Any HTTP status is an answer. @throws {OutboundError} when there is none that may be used */
  request(url: string, request: OutboundRequest): Promise<OutboundAnswer>;
  /**
   * A file, as a stream: nothing is held in memory beyond what `read` holds.
   *
   * @param read gets the answer once it is a success; what it leaves unread is not transferred
   * @throws {OutboundError} also for answers that are no success (`unreachable` with their status); what `read` throws
   */
  download<T>(url: string, limits: DownloadLimits, read: (answer: Download) => Promise<T>): Promise<T>;
  /**
   * Whether requests to this address would be let through, as far as can be told now: a name that does not resolve yet
   * passes, and is checked again at every connection.
   * @throws {OutboundError} `not_allowed`
   */
  check(url: string): Promise<void>;
  /** Closes idle connections; requests under way end first. */
  close(): Promise<void>;
}

const DEFAULT_MAX_BYTES = 1024 * 1024;

/** An address was not asked, because it may be one of the private network. */
export interface BlockedEvent {
  type: "addressBlocked";
  reason: string;
}

/**
 * HTTP to addresses that other people wrote: webhooks, links to files. Private networks cannot be reached, answers cannot
 * be endless, slow, or larger than they look. Connections are kept open between requests.
 *
 * @param isAllowed which addresses may be reached unless `ALLOW_PRIVATE_NETWORK` lets all through; tests, which have
 *   loopback only, may draw the line within it
 * @param time limits requests and downloads. Default: the host's, as the other side's clock is not the test's either
 */
export function createSafeFetch(
  config: Pick<Config, "allowPrivateNetwork">,
  isAllowed: (address: string) => boolean = isPublicAddress,
  observe?: (event: BlockedEvent) => void,
  time: Timers = systemTime,
): SafeFetch {
  const rule = config.allowPrivateNetwork ? null : isAllowed;
  const agent = createGuardedAgent(rule);
  const fresh = createGuardedAgent(rule, { keeps: false });
  const send = createRepeatingSender(createSender(agent), createSender(fresh));
  async function counted<T>(asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof OutboundError && error.problem === "not_allowed")
        observe?.({ type: "addressBlocked", reason: error.problem });
      throw error;
    }
  }
  const check = async (url: string): Promise<void> => checkAddress(parseUrl(url), rule);
  return {
    request: (url, request) =>
      counted(withTimeout(time, request, (signal) => followTo(send, time, url, request, signal))),
    download: (url, limits, read) => counted(download(agent, url, limits, read, time)),
    check: (url) => counted(check(url)),
    close: async () => void (await Promise.all([agent.close(), fresh.close()])),
  };
}

type Sender = (url: URL, request: OutboundRequest, signal: AbortSignal) => Promise<Dispatcher.ResponseData>;

/** What `ofetch` hands on: an answer whose body nobody has read. */
interface Answered extends Pick<Dispatcher.ResponseData, "body"> {
  status: number;
  answer: Dispatcher.ResponseData;
}

/**
 * `ofetch` over undici's own `request`, which downloads use as well: what undici's fetch makes for each request lives until all
 * of the heap is looked through, 30 KB of it.
 */
function createSender(agent: Dispatcher): Sender {
  const client = createFetch({
    async fetch(address, { method, headers, body, signal } = {}): Promise<Response> {
      const { origin, pathname, search } = new URL(String(address));
      const answer = await agent.request({
        origin,
        path: pathname + search,
        method: (method ?? "GET") as Dispatcher.HttpMethod,
        body: body as string | Uint8Array | null,
        headers: Object.fromEntries(new Headers(headers)),
        signal: signal ?? null,
      });
      const answered: Answered = { status: answer.statusCode, body: answer.body, answer };
      return answered as unknown as Response;
    },
    Headers,
  });
  return async (url, { method, headers, body }, signal) => {
    const { address, authorization } = splitCredentials(url);
    const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    const response = await client.raw(address, {
      method,
      body: body ?? null,
      headers: {
        accept: "*/*",
        "user-agent": "Parley",
        ...(typeof body === "string" && { "content-type": "text/plain;charset=UTF-8" }),
        ...authorization,
        ...Object.fromEntries(named),
        "accept-encoding": "identity",
      },
      responseType: "stream",
      ignoreResponseError: true,
      retry: 0,
      signal,
    });
    return (response as unknown as Answered).answer;
  };
}

/** @param again over a connection that nobody has used */
function createRepeatingSender(send: Sender, again: Sender): Sender {
  return async (url, request, signal) => {
    try {
      return await send(url, request, signal);
    } catch (error) {
      if (!request.repeatable || signal.aborted || !endedWithKeptConnection(error)) throw error;
      return again(url, request, signal);
    }
  };
}

async function followTo(
  send: Sender,
  time: Timers,
  first: string,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  let url = parseUrl(first);
  const follows = request.method === "GET" || request.method === "HEAD";
  const hops = follows ? (request.maxRedirects ?? 0) : 0;
  let sent = request;
  for (let followed = 0; ; followed++) {
    const answer = await send(url, sent, signal);
    const next = REDIRECTS.has(answer.statusCode) ? headerOf(answer, "location") : null;
    if (hops === 0 || next === null) return readAnswer(time, answer, url, request);
    await answer.body.dump();
    if (followed >= hops)
      throw new OutboundError("redirects", `More than ${hops} redirects, or a redirect loop.`);
    const before = url;
    url = parseUrl(next, url);
    if (url.origin !== before.origin) sent = { ...sent, headers: withoutSecrets(sent.headers) };
  }
}

const SECRET_HEADERS = new Set(["authorization", "cookie", "proxy-authorization"]);

/** Credentials are dropped when a redirect leaves the origin. */
function withoutSecrets(headers: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name.toLowerCase()));
  return Object.fromEntries(kept);
}

async function readAnswer(
  time: Timers,
  answer: Dispatcher.ResponseData,
  url: URL,
  { maxBytes = DEFAULT_MAX_BYTES, onData, idleMs }: OutboundRequest,
): Promise<OutboundAnswer> {
  const { statusCode: status, body } = answer;
  const encoding = headerOf(answer, "content-encoding");
  if (isEncoded(encoding)) {
    discard(answer);
    throw encoded(encoding, status);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const isSuccess = status >= 200 && status < 300;
  const quiet = idleMs === undefined ? null : endWhenQuiet(time, body, idleMs);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    quiet?.came();
    bytes += chunk.length;
    // Leaving the loop destroys the stream and with it the connection.
    if (bytes > maxBytes)
      throw new OutboundError("too_large", `The answer is larger than ${maxBytes} bytes.`, { status });
    chunks.push(chunk);
    if (isSuccess && onData?.(chunk) === true) break;
  }
  return { status, headers: headersOf(answer), body: Buffer.concat(chunks, bytes), url: url.href };
}

/** Ends an answer in which nothing has come for so long. @returns to be told when something comes */
function endWhenQuiet(
  { after, monotonic }: Timers,
  body: Dispatcher.ResponseData["body"],
  ms: number,
): { came(): void } {
  let last = monotonic();
  let cancel = after(ms, look);
  function look(): void {
    const left = last + ms - monotonic();
    if (left > 0) cancel = after(left, look);
    else body.destroy(new OutboundError("timeout", `No more data arrived for ${ms} ms.`));
  }
  body.once("close", () => cancel());
  return { came: () => void (last = monotonic()) };
}

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  const all = new Headers();
  for (const [name, values] of Object.entries(headers))
    for (const value of [values ?? []].flat()) all.append(name, value);
  return all;
}

async function withTimeout<T>(
  { after }: Timers,
  request: OutboundRequest,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const tooLate = (): OutboundError =>
    new OutboundError("timeout", `No complete answer within ${request.timeoutMs} ms.`);
  const cancel = after(request.timeoutMs, () => controller.abort(tooLate()));
  const stop = (): void => controller.abort(request.signal?.reason);
  if (request.signal?.aborted) stop();
  request.signal?.addEventListener("abort", stop, { once: true });
  try {
    return await run(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw asOutboundError(error);
  } finally {
    cancel();
    request.signal?.removeEventListener("abort", stop);
  }
}

async function checkAddress(url: URL, isAllowed: ((address: string) => boolean) | null): Promise<void> {
  if (isAllowed === null) return;
  const literal = literalAddress(url.hostname);
  const addresses = literal === null ? await addressesOf(url.hostname) : [literal];
  if (!addresses.every(isAllowed)) throw notAllowed();
}

/** `localhost` and what ends with it mean this machine, also where the resolver knows them not, or not yet (RFC 6761). */
const THIS_MACHINE = /(?:^|\.)localhost\.?$/i;

async function addressesOf(hostname: string): Promise<string[]> {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch {
    return THIS_MACHINE.test(hostname) ? ["127.0.0.1"] : [];
  }
}
