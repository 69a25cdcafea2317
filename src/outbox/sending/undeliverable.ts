import { MINUTE_MS } from "../../model/time.ts";
import type { SendOutcome } from "../../whatsapp/port.ts";
import type { QueuedMessage } from "./chats.ts";
import type { SendError } from "../rows.ts";

/**
 * Tells a message that can never leave from one that has to wait. A failed attempt alone shows neither; that other messages of
 * the number were acknowledged meanwhile does.
 */
export interface UndeliverableWatch {
  /** WhatsApp has taken a message of this number. */
  acknowledged(): void;
  /** Counts an attempt that came to nothing, unless the connection or the whole media service is to blame for it. */
  failed(message: QueuedMessage, outcome: FailedAttempt): void;
  /** Other messages of the number have gone out since its first failed attempt, and lately. */
  isAlone(message: QueuedMessage): boolean;
  /** It has had its attempts. */
  isUndeliverable(message: QueuedMessage): boolean;
}

/** An attempt after which nothing is known for certain. */
export type FailedAttempt = SendOutcome & { kind: "unknown" | "limited" };

/** Attempts that a message is given at least. */
const ATTEMPTS = 10;
/** Time that it is given at least; and how old what WhatsApp acknowledged last may be to say that it was answering. */
const WINDOW_MS = 10 * MINUTE_MS;

/** Of one number. Failed attempts are counted in the messages and their rows; when it was last acknowledged, in memory alone. */
export function createUndeliverableWatch(now: () => number): UndeliverableWatch {
  let acknowledgedAt: number | null = null;

  function isAlone({ failingSince }: QueuedMessage): boolean {
    if (acknowledgedAt === null || failingSince === null) return false;
    return acknowledgedAt >= failingSince && Math.abs(now() - acknowledgedAt) <= WINDOW_MS;
  }

  return {
    acknowledged: () => void (acknowledgedAt = now()),
    failed(message, outcome) {
      const blame = outcome.kind === "unknown" ? outcome.blame : undefined;
      if (blame === "line" || blame === "media") return;
      message.failures++;
      // A clock that was set back must not make it wait for longer than it would have.
      message.failingSince = Math.min(message.failingSince ?? now(), now());
    },
    isAlone,
    isUndeliverable: (message) =>
      message.failures >= ATTEMPTS &&
      now() - (message.failingSince ?? now()) >= WINDOW_MS &&
      isAlone(message),
  };
}

/** Why a message was given up, for people. What the gateway's own errors say is for its log alone. */
export function givenUp(message: QueuedMessage, outcome: FailedAttempt, now: number): SendError {
  const minutes = Math.round((now - (message.failingSince ?? now)) / MINUTE_MS);
  const told = (reason: string): string =>
    `Given up after ${message.failures} attempts in ${minutes} minutes: ${reason}`;
  if (outcome.kind === "limited")
    return {
      code: "WHATSAPP_REFUSED",
      message: told("WhatsApp limits this message (429) but accepts others."),
      whatsapp_code: 429,
    };
  if (outcome.blame === "gateway")
    return {
      code: "INTERNAL_ERROR",
      message: told("the gateway cannot send the message; its log says why."),
    };
  return {
    code: "WHATSAPP_REFUSED",
    message: told(outcome.reason),
    ...(outcome.code !== undefined && { whatsapp_code: outcome.code }),
  };
}
