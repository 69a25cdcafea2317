import type { DisabledReason, WebhookMode } from "../model/webhook-words.ts";

/** Whom deliveries are for. Each has its own secret, queue and breaker. */
export interface Target {
  deviceId: number;
  /** Id of a listener; empty: the number's webhook. */
  listener: string;
}

/** Who is posted to: a number's webhook, or one of its listeners, as its owner has set it. */
export interface Receiver extends Target {
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  enabled: boolean;
  /** Of webhooks. */
  mode?: WebhookMode;
  disabledReason: DisabledReason | null;
  secret: string;
  /** Earlier ones that still sign, the newest first. */
  oldSecrets: string[];
  /** Unix milliseconds. */
  oldSecretUntil: number | null;
}

/** Whom the deliveries of a number's webhook are for. */
export const webhookOf = (deviceId: number): Target => ({ deviceId, listener: "" });

/** Unique among all numbers. */
export const keyOf = ({ deviceId, listener }: Target): string => `${deviceId} ${listener}`;

/** The same for the log. */
export const namesOf = ({ deviceId, listener }: Target): { device: number; listener?: string } => ({
  device: deviceId,
  ...(listener !== "" && { listener }),
});

/** What of a receiver says whom it is. */
export const targetOf = ({ deviceId, listener }: Target): Target => ({ deviceId, listener });

/** Whether anything is posted to it. */
export function isActive({ enabled, mode }: Pick<Receiver, "enabled" | "mode">): boolean {
  return enabled && mode !== "off";
}

/** Secrets that sign now, the newest first. */
export function signingSecrets(receiver: Receiver, now: number): string[] {
  const { secret, oldSecrets, oldSecretUntil } = receiver;
  return oldSecretUntil !== null && now < oldSecretUntil ? [secret, ...oldSecrets] : [secret];
}
