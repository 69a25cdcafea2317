import type { IncomingMessage } from "node:http";
import { GatewayError } from "../model/errors/errors.ts";

/** Headers other than the request line, of one request. */
export const MAX_HEADER_BYTES = 16_384;
/** A GET send may carry 65,536 characters, each three bytes that are escaped by three. */
export const MAX_REQUEST_LINE_BYTES = 1_048_576;
const MAX_HOST_LENGTH = 261;

/**
 * Looks at what Node's parser lets through and an address cannot be made of. What may stay is brought into one form:
 * afterwards `url` is a path with its query, and `host` is right or absent.
 *
 * @returns how the request is refused, or null
 */
export function checkHead(request: IncomingMessage): GatewayError | null {
  if ((request.url ?? "").length > MAX_REQUEST_LINE_BYTES) return requestLineTooLong();
  if (headerBytes(request.rawHeaders) > MAX_HEADER_BYTES) return headersTooLarge();
  if (!hasOneHost(request))
    return badRequest(
      "The header Host is missing or does not name one host. Send it once, for instance example.org:3000.",
    );
  // Parley makes no address of it; only PUBLIC_URL is shown to people.
  delete request.headers["x-forwarded-host"];
  const target = originForm(request.url ?? "");
  if (target === null) return badRequest("The request line does not name a path of this gateway.");
  request.url = target;
  return null;
}

/** Node drops the second of two Hosts: which one a proxy in front has looked at is not known here. */
function hasOneHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
  if (count === 0) return httpVersion === "1.0";
  return count === 1 && isHost(headers.host ?? "");
}

function isHost(text: string): boolean {
  // `canParse` alone would take `a/b`, `user@host` and blanks.
  return (
    text.length > 0 &&
    text.length <= MAX_HOST_LENGTH &&
    /^[\w.:[\]-]+$/.test(text) &&
    !text.startsWith(".") &&
    !text.includes("..") &&
    URL.canParse(`http://${text}/`)
  );
}

/** `http://host/path`, as clients of proxies write it, is `/path`. */
function originForm(target: string): string | null {
  if (target.startsWith("/") || target === "*") return target;
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return null;
  const { pathname, search } = new URL(target);
  return pathname + search;
}

/** With the colon, the blank and the line's end that each had. */
function headerBytes(rawHeaders: string[]): number {
  return rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
}

/** 431: what is sent beside the request line is larger than any client needs. */
export const headersTooLarge = (): GatewayError =>
  new GatewayError(
    "HEADERS_TOO_LARGE",
    `The headers are larger than 16 KiB (${MAX_HEADER_BYTES.toLocaleString("en")} bytes).`,
  );
/** 413: of the path and its query. */
export const requestLineTooLong = (): GatewayError =>
  new GatewayError(
    "BODY_TOO_LARGE",
    `The request line is larger than 1 MiB (${MAX_REQUEST_LINE_BYTES.toLocaleString("en")} bytes).`,
  );
const badRequest = (text: string): GatewayError => new GatewayError("INVALID_PARAMETERS", text);
