import type { MessageType } from "../model/messages.ts";
import type { Metrics } from "./metrics.ts";

/** Counts what happens on the way of a message. */
export function observePath(metrics: Metrics) {
  return {
    received(messages: readonly { message: { type: MessageType } }[], known: number): void {
      for (const { message } of messages) metrics.received(message.type);
      metrics.redelivered(known);
    },
    messageEnded: metrics.sent,
    deliveryAttempted: metrics.webhookAttempt,
    deliveryDead: metrics.webhookDead,
    webhookTurned: (_deviceId: number, to: "paused" | "ok" | "disabled"): void => metrics.webhookTurned(to),
    addressBlocked: metrics.ssrfBlocked,
    undecryptable: metrics.decryptFailed,
    way: metrics.way,
  };
}
