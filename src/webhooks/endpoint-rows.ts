import type { Row } from "@libsql/client";
import type { Statement, Store } from "../store/store.ts";
import type { Endpoint } from "./endpoint.ts";

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
export function upsert(endpoint: Endpoint, { box, now }: Store): Statement {
  const { deviceId, secret, oldSecrets } = endpoint;
  return {
    sql: UPSERT,
    args: [
      deviceId,
      endpoint.url,
      endpoint.mode,
      endpoint.replyTo,
      JSON.stringify(endpoint.events),
      box.sealJson(endpoint.headers, `webhook-headers:${deviceId}`),
      endpoint.timeoutMs,
      endpoint.replyMaxAge,
      endpoint.read ? 1 : 0,
      endpoint.typing ? 1 : 0,
      endpoint.enabled ? 1 : 0,
      endpoint.disabledReason,
      box.seal(secret, `webhook-secret:${deviceId}`),
      oldSecrets.length === 0 ? null : box.seal(oldSecrets.join(" "), `webhook-secret:${deviceId}`),
      endpoint.oldSecretUntil,
      now(),
    ],
  };
}

export function fromRow(row: Row, { box }: Store): Endpoint {
  const deviceId = Number(row.device_id);
  const openSecret = (value: unknown): string =>
    box.open(Buffer.from(value as ArrayBuffer), `webhook-secret:${deviceId}`).toString("utf8");
  return {
    deviceId,
    url: String(row.url),
    mode: row.mode as Endpoint["mode"],
    replyTo: row.reply_to as Endpoint["replyTo"],
    events: JSON.parse(String(row.events)) as string[],
    headers: box.openJson(Buffer.from(row.headers as ArrayBuffer), `webhook-headers:${deviceId}`),
    timeoutMs: Number(row.timeout_ms),
    replyMaxAge: Number(row.reply_max_age),
    read: Boolean(row.read),
    typing: Boolean(row.typing),
    enabled: Boolean(row.enabled),
    disabledReason: row.disabled_reason as Endpoint["disabledReason"],
    secret: openSecret(row.secret),
    oldSecrets: row.old_secret === null ? [] : openSecret(row.old_secret).split(" "),
    oldSecretUntil: row.old_secret_until === null ? null : Number(row.old_secret_until),
  };
}
