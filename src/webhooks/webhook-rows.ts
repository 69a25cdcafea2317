import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { webhooks } from "../../drizzle/schema.ts";
import { openOnceClear } from "../store/sealed/once-clear.ts";
import { defineQuery, type Query } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { SETTING_NAMES, type Webhook, type WebhookSettings } from "./settings.ts";

/** Each setting has the column of its name. */
const SETTINGS = Object.fromEntries(SETTING_NAMES.map((name) => [name, webhooks[name]])) as Pick<
  typeof webhooks,
  keyof WebhookSettings
>;
const COLUMNS = {
  deviceId: webhooks.deviceId,
  ...SETTINGS,
  disabledReason: webhooks.disabledReason,
  secret: webhooks.secret,
  oldSecret: webhooks.oldSecret,
  oldSecretUntil: webhooks.oldSecretUntil,
};
const WRITTEN = { ...COLUMNS, updatedAt: webhooks.updatedAt };
const NAMES = Object.values(WRITTEN).map(({ name }) => name);
const UPSERT = `insert into webhooks (${NAMES.join(", ")}) values (${NAMES.map(() => "?").join(", ")})
  on conflict (device_id) do update set ${NAMES.slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

const urlContext = (deviceId: number): string => `webhook-url:${deviceId}`;

/** Replaces everything but how it has been doing. */
export function upsert({ oldSecrets, ...webhook }: Webhook, { box, now }: Store): Statement {
  const { deviceId } = webhook;
  const row: { [Key in keyof typeof WRITTEN]: (typeof WRITTEN)[Key]["_"]["data"] | null } = {
    ...webhook,
    url: box.seal(webhook.url, urlContext(deviceId)),
    headers: box.sealJson(webhook.headers, `webhook-headers:${deviceId}`),
    secret: box.seal(webhook.secret, `webhook-secret:${deviceId}`),
    oldSecret: oldSecrets.length === 0 ? null : box.seal(oldSecrets.join(" "), `webhook-secret:${deviceId}`),
    updatedAt: now(),
  };
  const keys = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];
  return { sql: UPSERT, args: keys.map((key) => encoded(WRITTEN[key], row[key])) };
}

/** As the column keeps it: a flag as 0 or 1, a list as JSON. */
function encoded(column: SQLiteColumn, value: unknown): Statement["args"][number] {
  return (value === null ? null : column.mapToDriverValue(value)) as Statement["args"][number];
}

const SELECT = `select ${Object.values(COLUMNS)
  .map(({ name }) => name)
  .join(", ")} from webhooks`;
/** Every webhook, for the start. */
export const WEBHOOKS = defineQuery(SELECT, COLUMNS);
/** That of a number. */
export const WEBHOOK = defineQuery(`${SELECT} where device_id = ?`, COLUMNS);

type WebhookRow = typeof WEBHOOKS extends Query<infer Row> ? Row : never;

/** @throws when what is sealed does not open */
export function fromRow(
  { url, headers, secret, oldSecret, ...row }: WebhookRow,
  { box }: Pick<Store, "box">,
): Webhook {
  const { deviceId } = row;
  const openSecret = (sealed: Buffer): string =>
    box.open(sealed, `webhook-secret:${deviceId}`).toString("utf8");
  return {
    ...row,
    url: openOnceClear(box, url, urlContext(deviceId)),
    headers: box.openJson(headers, `webhook-headers:${deviceId}`),
    secret: openSecret(secret),
    oldSecrets: oldSecret === null ? [] : openSecret(oldSecret).split(" "),
  };
}
