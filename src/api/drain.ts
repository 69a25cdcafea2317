import type { ServerResponse } from "node:http";
import { sharedAbort } from "../model/shared-abort.ts";

/** Whether the gateway is ending, and which requests were under way when that began. */
export interface Drain {
  readonly draining: boolean;
  /** It will end soon: whoever asks whether it is ready is told so, and requests are still served. */
  readonly leaving: boolean;
  leave(): void;
  /** Aborted when the end begins: answers that have no end of their own end then. */
  readonly signal: AbortSignal;
  track(response: ServerResponse): void;
  /** From now on new requests are refused. Resolves when those under way have been answered. */
  begin(): Promise<void>;
}

/** Counts requests from when they come to when their connection has the whole answer, or is gone. */
export function createDrain(): Drain {
  const underWay = new Set<ServerResponse>();
  const ending = sharedAbort();
  let draining = false;
  let leaving = false;
  let settle: (() => void) | undefined;

  return {
    get draining() {
      return draining;
    },
    get leaving() {
      return leaving;
    },
    leave: () => void (leaving = true),
    signal: ending.signal,
    track(response) {
      // What comes later is refused at once and need not be waited for.
      if (draining) return;
      underWay.add(response);
      response.once("close", () => {
        underWay.delete(response);
        if (draining && underWay.size === 0) settle?.();
      });
    },
    begin() {
      draining = true;
      leaving = true;
      ending.abort();
      return new Promise((resolve) => {
        settle = resolve;
        if (underWay.size === 0) resolve();
      });
    },
  };
}
