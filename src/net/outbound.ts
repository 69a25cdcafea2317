import type { Dispatcher } from "undici";
import { percentDecoded } from "../model/percent.ts";
import { OutboundError } from "./errors.ts";

/** What every request to the outside shares, however its answer is read. */

export const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** fetch refuses `https://user:password@host`; people write it, and it means Basic authentication. */
export function splitCredentials(url: URL): { address: string; authorization: Record<string, string> } {
  if (url.username === "" && url.password === "") return { address: url.href, authorization: {} };
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  const pair = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
  const authorization = { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
  return { address: bare.href, authorization };
}

/** The first value of a header, null when there is none. Bytes beyond ASCII are read as Latin-1. */
export function headerOf({ headers }: Pick<Dispatcher.ResponseData, "headers">, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Lets go of an answer that is not read, and of its connection. */
export function discard({ body }: Dispatcher.ResponseData): void {
  // Without a listener, what destroying an unread answer says would be an uncaught error.
  body.on("error", () => undefined).destroy();
}

/** @param header `content-encoding`, null when there is none */
export function isEncoded(header: string | null | undefined): boolean {
  return !["", "identity"].includes(header?.trim().toLowerCase() ?? "");
}

/** A few bytes may unpack to gigabytes, so a compressed answer is not looked into. */
export function encoded(header: string | null | undefined, status: number): OutboundError {
  return new OutboundError(
    "encoded",
    `The answer is compressed (${header}), although the request asked for no compression.`,
    { status },
  );
}

/** What happened may be wrapped in other errors; the reason is at the bottom. */
export function asOutboundError(error: unknown): OutboundError {
  let cause = error;
  for (let depth = 0; depth < 8 && !(cause instanceof OutboundError); depth++) {
    const deeper = (cause as { cause?: unknown } | null)?.cause;
    if (deeper === undefined || deeper === null) break;
    cause = deeper;
  }
  if (cause instanceof OutboundError) return cause;
  const { code, message } = cause as { code?: string; message?: string };
  return new OutboundError("unreachable", `No answer: ${code ?? message ?? "the connection failed"}.`, {
    cause: error,
  });
}

/** @throws {OutboundError} `not_allowed` for anything but a complete http or https address */
export function parseUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : null;
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return url;
  throw new OutboundError("not_allowed", "Only complete http and https addresses can be reached.");
}
