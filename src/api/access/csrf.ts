import { timingSafeEqual } from "node:crypto";
import type { H3Event } from "h3";
import type { Session } from "../../accounts/sessions.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import type { App } from "../services.ts";

/** Headers of our own: no page of another site can make a browser send them along. */
const HEADER = "x-csrf-token";

/**
 * A browser sends the cookie whoever made it send the request: whatever changes something, or sends, must show that it comes
 * from the page that is signed in.
 *
 * @throws CSRF_TOKEN_INVALID
 */
export function requireCsrfToken(
  { method, sends }: Pick<Endpoint, "method" | "sends">,
  event: H3Event,
  { csrfToken }: Pick<Session, "csrfToken">,
): void {
  if (method === "GET" && sends !== true) return;
  const given = Buffer.from(event.req.headers.get(HEADER) ?? "");
  const right = Buffer.from(csrfToken);
  if (given.length === right.length && timingSafeEqual(given, right)) return;
  throw notFromOurPage(
    "Send the session's csrf value in the header X-CSRF-Token; GET /console/session returns it.",
  );
}

/**
 * Signing in needs no token yet. A page of another site must not sign somebody in with a key of its own: what the browser says
 * of where the request comes from decides. Programs say nothing of it.
 *
 * @throws CSRF_TOKEN_INVALID
 */
export function requireOwnOrigin(app: Pick<App, "config">, event: H3Event): void {
  const { headers } = event.req;
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") throw fromElsewhere();
  const origin = headers.get("origin");
  if (site !== null || origin === null) return;
  const own = [headers.get("host"), new URL(app.config.publicUrl).host];
  if (!URL.canParse(origin) || !own.includes(new URL(origin).host)) throw fromElsewhere();
}

const fromElsewhere = (): GatewayError =>
  notFromOurPage("The request came from another site. Sign in at this gateway's own address.");

const notFromOurPage = (message: string): GatewayError => new GatewayError("CSRF_TOKEN_INVALID", message);
