import type { z } from "zod";
import { mayUseNumber } from "../../../accounts/authorize.ts";
import type { Caller } from "../../../accounts/caller.ts";
import type { Config } from "../../../config.ts";
import type { DeliveryRecord, WebhookSettings } from "../../../webhooks/index.ts";
import { requestedSettings, type webhookInput } from "../../../webhooks/settings.ts";
import { findDevice } from "../../access/senders.ts";
import type { App } from "../../services.ts";
import { notFound } from "../../answers/unmatched.ts";

/** @returns all settings, with the defaults for what was left out */
export const requestedWebhook = (input: z.output<typeof webhookInput>, config: Config): WebhookSettings =>
  requestedSettings(input, config.webhookTimeoutMs);

/** @throws NOT_FOUND when the number is not the caller's, or `value` found nothing for it */
export async function ofDevice<T>(
  app: App,
  caller: Caller,
  number: string | undefined,
  value: (deviceId: number) => T | null | Promise<T | null>,
): Promise<T> {
  const device = findDevice(app, caller, number);
  const found = await value(device.id);
  if (found === null) throw notFound();
  return found;
}

/** @throws NOT_FOUND when there is none, or it is of a number that the key may not use */
export async function findDelivery(
  app: App,
  caller: Caller,
  id: string | undefined,
): Promise<DeliveryRecord> {
  const delivery = id === undefined ? null : await app.deliveries.find(caller.accountId, id);
  if (delivery === null || !mayUseNumber(caller, delivery.device)) throw notFound();
  return delivery;
}
