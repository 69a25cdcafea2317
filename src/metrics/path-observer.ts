import type { ChatKind, MessageType } from "../model/messages.ts";
import type { Metrics } from "./metrics.ts";
import type { Answering, Traffic } from "./traffic.ts";

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

/** What is told of a message that came. */
interface Came {
  deviceId: number;
  message: { fromMe: boolean; chatKind: ChatKind; timer?: unknown };
}

const counts = ({ message: { fromMe, chatKind, timer } }: Came): boolean =>
  !fromMe && chatKind !== "status" && timer === undefined;

/** What is no webhook belongs to the gateway: bots, and the text for callers. */
const answeringOf = (by: string | null): Answering =>
  by === null ? "nobody" : by === "webhook" ? "webhook" : "bot";

/** Counts the same for each number, for charts. */
export function observeTraffic(traffic: Traffic) {
  return {
    received(messages: readonly Came[]): void {
      for (const came of messages) if (counts(came)) traffic.came(came.deviceId);
    },
    decided(stored: Came, { by }: { by: string | null }, tookMs: number | null): void {
      if (counts(stored)) traffic.decided(stored.deviceId, answeringOf(by), tookMs);
    },
    messageEnded: (_kind: string, result: string, _seconds: number, deviceId: number): void =>
      traffic.ended(deviceId, result === "sent"),
    deliveryAttempted: ({ result }: { result: string }, deviceId: number): void =>
      traffic.posted(deviceId, result === "accepted"),
  };
}
