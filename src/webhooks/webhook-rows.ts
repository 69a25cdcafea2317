import type { Row } from "@libsql/client";
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

export function fromRow(row: Row, { box }: Store): Webhook {
  const deviceId = Number(row.device_id);
  const openSecret = (value: unknown): string =>
    box.open(Buffer.from(value as ArrayBuffer), `webhook-secret:${deviceId}`).toString("utf8");
  return {
    deviceId,
    url: String(row.url),
    mode: row.mode as Webhook["mode"],
    replyTo: row.reply_to as Webhook["replyTo"],
    events: JSON.parse(String(row.events)) as string[],
    headers: box.openJson(Buffer.from(row.headers as ArrayBuffer), `webhook-headers:${deviceId}`),
    timeoutMs: Number(row.timeout_ms),
    replyMaxAge: Number(row.reply_max_age),
    read: Boolean(row.read),
    typing: Boolean(row.typing),
    enabled: Boolean(row.enabled),
    disabledReason: row.disabled_reason as Webhook["disabledReason"],
    secret: openSecret(row.secret),
    oldSecrets: row.old_secret === null ? [] : openSecret(row.old_secret).split(" "),
    oldSecretUntil: row.old_secret_until === null ? null : Number(row.old_secret_until),
  };
}
