import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Store } from "../../store/store.ts";
import { secondsIn } from "../stanza-numbers.ts";

/** Less is the way of a stanza, and rounding. */
const SAME_SECONDS = 60;

/** Compares WhatsApp's clock with the host's. */
export interface WhatsAppClock {
  /** Seconds by which WhatsApp's clock is ahead of the host's; 0 when they agree within a minute, or when it did not say. */
  ahead(): number;
}

/** WhatsApp tells the time when it lets a client in; from there on the host's steady clock counts, which nobody sets. */
export function watchClock(
  { ws }: Pick<WASocket, "ws">,
  { time, clock }: Pick<Store, "time" | "clock">,
): WhatsAppClock {
  let startedAt: number | null = null;
  ws.prependListener("CB:success", ({ attrs }: BinaryNode) => {
    const told = secondsIn(attrs.t);
    startedAt = told > 0 ? told * 1000 - time.monotonic() : null;
    if (told > 0) clock.heard(told * 1000);
  });
  return {
    ahead() {
      if (startedAt === null) return 0;
      const seconds = Math.round((startedAt + time.monotonic() - time.now()) / 1000);
      return Math.abs(seconds) < SAME_SECONDS ? 0 : seconds;
    },
  };
}
