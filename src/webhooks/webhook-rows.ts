import { webhooks } from "../../drizzle/schema.ts";
import { defineQuery, type Query } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { Webhook } from "./settings.ts";

const COLUMNS = [
  "device_id",
  "url",
  "mode",
  "reply_to",
  "events",
  "headers",
  "timeout_ms",
  "reply_max_age",
  "read",
  "typing",
  "enabled",
  "disabled_reason",
  "secret",
  "old_secret",
  "old_secret_until",
  "updated_at",
];
const UPSERT = `insert into webhooks (${COLUMNS.join(", ")}) values (${COLUMNS.map(() => "?").join(", ")})
  on conflict (device_id) do update set ${COLUMNS.slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

/** Replaces everything but how it has been doing. */
export function upsert(webhook: Webhook, { box, now }: Store): Statement {
  const { deviceId, secret, oldSecrets } = webhook;
  return {
    sql: UPSERT,
    args: [
      deviceId,
      webhook.url,
      webhook.mode,
      webhook.replyTo,
      JSON.stringify(webhook.events),
      box.sealJson(webhook.headers, `webhook-headers:${deviceId}`),
      webhook.timeoutMs,
      webhook.replyMaxAge,
      webhook.read ? 1 : 0,
      webhook.typing ? 1 : 0,
      webhook.enabled ? 1 : 0,
      webhook.disabledReason,
      box.seal(secret, `webhook-secret:${deviceId}`),
      oldSecrets.length === 0 ? null : box.seal(oldSecrets.join(" "), `webhook-secret:${deviceId}`),
      webhook.oldSecretUntil,
      now(),
    ],
  };
}

/** Every webhook, for the start. */
export const WEBHOOKS = defineQuery(`select ${COLUMNS.slice(0, -1).join(", ")} from webhooks`, {
  deviceId: webhooks.deviceId,
  url: webhooks.url,
  mode: webhooks.mode,
  replyTo: webhooks.replyTo,
  events: webhooks.events,
  headers: webhooks.headers,
  timeoutMs: webhooks.timeoutMs,
  replyMaxAge: webhooks.replyMaxAge,
  read: webhooks.read,
  typing: webhooks.typing,
  enabled: webhooks.enabled,
  disabledReason: webhooks.disabledReason,
  secret: webhooks.secret,
  oldSecret: webhooks.oldSecret,
  oldSecretUntil: webhooks.oldSecretUntil,
});

type WebhookRow = typeof WEBHOOKS extends Query<infer Row> ? Row : never;

/** @throws when what is sealed does not open */
export function fromRow(
  { headers, secret, oldSecret, ...row }: WebhookRow,
  { box }: Pick<Store, "box">,
): Webhook {
  const { deviceId } = row;
  const openSecret = (sealed: Buffer): string =>
    box.open(sealed, `webhook-secret:${deviceId}`).toString("utf8");
  return {
    ...row,
    headers: box.openJson(headers, `webhook-headers:${deviceId}`),
    secret: openSecret(secret),
    oldSecrets: oldSecret === null ? [] : openSecret(oldSecret).split(" "),
  };
}
