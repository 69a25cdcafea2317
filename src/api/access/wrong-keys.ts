import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { H3Event } from "h3";
import ipaddr from "ipaddr.js";
import { RateLimiterRes } from "rate-limiter-flexible";
import { GatewayError } from "../../model/errors/errors.ts";
import { createLimiter, type SharedCounts } from "./limiter.ts";

/** Wrong keys and tokens per address and minute. Right ones are not counted, and pass whatever the address has done. */
export interface WrongKeys {
  /**
   * Counts a wrong key.
   * @throws RATE_LIMITED instead of the refusal that it would have been
   */
  count(event: H3Event): Promise<void>;
}

/**
 * @param perMinute 0 is no limit
 * @param trustProxy whether a proxy in front says whose request it is
 * @param shared where nodes count together; null: this process counts alone
 */
export function createWrongKeys(
  perMinute: number,
  trustProxy: boolean,
  shared: SharedCounts | null = null,
): WrongKeys {
  if (perMinute === 0) return { count: async () => undefined };
  const limiter = createLimiter("address", perMinute, shared);
  return {
    async count(event) {
      const request = event.runtime?.node?.req as IncomingMessage | undefined;
      try {
        await limiter.consume(callerAddress(request, trustProxy));
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
        throw new GatewayError(
          "RATE_LIMITED",
          `More than ${perMinute} wrong keys in a minute from this address. A valid key still works; try another key in ${seconds} s.`,
          { retryAfter: seconds },
        );
      }
    },
  };
}

/**
 * Whom a request comes from. Behind a proxy it is what the proxy itself has added, the last of X-Forwarded-For: what stands
 * before it is the caller's own word, and another one for each guess.
 *
 * @returns IPv6 as its /64, of which one customer has all addresses
 */
export function callerAddress(request: IncomingMessage | undefined, trustProxy: boolean): string {
  const forwarded = trustProxy ? String(request?.headers["x-forwarded-for"] ?? "") : "";
  const last = forwarded.slice(forwarded.lastIndexOf(",") + 1).trim();
  const text = isIP(last) === 0 ? (request?.socket.remoteAddress ?? "") : last;
  if (isIP(text) === 0) return "unknown";
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  return `${address.toByteArray().slice(0, 8).join(".")}/64`;
}
