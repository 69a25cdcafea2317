import ipaddr from "ipaddr.js";

const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Whether an address is one of the public internet. Loopback, private, link-local (cloud metadata), carrier, multicast,
 * documentation and reserved ranges are not, nor are IPv6 addresses that carry an IPv4 address inside (mapped,
 * compatible, NAT64, 6to4, Teredo).
 *
 * @param address IPv4 or IPv6 without brackets; what does not parse is not public
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  // `::7f00:1` is 127.0.0.1 in a form that range() does not know; all that is routed lies within 2000::/3.
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST_V6);
}

/** The address that a URL's host is, or null when it is a name. URL parsing has already read decimal and hex forms. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return ipaddr.isValid(bare) ? bare : null;
}
