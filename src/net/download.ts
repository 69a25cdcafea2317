import type { Dispatcher } from "undici";
import { systemTime } from "../model/time.ts";
import { OutboundError } from "./errors.ts";
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
import { createPace, type LeastRate, type Pace, type Timers } from "./pace.ts";

/** When a download is given up: milliseconds and bytes. */
export interface DownloadLimits {
  /** From the start, redirects included, to the first byte of the file. */
  firstByteMs: number;
  /** From the start to the last byte. */
  totalMs: number;
  maxBytes: number;
  /** Default: any rate will do. */
  leastRate?: LeastRate;
  /** Each is checked like the first address. */
  maxRedirects: number;
  /** Ends it early; it then fails with this signal's reason. */
  signal?: AbortSignal;
}

/** An answer whose body has not been read yet. */
export interface Download {
  /** Value of a header, null when there is none. Bytes beyond ASCII are read as Latin-1. */
  header(name: string): string | null;
  /** Address that answered, after redirects. */
  url: string;
  /** Fails when there are more than `maxBytes`; to be read once. */
  body: AsyncIterable<Buffer>;
}

/** See `SafeFetch.download`. undici's own `request`: its streams cost less memory than those of fetch. */
export async function download<T>(
  agent: Dispatcher,
  url: string,
  limits: DownloadLimits,
  read: (answer: Download) => Promise<T>,
  time: Timers = systemTime,
): Promise<T> {
  const controller = new AbortController();
  const abort = (reason: unknown): void => controller.abort(reason);
  const { totalMs, firstByteMs } = limits;
  const endTotal = time.after(totalMs, () => abort(tooSlow("complete file", totalMs)));
  const endFirst = time.after(firstByteMs, () => abort(tooSlow("first byte", firstByteMs)));
  const stop = (): void => abort(limits.signal?.reason);
  if (limits.signal?.aborted) stop();
  limits.signal?.addEventListener("abort", stop, { once: true });
  const asKnown = (error: unknown): unknown =>
    controller.signal.aborted ? controller.signal.reason : asOutboundError(error);
  let body: Dispatcher.ResponseData["body"] | undefined;
  try {
    const found = await follow(agent, parseUrl(url), limits, controller.signal).catch((error: unknown) => {
      throw asKnown(error);
    });
    body = found.answer.body;
    return await read({
      header: (name) => headerOf(found.answer, name),
      url: found.url.href,
      body: counted(found.answer, limits.maxBytes, {
        onFirst: endFirst,
        pace: paceOf(limits.leastRate, time, abort),
        asKnown,
      }),
    });
  } finally {
    endTotal();
    endFirst();
    limits.signal?.removeEventListener("abort", stop);
    // Without a listener, what destroying an unread answer says would be an uncaught error.
    body?.on("error", () => undefined).destroy();
  }
}

async function follow(
  agent: Dispatcher,
  first: URL,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<{ answer: Dispatcher.ResponseData; url: URL }> {
  let url = first;
  for (let followed = 0; ; followed++) {
    const answer = await get(agent, url, limits, signal);
    const { statusCode } = answer;
    const next = REDIRECTS.has(statusCode) ? headerOf(answer, "location") : null;
    if (next === null) {
      requireFile(answer);
      return { answer, url };
    }
    await answer.body.dump();
    if (followed >= limits.maxRedirects)
      throw new OutboundError("redirects", `More than ${limits.maxRedirects} redirects, or a redirect loop.`);
    url = parseUrl(next, url);
  }
}

function get(
  agent: Dispatcher,
  url: URL,
  limits: DownloadLimits,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { address, authorization } = splitCredentials(url);
  const { origin, pathname, search } = new URL(address);
  return agent.request({
    origin,
    path: pathname + search,
    method: "GET",
    // Many hosts of files refuse requests that do not say what makes them.
    headers: { ...authorization, accept: "*/*", "accept-encoding": "identity", "user-agent": "Parley" },
    headersTimeout: limits.firstByteMs,
    bodyTimeout: limits.totalMs,
    signal,
  });
}

/** @throws {OutboundError} for an answer that is no file */
function requireFile(answer: Dispatcher.ResponseData): void {
  const { statusCode } = answer;
  if (statusCode >= 200 && statusCode < 300) {
    const encoding = headerOf(answer, "content-encoding");
    if (!isEncoded(encoding)) return;
    discard(answer);
    throw encoded(encoding, statusCode);
  }
  discard(answer);
  throw new OutboundError("unreachable", `The address answered ${statusCode}.`, { status: statusCode });
}

interface Watch {
  onFirst(): void;
  /** Null: any will do. */
  pace: Pace | null;
  asKnown(error: unknown): unknown;
}

async function* counted(
  { body, ...answer }: Dispatcher.ResponseData,
  maxBytes: number,
  { onFirst, pace, asKnown }: Watch,
): AsyncGenerator<Buffer> {
  const tooLarge = (): OutboundError =>
    new OutboundError("too_large", `The file is larger than ${maxBytes} bytes.`, {
      status: answer.statusCode,
    });
  if (Number(headerOf(answer, "content-length") ?? 0) > maxBytes) throw tooLarge();
  let bytes = 0;
  const chunks = (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  for (;;) {
    // Only what the connection says is made an outbound error, never what the reader throws.
    const next = await (pace?.whileWaiting(chunks.next()) ?? chunks.next()).catch((error: unknown) => {
      throw asKnown(error);
    });
    onFirst();
    if (next.done) return;
    bytes += next.value.length;
    pace?.came(next.value.length);
    if (bytes > maxBytes) throw tooLarge();
    yield next.value;
  }
}

function paceOf(
  least: LeastRate | undefined,
  time: Timers,
  abort: (reason: OutboundError) => void,
): Pace | null {
  if (least === undefined) return null;
  const { bytes, withinMs } = least;
  const late = `Fewer than ${bytes} bytes of the file arrived within ${withinMs} ms.`;
  return createPace(time, least, () => abort(new OutboundError("timeout", late)));
}

const tooSlow = (what: string, ms: number): OutboundError =>
  new OutboundError("timeout", `No ${what} within ${ms} ms.`);
