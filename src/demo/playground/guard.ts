import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Header that carries the token of the address that the demo printed. */
export const TOKEN_HEADER = "x-playground-token";

/** As the console's: nothing from elsewhere, no script in the page. */
export const PAGE_HEADERS: Record<string, string> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; " +
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * Is this our own page, in a browser on this machine? A name that leads to loopback, or another site's page, is not.
 *
 * @returns what is wrong, or null
 */
export function strangeness(request: IncomingMessage, port: number): string | null {
  const { host, origin } = request.headers;
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (host === undefined || !own.includes(host)) return "This address does not belong to the playground.";
  if (origin !== undefined && origin !== `http://${host}`)
    return "Pages of other sites may not call the playground.";
  return null;
}

/** Does the request carry the token? */
export function hasToken(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(String(request.headers[TOKEN_HEADER] ?? ""));
  const wanted = Buffer.from(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
