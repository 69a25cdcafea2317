import { percentDecoded } from "../model/percent.ts";
import { literalAddress } from "./addresses.ts";

/** A proxy, in its parts. */
export interface ProxyAddress {
  protocol: "http" | "https" | "socks5";
  /** A name or an address, without brackets. */
  host: string;
  port: number;
  /** Empty: none is wanted. */
  username: string;
  password: string;
}

const USUAL_PORTS = { http: 80, https: 443, socks5: 1080 };
const SCHEME = /^(https?|socks5):\/\/(?=[^/])/i;
/** URL drops some of these wherever they stand. */
const INVISIBLE = /[\s\p{Cc}]/u;
/** A name or a password has one byte for its length in SOCKS5. */
const LONGEST_OF_SOCKS = 255;

/** @returns null for what is no complete address of a proxy */
export function readProxy(text: string): ProxyAddress | null {
  if (INVISIBLE.test(text)) return null;
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() as ProxyAddress["protocol"] | undefined;
  // Only of schemes that it knows does URL read hosts as connections do, `0x7f.1` for instance.
  const read = scheme === undefined ? null : parsed(`http://${text.slice(scheme.length + "://".length)}`);
  if (scheme === undefined || read === null) return null;
  const { hostname, pathname, search, hash } = read;
  if (hostname === "" || pathname !== "/" || search !== "" || hash !== "") return null;
  // The port that is http's own is left out, whatever the proxy speaks.
  const isOfHttp = /:0*80\/?$/.test(text);
  const port = read.port === "" ? (isOfHttp ? USUAL_PORTS.http : USUAL_PORTS[scheme]) : Number(read.port);
  const username = percentDecoded(read.username);
  const password = percentDecoded(read.password);
  if (scheme === "socks5" && [username, password].some(isTooLong)) return null;
  // SOCKS5 has no word for a password without a name, nor for the other way round.
  if (scheme === "socks5" && (username === "") !== (password === "")) return null;
  return port === 0
    ? null
    : { protocol: scheme, host: literalAddress(hostname) ?? hostname, port, username, password };
}

/** The address as it may be shown: without the password. */
export function shownProxy({ protocol, username, ...proxy }: ProxyAddress): string {
  const user = username === "" ? "" : `${encodeURIComponent(username)}@`;
  return `${protocol}://${user}${hostOf(proxy)}`;
}

/** `host:port`, an IPv6 address in brackets. */
export function hostOf({ host, port }: Pick<ProxyAddress, "host" | "port">): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);
const isTooLong = (text: string): boolean => Buffer.byteLength(text) > LONGEST_OF_SOCKS;
