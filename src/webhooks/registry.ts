import { GatewayError } from "../model/errors/errors.ts";
import { defineTopic } from "../model/nodes/cluster.ts";
import { createSecret } from "./events/sign.ts";
import { webhookOf } from "./receiver.ts";
import { createReceivers, type Receivers, type ReceiverSet, type RegistryDeps } from "./receivers.ts";
import { releaseHolds } from "./release-holds.ts";
import {
  readWebhookSettings,
  SETTING_NAMES,
  type Webhook,
  type WebhookChange,
  type WebhookSettings,
} from "./settings.ts";
import { webhookTable } from "./webhook-rows.ts";

const SET = defineTopic<ReceiverSet>("webhooks");

/** Webhooks of all numbers, in memory and in the database. */
export interface Registry extends Pick<Receivers<Webhook>, "load" | "atHand" | "forget"> {
  get(deviceId: number): Webhook | null;
  /**
   * Replaces everything but the secret.
   *
   * @returns `secret` only when it was made now
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED
   */
  put(deviceId: number, input: WebhookChange): Promise<{ secret: string | null }>;
  /** Ends what is pending. False when there was none. */
  remove(deviceId: number): Promise<boolean>;
  /** A new secret; the old one signs as well for 24 h. Null when there is no webhook. */
  rotate(deviceId: number): Promise<{ secret: string } | null>;
}

/** The numbers' webhooks: rows in `webhooks`, all of them in memory. */
export function createRegistry(deps: RegistryDeps): Registry {
  const { store, config, checkUrl } = deps;
  const receivers = createReceivers<Webhook>({ ...deps, topic: SET, table: webhookTable(store) });

  return {
    load: receivers.load,
    atHand: receivers.atHand,
    forget: receivers.forget,
    get: (deviceId) => receivers.get(webhookOf(deviceId)),

    async put(deviceId, input) {
      const checked = readWebhookSettings(input, config.webhookTimeoutMs);
      await checkUrl(checked.url);
      const target = webhookOf(deviceId);
      const before = await receivers.current(target);
      const secret = before?.secret ?? createSecret();
      const { oldSecrets = [], oldSecretUntil = null } = before ?? {};
      await receivers.save(
        { ...checked, ...target, disabledReason: null, secret, oldSecrets, oldSecretUntil },
        true,
      );
      return { secret: before ? null : secret };
    },

    // A webhook that is made later begins without chats of its own.
    remove: (deviceId) => receivers.remove(webhookOf(deviceId), [releaseHolds(deviceId, store.now())]),
    rotate: (deviceId) => receivers.rotate(webhookOf(deviceId)),
  };
}

/** Without what only Parley sees. */
export function settingsOf(webhook: Webhook): WebhookSettings {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, webhook[name]])) as unknown as WebhookSettings;
}

/** The refusal of what only a webhook that is switched on can do. */
export function noWebhook(): GatewayError {
  return new GatewayError(
    "NOT_FOUND",
    "This number has no enabled webhook. Set one with PUT /devices/{number}/webhook.",
  );
}
