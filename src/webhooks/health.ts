import type { WebhookFailures } from "./attempts/health-row.ts";
import type { Receiver } from "./receiver.ts";
import type { WebhookHealth } from "./settings.ts";

/** How a receiver does, as it is shown. */
export function healthOf(
  { enabled, disabledReason }: Pick<Receiver, "enabled" | "disabledReason">,
  { failures, failingSince, pausedUntil }: WebhookFailures,
): WebhookHealth {
  const failing = failingSince === null ? "ok" : pausedUntil === null ? "failing" : "paused";
  const state = enabled ? failing : "disabled";
  return { state, failures, failingSince, pausedUntil, reason: disabledReason };
}
