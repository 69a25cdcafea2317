import type { Store } from "../store/store.ts";
import { HEALTHY, readHealth, type WebhookFailures } from "./attempts/health-row.ts";
import { healthOf } from "./health.ts";
import type { NumberWebhook } from "./parts.ts";
import { settingsOf, type Registry } from "./registry.ts";
import type { Webhook, WebhookChange, WebhookHealth, WebhookRecord } from "./settings.ts";

/** What owners do with the webhook of a number. */
export interface WebhookManagement {
  get(deviceId: number): Promise<WebhookRecord | null>;
  /** How a webhook does, at once; of a number that another node has, failures are not in it. Null when there is no webhook. */
  healthHere(deviceId: number): WebhookHealth | null;
  /**
   * Replaces everything but the secret, and holds no failure against it any more. The secret is given back only when it was made now.
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED
   */
  put(deviceId: number, config: WebhookChange): Promise<{ config: WebhookRecord; secret: string | null }>;
  /** Ends what is pending. False when there was none. */
  remove(deviceId: number): Promise<boolean>;
  /** Both secrets sign for 24 h. Null when there is no webhook. */
  rotate(deviceId: number): Promise<{ config: WebhookRecord; secret: string } | null>;
}

interface ManagementDeps {
  store: Pick<Store, "readOne">;
  registry: Registry;
  opened(deviceId: number): NumberWebhook | null;
}

/** Webhooks with how they do: of a number that another node has, their rows tell. */
export function createWebhookManagement({ store, registry, opened }: ManagementDeps): WebhookManagement {
  async function recordOf(webhook: Webhook): Promise<WebhookRecord> {
    const own = opened(webhook.deviceId)?.health("");
    return asRecord(webhook, own ?? (await readHealth(store, webhook)));
  }

  return {
    async get(deviceId) {
      const webhook = registry.get(deviceId);
      return webhook && (await recordOf(webhook));
    },
    healthHere(deviceId) {
      const webhook = registry.get(deviceId);
      return webhook && healthOf(webhook, opened(deviceId)?.health("") ?? HEALTHY);
    },
    async put(deviceId, input) {
      const { secret } = await registry.put(deviceId, input);
      const webhook = registry.get(deviceId)!;
      const own = opened(deviceId);
      await own?.anew("");
      // Whoever has the number hears of it, and forgets the failures then.
      return { config: asRecord(webhook, own?.health("") ?? HEALTHY), secret };
    },
    async remove(deviceId) {
      const existed = await registry.remove(deviceId);
      opened(deviceId)?.gone("");
      return existed;
    },
    async rotate(deviceId) {
      const rotated = await registry.rotate(deviceId);
      return rotated && { config: await recordOf(registry.get(deviceId)!), secret: rotated.secret };
    },
  };
}

const asRecord = (webhook: Webhook, health: WebhookFailures): WebhookRecord => ({
  ...settingsOf(webhook),
  health: healthOf(webhook, health),
});
