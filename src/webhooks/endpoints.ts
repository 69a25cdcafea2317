import type { Row } from "@libsql/client";
import { GatewayError } from "../model/errors.ts";
import type { Statement, Store } from "../store/store.ts";
import { readWebhookConfig, type Endpoint, type WebhookConfig } from "./endpoint.ts";
import { endWaiting } from "./rows.ts";
import { createSecret } from "./sign.ts";

const BOTH_SECRETS_SIGN_MS = 24 * 3600 * 1000;

export interface EndpointsDeps {
  store: Store;
  config: { webhookTimeoutMs: number };
  /** @throws {GatewayError} URL_NOT_ALLOWED when the address leads into a private network */
  checkUrl(url: string): Promise<void>;
}

export interface Endpoints {
  /** Reads all rows once; afterwards every look-up is one in memory. */
  load(): Promise<void>;
  get(deviceId: number): Endpoint | null;
  /**
   * Replaces everything but the secret.
   *
   * @returns `secret` only when it was made now
   * @throws {GatewayError} INVALID_PARAMETERS, URL_NOT_ALLOWED
   */
  put(
    deviceId: number,
    input: Partial<WebhookConfig> & { url: string },
  ): Promise<{ config: WebhookConfig; secret: string | null }>;
  /** Ends what is pending. False when there was none. */
  remove(deviceId: number): Promise<boolean>;
  /** A new secret; the old one signs as well for 24 h. Null when there is no webhook. */
  rotate(deviceId: number): Promise<{ config: WebhookConfig; secret: string } | null>;
  /** Statements for a receiver that answered 410, and what holds once they are committed. */
  disabling(deviceId: number): { statements: Statement[]; committed(): void };
  forget(deviceId: number): void;
}

/** The numbers' webhooks: rows in `webhooks`, all of them in memory. */
export function createEndpoints({ store, config, checkUrl }: EndpointsDeps): Endpoints {
  const known = new Map<number, Endpoint>();

  async function save(endpoint: Endpoint): Promise<void> {
    const statements = [upsert(endpoint, store)];
    if (!isActive(endpoint)) statements.push(endWaiting(endpoint.deviceId));
    await store.writer.commit(statements);
    known.set(endpoint.deviceId, endpoint);
  }

  return {
    get: (deviceId) => known.get(deviceId) ?? null,
    forget: (deviceId) => void known.delete(deviceId),

    async load() {
      known.clear();
      for (const row of await store.rows("select * from webhooks", [])) {
        const endpoint = fromRow(row, store);
        known.set(endpoint.deviceId, endpoint);
      }
    },

    async put(deviceId, input) {
      const checked = readWebhookConfig(input, config.webhookTimeoutMs);
      await checkUrl(checked.url);
      const before = known.get(deviceId);
      const secret = before?.secret ?? createSecret();
      const { oldSecret = null, oldSecretUntil = null } = before ?? {};
      await save({ ...checked, deviceId, secret, oldSecret, oldSecretUntil });
      return { config: checked, secret: before ? null : secret };
    },

    async remove(deviceId) {
      const existed = known.has(deviceId);
      const row = { sql: "delete from webhooks where device_id = ?", args: [deviceId] };
      // A webhook that is made later begins without chats of its own.
      const holds = { sql: "update chat_state set held_until = null where device_id = ?", args: [deviceId] };
      await store.writer.commit([row, endWaiting(deviceId), holds]);
      known.delete(deviceId);
      return existed;
    },

    async rotate(deviceId) {
      const before = known.get(deviceId);
      if (!before) return null;
      const secret = createSecret();
      const oldSecretUntil = store.now() + BOTH_SECRETS_SIGN_MS;
      await save({ ...before, secret, oldSecret: before.secret, oldSecretUntil });
      return { config: configOf(before), secret };
    },

    disabling(deviceId) {
      const disable = { sql: "update webhooks set enabled = 0 where device_id = ?", args: [deviceId] };
      return {
        statements: [disable, endWaiting(deviceId)],
        committed: () => {
          const endpoint = known.get(deviceId);
          if (endpoint) known.set(deviceId, { ...endpoint, enabled: false });
        },
      };
    },
  };
}

/** Whether anything is posted to it at all. */
export function isActive(endpoint: WebhookConfig): boolean {
  return endpoint.enabled && endpoint.mode !== "off";
}

/** Secrets that sign now, the newest first. */
export function signingSecrets(endpoint: Endpoint, now: number): string[] {
  const { secret, oldSecret, oldSecretUntil } = endpoint;
  return oldSecret !== null && oldSecretUntil !== null && now < oldSecretUntil
    ? [secret, oldSecret]
    : [secret];
}

/** Without what only Parley sees. */
export function configOf(endpoint: Endpoint): WebhookConfig {
  const { deviceId: _device, secret: _secret, oldSecret: _old, oldSecretUntil: _until, ...config } = endpoint;
  return config;
}

export function noWebhook(): GatewayError {
  return new GatewayError(
    "NOT_FOUND",
    "This number has no webhook that is switched on. Set one with PUT /devices/{number}/webhook.",
  );
}

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
  "secret",
  "old_secret",
  "old_secret_until",
  "updated_at",
];
const UPSERT = `insert into webhooks (${COLUMNS.join(", ")}) values (${COLUMNS.map(() => "?").join(", ")})
  on conflict (device_id) do update set ${COLUMNS.slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

function upsert(endpoint: Endpoint, { box, now }: Store): Statement {
  const { deviceId, secret, oldSecret } = endpoint;
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
      box.seal(secret, `webhook-secret:${deviceId}`),
      oldSecret === null ? null : box.seal(oldSecret, `webhook-secret:${deviceId}`),
      endpoint.oldSecretUntil,
      now(),
    ],
  };
}

function fromRow(row: Row, { box }: Store): Endpoint {
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
    secret: openSecret(row.secret),
    oldSecret: row.old_secret === null ? null : openSecret(row.old_secret),
    oldSecretUntil: row.old_secret_until === null ? null : Number(row.old_secret_until),
  };
}
