import type { H3Event } from "h3";
import type { App } from "../services.ts";

type WithAddress = Pick<App, "config">;

/** Behind TLS a browser takes a cookie of this name from this host alone, and only when it is Secure. */
const BEHIND_TLS = "__Host-parley";
const IN_THE_CLEAR = "parley";
/** What is longer is no cookie of ours. */
const LONGEST_HEADER = 16_384;

const isBehindTls = ({ config }: WithAddress): boolean => config.publicUrl.startsWith("https:");
const nameFor = (app: WithAddress): string => (isBehindTls(app) ? BEHIND_TLS : IN_THE_CLEAR);
const attributes = (app: WithAddress): string =>
  `Path=/; HttpOnly; SameSite=Strict${isBehindTls(app) ? "; Secure" : ""}`;

/**
 * The token of a session's cookie; null when there is none. Several that differ are none that counts (the empty text): another
 * program on the same host may have set one of them.
 */
export function sessionToken(app: WithAddress, event: H3Event): string | null {
  const header = event.req.headers.get("cookie") ?? "";
  if (header.length > LONGEST_HEADER) return null;
  const prefix = `${nameFor(app)}=`;
  const values = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  const [first, ...others] = new Set(values);
  if (first === undefined) return null;
  return others.length === 0 ? first : "";
}

/** `Set-Cookie` of a session that begins: it lasts as long as the browser runs, and no longer than the session. */
export const sessionCookie = (app: WithAddress, token: string): string =>
  `${nameFor(app)}=${token}; ${attributes(app)}`;

/** `Set-Cookie` that makes the browser forget it. */
export const noSessionCookie = (app: WithAddress): string =>
  `${nameFor(app)}=; ${attributes(app)}; Max-Age=0`;
