import { timingSafeEqual } from "node:crypto";
import type { Time } from "../model/time.ts";
import { MINUTE_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { isToken, makeToken } from "./session-token.ts";

/** How long the operator's link opens the console. */
export const OPERATOR_LINK_MINUTES = 10;

/** The operator's one-time way into the console, shown where the gateway was started. */
export interface OperatorLink {
  /** A new secret. It works once, for ten minutes; the one before it ends. */
  make(): string;
  /** Whether this is the secret, and still works. It never works again. */
  spend(token: string): boolean;
}

/** In memory alone: a restart ends it, and no disk, log or other node ever has it. */
export function createOperatorLink({
  box,
  time,
}: {
  box: Store["box"];
  time: Pick<Time, "monotonic">;
}): OperatorLink {
  const digest = (token: string): Buffer => box.hmac("operator-link", token);
  let open: { digest: Buffer; endsAt: number } | null = null;
  return {
    make() {
      const token = makeToken();
      open = { digest: digest(token), endsAt: time.monotonic() + OPERATOR_LINK_MINUTES * MINUTE_MS };
      return token;
    },
    spend(token) {
      if (open === null || !isToken(token)) return false;
      if (time.monotonic() >= open.endsAt) open = null;
      else if (timingSafeEqual(open.digest, digest(token))) {
        open = null;
        return true;
      }
      return false;
    },
  };
}
