import type { ChatKind, MessageType } from "../model/messages.ts";
import type { Metrics } from "./metrics.ts";
import type { Answering, Traffic } from "./traffic.ts";

interface Received<Message> {
  messages: readonly { deviceId: number; message: Message }[];
  known: number;
}

/** Counts what happens on the way of a message. */
export function observePath(metrics: Metrics) {
  return {
    received({ messages, known }: Received<{ type: MessageType }>): void {
      for (const { message } of messages) metrics.received(message.type);
      metrics.redelivered(known);
    },
    messageEnded: metrics.sent,
    attempt: metrics.webhookAttempt,
    deliveryDead: metrics.webhookDead,
    webhook: metrics.webhookTurned,
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

interface Decided {
  stored: Came;
  decision: { by: string | null };
  tookMs: number | null;
}

interface Ended {
  deviceId: number;
  result: string;
}

const counts = ({ message: { fromMe, chatKind, timer } }: Came): boolean =>
  !fromMe && chatKind !== "status" && timer === undefined;

/** What is no webhook belongs to the gateway: bots, and the text for callers. */
const answeringOf = (by: string | null): Answering =>
  by === null ? "nobody" : by === "webhook" ? "webhook" : "bot";

/** Counts the same for each number, for charts. */
export function observeTraffic(traffic: Traffic) {
  return {
    received({ messages }: Received<Came["message"]>): void {
      for (const came of messages) if (counts(came)) traffic.came(came.deviceId);
    },
    decided({ stored, decision: { by }, tookMs }: Decided): void {
      if (counts(stored)) traffic.decided(stored.deviceId, answeringOf(by), tookMs);
    },
    messageEnded: ({ deviceId, result }: Ended): void => traffic.ended(deviceId, result === "sent"),
    attempt: ({ deviceId, result }: Ended): void => traffic.posted(deviceId, result === "accepted"),
  };
}
